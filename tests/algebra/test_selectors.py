from __future__ import annotations

from typing import NamedTuple

import pytest

from unpend.algebra.selectors import matches
from unpend.algebra.syntax import qualified_name_fault


class Expression(NamedTuple):
    key: str
    operator: str
    values: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("expressions", "expected"),
    [
        ([], True),
        ([Expression("app", "In", ("web", "api"))], True),
        ([Expression("app", "In", ("db",))], False),
        ([Expression("tier", "NotIn", ("front",))], True),
        ([Expression("tier", "Exists")], False),
        ([Expression("tier", "DoesNotExist")], True),
        ([Expression("app", "Exists"), Expression("size", "Gt", ("3",))], True),
        ([Expression("size", "Lt", ("4",))], False),
        ([Expression("app", "In", ("web",)), Expression("app", "NotIn", ("web",))], False),
        ([Expression("tier", "NotIn", ())], False),
        ([Expression("app", "Exists", ("web",))], False),
        ([Expression("app", "Equals", ("web",))], False),
    ],
)
def test_a_selector_needs_every_expression(expressions: list[Expression], expected: bool) -> None:
    assert matches(expressions, {"app": "web", "size": "007"}) is expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("app", True),
        ("example.com/app", True),
        ("a.b-c.d/X_y.z", True),
        ("", False),
        ("/app", False),
        ("example.com/", False),
        ("a/b/c", False),
        ("Example.com/app", False),
        ("-app", False),
        ("app-", False),
        ("x" * 63, True),
        ("x" * 64, False),
        ("a" * 254 + "/x", False),
        (".".join(["a" * 50] * 4) + "/x", True),
        ("app\n", False),
    ],
)
def test_label_keys(key: str, expected: bool) -> None:
    """`A-1502`."""
    assert (qualified_name_fault(key) is None) is expected
