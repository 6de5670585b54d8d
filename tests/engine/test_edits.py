"""Edits of texts: what they mean is what was asked for, and nothing else changes."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.engine.edits import apply, changed, get, scalar
from unpend.engine.result import TextEdit
from unpend.source.place import Position, Span
from unpend.source.reading import read_text

TEXT = """\
# top
kind: Pod   # kind
metadata:
  labels: {a: b, "c": 'd'}
  annotations:
    # about x
    x: "1"  # one
    why: two
spec:
  list:
    - name: first  # the first
      value: 1

    # before second
    - name: second
  nodeSelector:
    disk: ssd
  flow: [a, b, c]
"""


def edit(text: str, *changes: tuple[str, tuple[Any, ...], Any]) -> str | None:
    [document] = read_text(text, "").documents
    return changed(document.text, document.data, changes)


def check(changes: tuple[tuple[str, tuple[Any, ...], Any], ...], *lines: tuple[str, str]) -> None:
    """The edited text is the old one with some texts replaced."""
    expected = TEXT
    for old, new in lines:
        assert old in expected
        expected = expected.replace(old, new, 1)
    assert edit(TEXT, *changes) == expected


def test_set_keeps_quotes_and_comments() -> None:
    check((("set", ("metadata", "annotations", "x"), "2"),), ('x: "1"', 'x: "2"'))
    check((("set", ("metadata", "annotations", "why"), "true"),), ("why: two", 'why: "true"'))
    check((("set", ("metadata", "labels", "c"), "e"),), ("'d'", "'e'"))
    check((("set", ("spec", "list", 0, "value"), 2),), ("value: 1", "value: 2"))


def test_remove_takes_the_line_and_what_becomes_empty() -> None:
    check((("remove", ("metadata", "annotations", "why"), None),), ("    why: two\n", ""))
    check((("remove", ("spec", "nodeSelector", "disk"), None),), ("  nodeSelector:\n    disk: ssd\n", ""))
    check((("remove", ("spec", "flow", 1), None),), ("[a, b, c]", "[a, c]"))
    check((("remove", ("spec", "flow", 2), None),), ("[a, b, c]", "[a, b]"))
    check((("remove", ("metadata", "labels", "a"), None),), ("{a: b, ", "{"))
    check((("remove", ("spec", "list", 1), None),), ("    - name: second\n", ""))
    check((("remove", ("spec", "list", 0, "name"), None),), ("- name: first  # the first\n      value", "- value"))


def test_add_goes_behind_what_is_there() -> None:
    check((("add", ("metadata", "annotations", "z"), "3"),), ("    why: two\n", '    why: two\n    z: "3"\n'))
    check((("add", ("metadata", "labels", "e/f"), "g"),), ("'d'}", "'d', e/f: g}"))
    check((("add", ("spec", "new", "deep", "er"), True),), ("c]\n", "c]\n  new:\n    deep:\n      er: true\n"))


def test_rename_keeps_the_place() -> None:
    check((("rename", ("spec", "nodeSelector", "disk"), "example.com/disk"),), ("    disk:", "    example.com/disk:"))


def test_what_has_no_simple_way_goes_through_ruamel() -> None:
    found = edit(TEXT, ("set", ("spec", "flow"), ["x", "y"]))
    assert found is not None
    assert "# before second" in found
    assert read_text(found, "").documents[0].data["spec"]["flow"] == ["x", "y"]


def test_json_stays_json() -> None:
    text = '{"kind": "Pod", "spec": {"a": "b"}}\n'
    assert edit(text, ("add", ("spec", "c"), "d")) == '{"kind": "Pod", "spec": {"a": "b", "c": "d"}}\n'
    assert edit(text, ("set", ("spec", "a"), "c")) == '{"kind": "Pod", "spec": {"a": "c"}}\n'


def test_an_edit_that_would_change_two_places_is_not_made() -> None:
    assert edit("a: &x {b: c}\nd: *x\n", ("set", ("d", "b"), "e")) in (None, "a: {b: c}\nd: {b: e}\n")


@pytest.mark.parametrize("change", [("remove", ("no", "such"), None), ("set", ("kind", "deeper"), 1)])
def test_an_edit_of_nothing_is_not_made(change: Any) -> None:
    assert edit(TEXT, change) is None


def paths(data: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [prefix] if prefix else []
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        found += paths(value, (*prefix, key))
    return found


DATA = read_text(TEXT, "").documents[0].data


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(["set", "add", "remove"]),
    st.sampled_from(paths(DATA)),
    st.sampled_from(["x", "true", "1", "a b", "", "~", 7, False, "é", "a: b", "- c", "#"]),
)
def test_every_edit_means_what_it_says_and_keeps_other_comments(action: str, path: Any, value: Any) -> None:
    found = edit(TEXT, (action, path, value))
    assert found is not None
    after = read_text(found, "").documents[0].data
    if action == "remove":
        assert get(after, path) != get(DATA, path) or isinstance(path[-1], int)
    else:
        assert get(after, path) == value
    assert "# top" in found
    assert deepcopy(DATA) == DATA


@pytest.mark.parametrize("value", ["x", "true", "1", "0x1", "a b", "", "~", "null", "1e3", "on", "é", "a:", "-", "01"])
def test_a_text_stays_a_text(value: str) -> None:
    assert read_text(f"k: {scalar(value)}\n", "").documents[0].data == {"k": value}


def at(line: int, start: int, end: int, text: str) -> TextEdit:
    return TextEdit("a", Span(Position(line, start), Position(line, end)), text)


def test_applying_keeps_every_other_byte() -> None:
    text = "\ufeffa: 1\r\nb: 2 \rc: 3\n"
    assert apply(text, [at(1, 3, 4, "5"), at(0, 3, 4, "x\ny")]) == "\ufeffa: x\r\ny\r\nb: 5 \rc: 3\n"
    assert apply(text, [at(1, 0, 4, "5"), at(1, 3, 4, "6")]) is None
