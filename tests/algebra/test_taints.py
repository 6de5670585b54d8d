from __future__ import annotations

from itertools import product
from typing import NamedTuple

import pytest

from unpend.algebra.taints import tolerates, untolerated


class Taint(NamedTuple):
    key: str
    value: str
    effect: str


class Toleration(NamedTuple):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


def taint(text: str) -> Taint:
    pair, _, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    return Taint(key, value, effect)


@pytest.mark.parametrize(
    ("text", "toleration", "expected"),
    [
        ("a=b:NoSchedule", Toleration("a", "", "b"), True),
        ("a=b:NoSchedule", Toleration("a", "Equal", "b", "NoSchedule"), True),
        ("a=b:NoSchedule", Toleration("a", "Exists", "", "NoExecute"), False),
        ("a:NoSchedule", Toleration("a"), True),
        ("a:NoSchedule", Toleration("a", "Equal", "true"), False),
        ("a=true:NoSchedule", Toleration("a"), False),
        ("a=B:NoSchedule", Toleration("a", "", "b"), False),
        ("A=b:NoSchedule", Toleration("a", "", "b"), False),
        ("a=b:NoSchedule", Toleration("", "Exists"), True),
        ("a=b:NoSchedule", Toleration("", "Exists", "", "NoExecute"), False),
        ("a=b:NoSchedule", Toleration("a", "Exists", "ignored"), True),
        ("a=b:NoSchedule", Toleration("", "Equal", "b"), True),
        ("a=b:NoSchedule", Toleration("a", "In", "b"), False),
        ("cost=5:NoSchedule", Toleration("cost", "Lt", "10"), False),
    ],
)
def test_a_toleration_covers_a_taint(text: str, toleration: Toleration, expected: bool) -> None:
    """`P-403` to `P-408`, and what was observed of values and keys that the API refuses."""
    assert tolerates(toleration, taint(text)) is expected


@pytest.mark.parametrize(
    ("value", "operator", "limit", "expected"),
    [
        ("5", "Lt", "10", True),
        ("5", "Gt", "10", False),
        ("10", "Lt", "10", False),
        ("-3", "Lt", "0", True),
        ("05", "Lt", "10", False),
        ("+5", "Lt", "10", False),
        ("5", "Lt", "010", False),
        ("", "Lt", "10", False),
        ("5", "Lt", "", False),
        (str(2**63), "Gt", "1", False),
        (str(2**63 - 1), "Gt", "1", True),
    ],
)
def test_comparison_needs_its_gate_and_plain_integers(value: str, operator: str, limit: str, expected: bool) -> None:
    """`P-405`."""
    toleration = Toleration("cost", operator, limit)
    node_taint = Taint("cost", value, "NoSchedule")
    assert tolerates(toleration, node_taint, comparison=True) is expected
    assert not tolerates(toleration, node_taint)


def test_every_filtering_taint_needs_a_toleration() -> None:
    taints = [taint("a=1:NoSchedule"), taint("b=1:PreferNoSchedule"), taint("a=1:NoExecute")]
    assert untolerated([Toleration("a", "", "1", "NoSchedule")], taints) == (taints[2],)
    assert untolerated([], taints) == (taints[0], taints[2])
    assert untolerated([Toleration("a", "", "1")], taints) == ()
    everything = ("NoSchedule", "PreferNoSchedule", "NoExecute")
    assert untolerated([Toleration("a", "", "1")], taints, everything) == (taints[1],)
    assert untolerated([Toleration("", "Exists")], taints, everything) == ()


def test_more_tolerations_never_leave_more_taints() -> None:
    some = [Toleration(k, o, x, e) for k, o, x, e in product(["", "a"], ["", "Exists"], ["", "1"], ["", "NoExecute"])]
    taints = [Taint(k, x, e) for k, x, e in product(["a", "b"], ["", "1"], ["NoSchedule", "NoExecute"])]
    for one, two in product(some, repeat=2):
        assert set(untolerated([one, two], taints)) == set(untolerated([one], taints)) & set(untolerated([two], taints))
