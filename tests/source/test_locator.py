from __future__ import annotations

import random
from itertools import pairwise

import pytest

from unpend.source import locator as module
from unpend.source.document import Document
from unpend.source.place import Part, Span, Step
from unpend.source.reading import read_text

TEXT = """\
# head
apiVersion: v1   # c
kind: "Pod"
metadata:
  # own line
  labels:
    app: w
    empty:
spec:
  containers:
  - name: a
    args: [x, 'y z',
      w]
    cmd: |  # hey
      line1
      line2

  # between
  -   name: b
      env: {a: 1, b: &q {c: d}}
      alias: *q
  last: plain
    multi
  "quo\\u0074ed key": 1
# tail
"""


@pytest.fixture
def document() -> Document:
    (found,) = read_text("x: 1\n---\n" + TEXT, "s.yaml").documents[1:]
    return found


def shown(document: Document, *path: Step, part: Part = "value") -> str:
    location = document.locate(path, part)
    assert location is not None
    (first, column), (last, end) = location.span
    lines = document.text.split("\n")
    first, last = first - document.first_line, last - document.first_line
    if first == last:
        return lines[first][column:end]
    return "\n".join([lines[first][column:], *lines[first + 1 : last], lines[last][:end]])


def test_scalars(document: Document) -> None:
    assert shown(document, "apiVersion") == "v1"
    assert shown(document, "kind") == '"Pod"'
    assert shown(document, "spec", "containers", 0, "args", 1) == "'y z'"
    assert shown(document, "spec", "last") == "plain\n    multi"
    assert shown(document, "spec", "quoted key", part="key") == '"quo\\u0074ed key"'


def test_blocks_end_with_their_last_value(document: Document) -> None:
    assert shown(document, "metadata") == "labels:\n    app: w\n    empty:"
    assert shown(document, "spec", "containers", 0, "cmd") == "|  # hey\n      line1\n      line2"
    assert shown(document, "spec", "containers", 0).endswith("line2")
    assert shown(document).startswith("apiVersion: v1")
    assert shown(document).endswith('ed key": 1')


def test_flow(document: Document) -> None:
    assert shown(document, "spec", "containers", 0, "args") == "[x, 'y z',\n      w]"
    assert shown(document, "spec", "containers", 1, "env", "b") == "&q {c: d}"


def test_entries(document: Document) -> None:
    assert shown(document, "metadata", "labels", "app", part="entry") == "app: w"
    assert shown(document, "metadata", "labels", "empty", part="entry") == "empty:"
    assert shown(document, "metadata", "labels", part="entry") == "labels:\n    app: w\n    empty:"
    assert shown(document, "spec", "containers", 1, part="entry").startswith("-   name: b\n")
    assert shown(document, "spec", "containers", 1, part="key").startswith("name: b\n")
    assert shown(document, "spec", "containers", 0, "args", 1, part="entry") == "'y z'"
    assert shown(document, part="entry") == shown(document)


def test_keys(document: Document) -> None:
    assert shown(document, "metadata", part="key") == "metadata"
    assert shown(document, "spec", "containers", 1, "env", "b", part="key") == "b"


def test_an_empty_value_stands_behind_its_colon(document: Document) -> None:
    location = document.locate(("metadata", "labels", "empty"))
    assert location is not None
    assert location.span == ((9, 10), (9, 10))


def test_the_key_of_the_nearest_parent_stands_in_for_what_is_missing(document: Document) -> None:
    assert shown(document, "metadata", "labels", "no", "such", 3) == "labels"
    assert shown(document, "spec", "containers", 7, part="key") == "containers"
    assert shown(document, "kind", 0) == "kind"
    assert shown(document, 0) == shown(document)
    assert shown(document, "spec", "containers", -1) == "containers"


def test_aliases_and_merges() -> None:
    text = "a: &x {k: 1, l: [2]}\nb: *x\nc:\n  <<: *x\n  l: 5\nd: {<<: [{k: 7}, *x], m: 1, <<: {m: 2}}\n"
    (document,) = read_text(text, "s").documents
    assert document.data["d"] == {"k": 7, "l": [2], "m": 2}

    def place(*path: Step) -> Span | None:
        location = document.locate(path)
        return location.span if location else None

    assert place("b") == ((1, 3), (1, 5))
    assert place("b", "l", 0) == ((0, 17), (0, 18))
    assert place("c", "k") == ((0, 10), (0, 11))
    assert place("c", "l") == ((4, 5), (4, 6))
    assert place("d", "k") == ((5, 13), (5, 14))
    assert place("d", "m") == ((5, 36), (5, 37))


def test_the_last_of_duplicate_keys_is_found() -> None:
    (document,) = read_text("a: 1\nb: 2\na: 3\n", "s").documents
    assert shown(document, "a") == "3"
    location = document.locate(("a",), "key")
    assert location is not None
    assert location.span.start == (2, 0)


def test_keys_that_are_no_strings() -> None:
    (document,) = read_text("on: a\n1.50: b\n0x10: c\n", "s").documents
    assert document.data == {"true": "a", "1.5": "b", "16": "c"}
    assert [shown(document, key) for key in document.data] == ["a", "b", "c"]
    assert [shown(document, key, part="key") for key in document.data] == ["on", "1.50", "0x10"]


def test_styles() -> None:
    text = "a: yes\nb: 'yes'\nc: \"yes\"\nd: |\n  yes\ne: >\n  yes\nf: [&x y]\ng:\n- x\nh: *x\n"
    (document,) = read_text(text, "s").documents
    styles = {key: document.style((key,)) for key in document.data}
    assert styles == {
        "a": "plain", "b": "single", "c": "double", "d": "literal",
        "e": "folded", "f": "flow", "g": "block", "h": "alias",
    }  # fmt: skip
    assert document.style(()) == "block"
    assert document.style(("no",)) is None
    assert document.style(("f", 0)) == "plain"
    assert Document(uri="", index=0, data={}).style(()) is None


def test_columns_are_code_points() -> None:
    (document,) = read_text('"\U0001f600é": [\U0001f600\U0001f600, x]\n', "s").documents
    location = document.locate(("\U0001f600é", 1))
    assert location is not None
    assert location.span == ((0, 11), (0, 12))


def test_tables_are_dropped_and_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RECENT", module._Recent())
    monkeypatch.setattr(module, "_KEPT_CHARACTERS", 10_000)
    text = "---\n".join(f"name: n{i}\npad: {'x' * 900}\n" for i in range(50))
    documents = read_text(text, "s").documents
    order = list(documents) * 2
    random.Random(1).shuffle(order)
    for document in order:
        assert shown(document, "name") == document.data["name"]
        assert sum(len(text) for _, text in module._RECENT._kept) <= 10_000
    assert [d.locate(()) for d in documents] == [d.locate(()) for d in documents]


def test_a_document_larger_than_the_cache_is_kept_while_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT_CHARACTERS", 10)
    (document,) = read_text("a: " + "x" * 100 + "\n", "s").documents
    assert module.composed(document.text) is module.composed(document.text)


def test_items_stand_one_behind_the_other() -> None:
    (document,) = read_text("l:\n" + "".join(f"- {i}\n" for i in range(2_000)), "s").documents
    found = [document.locate(("l", i)) for i in range(2_000)]
    assert all(one and two and one.span.end <= two.span.start for one, two in pairwise(found))
