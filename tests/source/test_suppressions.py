from __future__ import annotations

import pytest

from unpend.source.document import Suppression
from unpend.source.reading import read_text
from unpend.source.suppressions import parse


def found(text: str) -> list[tuple[tuple[str, ...], int, int]]:
    reading = read_text(text, "s.yaml")
    assert reading.troubles == ()
    return [(s.rules, s.first_line, s.last_line) for d in reading.documents for s in d.suppressions]


def problems(text: str) -> list[str]:
    return [trouble.message for trouble in read_text(text, "s.yaml").troubles]


def test_on_a_line_it_covers_the_line() -> None:
    assert found("a: 1\nb:\n  c: 2  # unpend: ignore[x-y] -- why\n  d: 3\n") == [(("x-y",), 2, 2)]
    assert found("a:  # unpend: ignore[x]\n  b: 1\n") == [(("x",), 0, 0)]
    assert found("a: |  # unpend: ignore[x]\n  b\n") == [(("x",), 0, 0)]


def test_on_its_own_it_covers_the_block_that_follows() -> None:
    text = "a: 1\n# unpend: ignore[x, topic/*]\n# and a remark\n\nb:\n  c:\n  - d\n\ne: 1\n"
    assert found(text) == [(("x", "topic/*"), 4, 6)]
    assert found("a:\n  # unpend: ignore[x]\n  b:\n    c: 1\n  d: 2\n") == [(("x",), 2, 3)]
    assert found("a:\n# unpend: ignore[x]\n- b: 1\n  c: 2\n- d\n") == [(("x",), 2, 3)]
    assert found("a:\n- - x\n  # unpend: ignore[x]\n  - y\n- z\n") == [(("x",), 3, 3)]
    assert found("a: [\n  # unpend: ignore[x]\n  b, c]\n") == [(("x",), 2, 2)]
    assert found("a: 1\n# unpend: ignore[x]\nb: |\n  t\n\n  u\n\nc: 1\n") == [(("x",), 2, 5)]


def test_above_the_first_key_it_covers_the_document() -> None:
    text = "z: 1\n---\n# unpend: ignore[x]\n# Source: a/templates/b.yaml\na: 1\nb:\n  c: 2\n---\nd: 1\n"
    assert found(text) == [(("x",), 4, 6)]


def test_several_stack_up() -> None:
    text = "a: 1\n# unpend: ignore[x]\n# unpend: ignore[y]\nb: 1 # unpend: ignore[z]\n"
    assert found(text) == [(("x",), 2 + 1, 3), (("y",), 3, 3), (("z",), 3, 3)]


def test_text_of_scalars_is_no_comment() -> None:
    text = "a: |\n  # unpend: ignore[x]\n  b # unpend: ignore[\nc: ' # unpend: ignore[x] '\nd: \"\n  # unpend: no\"\n"
    assert found(text) == []
    assert found("a: b#unpend: ignore[x]\n".replace(": ignore", ":ignore")) == []


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# unpend: ignore[a]", (("a",), None, "")),
        ("#unpend:ignore[a , b/c,topic/*]--why not", (("a", "b/c", "topic/*"), None, "why not")),
        ("# unpend: ignore[a, until=2027-01-31] -- moves", (("a",), "2027-01-31", "moves")),
        ("# unpend: ignore[a] until=2027-01-31 -- a -- b", (("a",), "2027-01-31", "a -- b")),
        ("# unpend: ignore[a] until=2027-01-31", (("a",), "2027-01-31", "")),
    ],
)
def test_forms(comment: str, expected: tuple[tuple[str, ...], str | None, str]) -> None:
    assert parse(comment) == expected
    (document,) = read_text(f"a: 1 {comment}\n", "s").documents
    (suppression,) = document.suppressions
    assert isinstance(suppression, Suppression)
    assert (suppression.rules, suppression.until, suppression.reason) == expected
    assert suppression.span == ((0, 5), (0, 5 + len(comment)))


@pytest.mark.parametrize(
    ("comment", "said"),
    [
        ("# unpend: ignore", "form is not the expected"),
        ("# unpend: ignore[", "form is not the expected"),
        ("# unpend: ignore[a] because", "form is not the expected"),
        ("# unpend: disable[a]", "form is not the expected"),
        ("# unpend: ignore[]", "name of a rule is missing"),
        ("# unpend: ignore[a,]", "name of a rule is missing"),
        ("# unpend: ignore[a b]", "`a b` is no name of a rule"),
        ("# unpend: ignore[*]", "`*` is no name of a rule"),
        ("# unpend: ignore[until=2027-01-31]", "names no rule"),
        ("# unpend: ignore[a, until=2027-02-30]", "is no date"),
        ("# unpend: ignore[a] until=tomorrow", "is no date"),
    ],
)
def test_malformed(comment: str, said: str) -> None:
    reading = read_text(f"a: 1\nb: 2 {comment}\n", "s.yaml")
    (trouble,) = reading.troubles
    assert said in trouble.message
    assert "ignore[rule-name, topic/*] -- reason" in trouble.message
    assert (trouble.kind, trouble.severity, trouble.document) == ("suppression", "warning", 0)
    assert trouble.span == ((1, 5), (1, 5 + len(comment)))
    assert reading.documents[0].suppressions == ()


def test_nothing_follows() -> None:
    assert "nothing follows" in problems("a: 1\n# unpend: ignore[x]\n---\nb: 1\n")[0]
    assert "nothing follows" in problems("# unpend: ignore[x]\n---\nb: 1\n")[0]
