"""Streams: cutting, numbering, line endings, origins, JSON, lists."""

from __future__ import annotations

import pytest

from unpend.source.document import Reading
from unpend.source.place import Origin, Position, Span
from unpend.source.reading import read_text

POD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {}\n"


def names(reading: Reading) -> list[str]:
    return [item.data["metadata"]["name"] for item in reading.objects]


def test_documents_are_numbered_and_know_their_lines() -> None:
    reading = read_text(
        "# head\n---\n" + POD.format("a") + "---\n\n--- # c\n" + POD.format("b"), "s.yaml", index_from=3
    )
    assert names(reading) == ["a", "b"]
    assert [(d.index, d.first_line) for d in reading.documents] == [(3, 2), (4, 9)]
    location = reading.objects[1].root.at("metadata", "name").location()
    assert location is not None
    assert (location.uri, location.document) == ("s.yaml", 4)
    assert location.span == Span(Position(12, 8), Position(12, 9))


def test_a_bad_document_loses_nothing_else() -> None:
    reading = read_text(
        "---\n".join([POD.format("a"), "a: b: c\n", POD.format("b"), "x: [\n", POD.format("c")]), "s.yaml"
    )
    assert names(reading) == ["a", "b", "c"]
    assert [d.index for d in reading.documents] == [0, 2, 4]
    assert [(t.document, t.span and t.span.start) for t in reading.troubles] == [
        (1, Position(5, 4)),
        (3, Position(12, 3)),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_endings(end: str) -> None:
    text = (POD.format("a") + "x: é\U0001f600 # c\nb: |\n  one\n  two\n").replace("\n", end)
    (document,) = read_text(text.encode(), "s.yaml").documents
    assert document.data["b"] == "one\ntwo\n"
    assert document.data["x"] == "é\U0001f600"
    found = document.locate(("b",))
    assert found is not None
    assert found.span == Span(Position(5, 3), Position(7, 5))


def test_byte_order_marks() -> None:
    reading = read_text(
        b"\xef\xbb\xbf" + POD.format("a").encode() + b"---\n\xef\xbb\xbf" + POD.format("b").encode(), "s"
    )
    assert names(reading) == ["a", "b"]
    assert read_text("\ufeff---\n" + POD.format("a"), "s").documents[0].first_line == 1


def test_text_and_bytes_are_the_same() -> None:
    text = POD.format("ü") + "---\n- 1\n"
    one, two = read_text(text, "s"), read_text(text.encode(), "s")
    assert [d.data for d in one.documents] == [d.data for d in two.documents]


def test_lists_become_objects_with_their_own_paths() -> None:
    text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n- 5\n"
    text += "- apiVersion: v1\n  kind: PodList\n  items:\n  - {apiVersion: v1, kind: Pod, metadata: {name: b}}\n"
    reading = read_text(text, "s.yaml")
    assert names(reading) == ["a", "b"]
    assert [item.prefix for item in reading.objects] == [("items", 0), ("items", 2, "items", 0)]
    location = reading.objects[1].locate(("metadata", "name"))
    assert location is not None
    assert location.span == Span(Position(10, 49), Position(10, 50))


def test_documents_that_are_no_objects() -> None:
    reading = read_text("- a\n---\njust text\n---\n5\n---\nkind: Pod\n---\nnull\n", "s.yaml")
    assert [d.data for d in reading.documents] == [["a"], "just text", 5, {"kind": "Pod"}]
    assert reading.objects == ()
    assert reading.troubles == ()


@pytest.mark.parametrize(
    "head",
    [
        "---\n# Source: web/templates/d.yaml\n",
        "---\n# Licence\n\n# Source: other.yaml\n# Source: web/templates/d.yaml\n# more\n",
        "# Source: web/templates/d.yaml\n",
        "--- # Source: web/templates/d.yaml\n",
        "---\n#Source: nothing\n  # Source:   web/templates/d.yaml  \r\n",
    ],
)
def test_helm_origin(head: str) -> None:
    (document,) = read_text(head + POD.format("a"), "-").documents
    assert document.origin == Origin("web/templates/d.yaml")
    location = document.locate(("kind",))
    assert location is not None
    assert location.origin == Origin("web/templates/d.yaml")


def test_no_helm_origin() -> None:
    text = POD.format("a") + "# Source: late.yaml\ndata: |\n  # Source: no.yaml\n---\n" + POD.format("b")
    assert [d.origin for d in read_text(text, "-").documents] == [None, None]


def test_duplicate_keys_are_recorded_and_the_last_one_counts() -> None:
    text = "x: 1\n---\na:\n  b: 1\n  c: {d: 1, d: 2}\n  'b': 2\nl:\n- {k: 1}\n- k: 1\n  k: 3\n"
    document = read_text(text, "s").documents[1]
    assert document.data == {"a": {"b": 2, "c": {"d": 2}}, "l": [{"k": 1}, {"k": 3}]}
    assert document.duplicate_keys == (
        (("a", "c", "d"), Span(Position(4, 12), Position(4, 13))),
        (("a", "b"), Span(Position(5, 2), Position(5, 5))),
        (("l", 1, "k"), Span(Position(9, 2), Position(9, 3))),
    )


def test_merges_are_no_duplicates() -> None:
    text = "base: &b {x: 1, z: 2}\nm:\n  <<: *b\n  x: 3\n  o: 1\ni: {x: 9, <<: [{x: 4}, *b]}\n"
    (document,) = read_text(text, "s").documents
    assert document.data["m"] == {"x": 3, "z": 2, "o": 1}
    assert document.data["i"] == {"x": 4, "z": 2}
    assert document.duplicate_keys == ()


def test_text_behind_the_end_of_a_document() -> None:
    for text, place in (("a: 1\n...\nb: 2\n", (2, 0)), ("{a: 1}\n{b: 2}\n", (1, 0))):
        reading = read_text(text, "s.yaml")
        assert [d.data for d in reading.documents] == [{"a": 1}]
        (trouble,) = reading.troubles
        assert (trouble.kind, trouble.severity) == ("notice", "warning")
        assert trouble.span is not None
        assert trouble.span.start == place
    assert read_text("a: 1\n...\n# end\n", "s.yaml").troubles == ()


def test_json() -> None:
    text = '{\n "apiVersion": "v1", "kind": "Pod",\n'
    text += ' "metadata": {"name": "a\\/b", "name": "\\ud83d\\ude00\\/"},\n "n": [1.0, 1e2, 2.5]}\n'
    (document,) = read_text(text, "a.json").documents
    assert document.data["metadata"] == {"name": "\U0001f600/"}
    assert document.data["n"] == [1, 100, 2.5]
    assert [type(value) for value in document.data["n"]] == [int, int, float]
    assert document.duplicate_keys == ((("metadata", "name"), Span(Position(2, 30), Position(2, 36))),)
    location = document.locate(("n", 2))
    assert location is not None
    assert location.span == Span(Position(3, 17), Position(3, 20))


def test_a_stream_of_json_values() -> None:
    reading = read_text('{"a": 1} {"b": {"c": 2}}\n\n{"d": 3}', "a.json")
    assert [d.data for d in reading.documents] == [{"a": 1}, {"b": {"c": 2}}, {"d": 3}]
    spans = [d.locate((key,)) for d, key in zip(reading.documents, ("a", "b", "d"), strict=True)]
    assert [found.span.start for found in spans if found] == [(0, 6), (0, 15), (2, 6)]


def test_json_then_yaml() -> None:
    reading = read_text('{"a": 1}\n---\nb: [\n---\nc: 2\n', "s")
    assert [d.data for d in reading.documents] == [{"a": 1}, {"c": 2}]
    assert [t.span and t.span.start for t in reading.troubles] == [(2, 3)]
    reading = read_text('{"a": 1}{"b": 2} c', "s")
    assert len(reading.documents) == 2
    (trouble,) = reading.troubles
    assert trouble.span == ((0, 17), (0, 18))


def test_yaml_that_looks_like_json() -> None:
    reading = read_text("{a: 1, b: [x, 'y'], # c\n c: yes}\n---\n{d: 1}\n", "s")
    assert [d.data for d in reading.documents] == [{"a": 1, "b": ["x", "y"], "c": True}, {"d": 1}]


def test_json_that_yaml_cannot_read() -> None:
    reading = read_text('{"' + "k" * 2_000 + '": 1, "a": "\x7f", "b": NaN}', "a.json")
    assert [t.kind for t in reading.troubles] == ["yaml-syntax"]
    (document,) = read_text('{"' + "k" * 2_000 + '": 1, "a": "\x7f\u2028"}', "a.json").documents
    assert document.data["a"] == "\x7f\u2028"
    assert document.locate(("a",)) is not None


def test_a_tab_that_indents_is_named() -> None:
    (trouble,) = read_text("a:\n\tb: 1\n", "s").troubles
    assert trouble.message == "not valid YAML: a tab cannot indent, use spaces"
    assert trouble.span == ((1, 0), (1, 1))


def test_lines_count_line_feeds_only() -> None:
    text = 'a: "x\u2028y"\nb: "p\x85q"\nc: 1\n'
    (document,) = read_text(text, "s").documents
    location = document.locate(("c",), "key")
    assert location is not None
    assert location.span == ((2, 0), (2, 1))


def test_items_of_a_typed_list_need_no_kind() -> None:
    text = """apiVersion: v1
kind: NodeList
items:
- metadata: {name: a}
- {kind: 5, metadata: {name: b}}
- 7
- {apiVersion: v1, kind: Pod, metadata: {name: c}}
"""
    reading = read_text(text, "nodes.yaml")
    assert [(o.api_version, o.kind, o.data["metadata"]["name"]) for o in reading.objects] == [
        ("v1", "Node", "a"),
        ("v1", "Pod", "c"),
    ]
    assert read_text("apiVersion: v1\nkind: List\nitems: [{metadata: {name: a}}]\n", "x.yaml").objects == ()
