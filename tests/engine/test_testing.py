"""The helpers for authors of rules fail when they should."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from unpend.testing import Expectation, check_docstring, check_fixture, check_fixtures, expectations

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n    - {name: a, image: a:TAG}\n"
PAGE = """Loose images.

## What it checks

x

## Why it matters

x

## Example

```yaml
EXAMPLE```

## Instead

```yaml
INSTEAD```

## Options

None.

## References

x
"""


def _rule(bench: Any, example: str, instead: str) -> Any:
    page = PAGE.replace("EXAMPLE", POD.replace("TAG", example)).replace("INSTEAD", POD.replace("TAG", instead))
    return bench.rule("loose-image", bench.each_image, doc=page, options=bench.images.options)


def test_a_true_page(bench: Any) -> None:
    rule = _rule(bench, "latest", "1")
    check_docstring(rule, bench.registry(rule))


@pytest.mark.parametrize(
    ("example", "instead", "message"),
    [("1", "1", "under Example is not reported"), ("latest", "latest", "under Instead is reported")],
)
def test_an_untrue_page(bench: Any, example: str, instead: str, message: str) -> None:
    rule = _rule(bench, example, instead)
    with pytest.raises(AssertionError, match=message):
        check_docstring(rule, bench.registry(rule))


def test_expectations() -> None:
    text = "a: 1  # expect: one\n# expect-next: two 3, three\n# more words\n\nb: 2\n"
    assert expectations(text) == [Expectation(1, "one"), Expectation(5, "two", 3), Expectation(5, "three")]
    with pytest.raises(AssertionError, match="without a next line"):
        expectations("a: 1\n# expect-next: one\n")
    with pytest.raises(AssertionError, match="cannot read"):
        expectations("a: 1  # expect: One Two\n")


@pytest.mark.parametrize(
    ("name", "comment", "tag", "fails"),
    [
        ("bad.yaml", "  # expect: loose-image", "latest", None),
        ("bad.yaml", "  # expect: loose-image 23", "latest", "expected but not found"),
        ("bad.yaml", "  # expect: loose-image 24", "latest", None),
        ("bad.yaml", "  # expect: loose-image", "1", "expected but not found: line 6 loose-image"),
        ("bad.yaml", "", "latest", "a bad fixture has"),
        ("good.yaml", "", "1", None),
        ("good.yaml", "", "latest", "found but not expected: line 6 column 24 loose-image"),
        ("good.yaml", "  # expect: loose-image", "latest", "only fixtures called bad"),
        ("unknown-tag.yaml", "", "1", None),
    ],
)
def test_fixtures(bench: Any, tmp_path: Path, name: str, comment: str, tag: str, fails: str | None) -> None:
    path = tmp_path / name
    path.write_text(POD.replace("TAG", tag).rstrip() + comment + "\n", encoding="utf-8")
    registry = bench.registry(bench.images)
    if fails is None:
        check_fixture(path, "loose-image", registry)
    else:
        with pytest.raises(AssertionError, match=fails):
            check_fixture(path, "loose-image", registry)


def test_a_fixture_may_bring_a_config(bench: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(POD.replace("TAG}", "dev} # expect: loose-image"), encoding="utf-8")
    (tmp_path / "good.yaml").write_text(POD.replace("TAG", "latest"), encoding="utf-8")
    (tmp_path / ".unpend.yaml").write_text("rules: {loose-image: {tag: ':dev'}}\n", encoding="utf-8")
    check_fixtures(tmp_path, "loose-image", bench.registry(bench.images))
