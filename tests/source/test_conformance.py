"""103 small inputs and what kubectl's own stack makes of them.

The answers are those of apimachinery 0.34 (`YAMLReader`, which cuts a stream into documents) and sigs.k8s.io/yaml 1.6.
`REFUSED` means that the stack gives an error for some document of the stream.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from unpend.source.reading import read_text


class Refused:
    def __repr__(self) -> str:
        return "REFUSED"


REFUSED = Refused()
ACCEPTED = object()


class Case(NamedTuple):
    name: str
    text: str | bytes
    answer: Any
    """A list with the data of every document, REFUSED, or ACCEPTED where the data does not matter."""


def bomb() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9)]
    return "\n".join(lines) + "\n"


def deep_block(depth: int) -> str:
    return "".join(f"{' ' * i}a:\n" for i in range(depth)) + " " * depth + "b\n"


CASES = (
    Case("bool yes/no", "a: yes\nb: no\n", [{"a": True, "b": False}]),
    Case("bool on/off", "a: on\nb: off\n", [{"a": True, "b": False}]),
    Case("bool y/n", "a: y\nb: n\n", [{"a": True, "b": False}]),
    Case(
        "bool Yes/NO/True/FALSE",
        "a: Yes\nb: NO\nc: True\nd: FALSE\n",
        [{"a": True, "b": False, "c": True, "d": False}],
    ),
    Case("bool key on:", "on: 1\n", [{"true": 1}]),
    Case("key y:", "y: 1\n", [{"true": 1}]),
    Case("octal 0777", "a: 0777\n", [{"a": 511}]),
    Case("octal 0o777", "a: 0o777\n", [{"a": 511}]),
    Case("octal-like 0899", "a: 0899\n", [{"a": 899}]),
    Case("defaultMode 0644", "defaultMode: 0644\n", [{"defaultMode": 420}]),
    Case("hex/bin", "a: 0x1F\nb: 0b101\n", [{"a": 31, "b": 5}]),
    Case("sexagesimal 1:30", "a: 1:30\nb: 22:22\n", [{"a": "1:30", "b": "22:22"}]),
    Case("sexagesimal float", "a: 1:30.5\n", [{"a": "1:30.5"}]),
    Case("underscore int", "a: 1_000\nb: 1_0.5\n", [{"a": 1000, "b": 10.5}]),
    Case(
        "exp 1e3 / 1e-3",
        "a: 1e3\nb: 1e-3\nc: 1.2e4\nd: 1E2\n",
        [{"a": 1000, "b": 0.001, "c": 12000, "d": 100}],
    ),
    Case("float .5 5. +1", "a: .5\nb: 5.\nc: +1\nd: -0\n", [{"a": 0.5, "b": 5, "c": 1, "d": 0}]),
    Case("inf/nan", "a: .inf\nb: .nan\n", REFUSED),
    Case("null forms", "a: null\nb: ~\nc:\nd: NULL\n", [{"a": None, "b": None, "c": None, "d": None}]),
    Case(
        "big int",
        "a: 18446744073709551616\nb: 9223372036854775808\n",
        [{"a": 18446744073709552000.0, "b": 9223372036854775808}],
    ),
    Case("version 1.10", "a: 1.10\nb: 1.20.3\n", [{"a": 1.1, "b": "1.20.3"}]),
    Case("git sha 1234e56", "a: 1234e56\nb: 0e15\n", [{"a": 1.234e59, "b": 0}]),
    Case("date", "a: 2020-01-01\nb: 2020-01-01T00:00:00Z\n", [{"a": "2020-01-01", "b": "2020-01-01T00:00:00Z"}]),
    Case("value tag =", "a: =\n", [{"a": "="}]),
    Case(
        "merge key",
        "x: &x {a: 1, b: 2}\nm:\n  <<: *x\n  b: 3\n",
        [{"x": {"a": 1, "b": 2}, "m": {"a": 1, "b": 3}}],
    ),
    Case(
        "merge list",
        "x: &x {a: 1}\nz: &z {a: 2, c: 3}\nm:\n  <<: [*x, *z]\n",
        [{"x": {"a": 1}, "z": {"a": 2, "c": 3}, "m": {"a": 1, "c": 3}}],
    ),
    Case("duplicate keys", "a: 1\na: 2\n", [{"a": 2}]),
    Case("dup keys nested in list", "l:\n- name: y2\n  name: z\n", [{"l": [{"name": "z"}]}]),
    Case("anchor/alias", "a: &x [1, 2]\nb: *x\n", [{"a": [1, 2], "b": [1, 2]}]),
    Case("alias undefined", "a: *nope\n", REFUSED),
    Case("anchor redefined", "a: &x 1\nb: &x 2\nc: *x\n", [{"a": 1, "b": 2, "c": 2}]),
    Case("recursive alias", "a: &x [*x]\n", REFUSED),
    Case("tab indent", "a:\n\tb: 1\n", REFUSED),
    Case("tab after colon", "a:\tb\n", [{"a": "b"}]),
    Case("tab before comment", "a: b\t# c\n", [{"a": "b"}]),
    Case("BOM utf-8", b"\xef\xbb\xbfa: 1\n", [{"a": 1}]),
    Case("BOM mid-stream doc", b"a: 1\n---\n\xef\xbb\xbfb: 2\n", [{"a": 1}, {"b": 2}]),
    Case("CRLF", "a: 1\r\nb:\r\n- x\r\n", [{"a": 1, "b": ["x"]}]),
    Case("CRLF block scalar", "a: |\r\n  x\r\n  y\r\n", [{"a": "x\ny\n"}]),
    Case("CRLF doc sep", "a: 1\r\n---\r\nb: 2\r\n", [{"a": 1}, {"b": 2}]),
    Case("lone CR", "a: 1\rb: 2\r", [{"a": 1, "b": 2}]),
    Case("UTF-16LE BOM", "\ufeffa: 1\n".encode("utf-16-le"), REFUSED),
    Case("latin-1 byte", b"a: caf\xe9\n", REFUSED),
    Case("NUL byte", b"a: b\x00c\n", REFUSED),
    Case("control char", b"a: b\x01c\n", REFUSED),
    Case("DEL/C1", "a: b\x85c\nd\n", REFUSED),
    Case("emoji (astral)", 'a: \U0001f600\nb: "\\U0001F600"\n', [{"a": "\U0001f600", "b": "\U0001f600"}]),
    Case("NEL/LS in plain", "a: b\u2028c\nd: 1\n", REFUSED),
    Case("sep ---\\n", "a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
    Case("sep with comment", "a: 1\n--- # c\nb: 2\n", [{"a": 1}, {"b": 2}]),
    Case("sep with trailing space", "a: 1\n---  \nb: 2\n", [{"a": 1}, {"b": 2}]),
    Case("sep with content --- {b: 2}", "a: 1\n--- {b: 2}\n", REFUSED),
    Case("sep ----", "a: 1\n----\nb: 2\n", REFUSED),
    Case("sep ---foo", "a: 1\n---foo\nb: 2\n", REFUSED),
    Case("sep inside block scalar col0", "a: |\n  x\n---\nb: 2\n", [{"a": "x\n"}, {"b": 2}]),
    Case("sep inside quoted", 'a: "x\n---\ny"\n', REFUSED),
    Case("indented sep in block scalar", "a: |\n  x\n  ---\n  y\n", [{"a": "x\n---\ny\n"}]),
    Case("doc end ...", "a: 1\n...\nb: 2\n", [{"a": 1}]),
    Case("... then ---", "a: 1\n...\n---\nb: 2\n", [{"a": 1}, {"b": 2}]),
    Case("%YAML directive", "%YAML 1.2\n---\na: 1\n", REFUSED),
    Case("%YAML in 2nd doc", "a: 1\n---\n%YAML 1.1\n---\nb: 2\n", REFUSED),
    Case("empty file", "", []),
    Case("only comment", "# c\n", []),
    Case("only ---", "---\n", []),
    Case("empty docs", "---\n---\na: 1\n---\n", [{"a": 1}]),
    Case("leading comment + ---", "# c\n---\na: 1\n", [{"a": 1}]),
    Case("no final newline", "a: |\n  x", [{"a": "x\n"}]),
    Case("scalar document", "hello\n", ["hello"]),
    Case("list document", "- a\n- b\n", [["a", "b"]]),
    Case("null document", "null\n", []),
    Case("json document", '{"a": 1, "b": [true, null]}\n', [{"a": 1, "b": [True, None]}]),
    Case("json with tabs", '{\n\t"a": 1\n}\n', [{"a": 1}]),
    Case("json concatenated", '{"a": 1}\n{"b": 2}\n', [{"a": 1}]),
    Case("complex key", "? [a, b]\n: 1\n", REFUSED),
    Case("int key", "1: a\n~: b\n", REFUSED),
    Case("flow colon key", "{a: 1, b:2, c: 3}\n", [{"a": 1, "b:2": None, "c": 3}]),
    Case("plain multiline", "a: x\n  y\nb: 1\n", [{"a": "x y", "b": 1}]),
    Case("plain with colon-space", "a: b: c\n", REFUSED),
    Case("plain @ / %", "a: @x\n", REFUSED),
    Case("backtick", "a: `x`\n", REFUSED),
    Case("percent value", "a: 1\nb: %x\n", REFUSED),
    Case("quoted escapes", 'a: "\\/"\n', REFUSED),
    Case("bad escape", 'a: "\\q"\n', REFUSED),
    Case("!!str tag", 'a: !!str 123\nb: !!int "5"\n', [{"a": "123", "b": 5}]),
    Case("!!binary", "a: !!binary aGVsbG8=\n", [{"a": "hello"}]),
    Case("custom tag !Ref", "a: !Ref x\n", [{"a": "x"}]),
    Case("!!python tag", "a: !!python/object/apply:os.system [x]\n", [{"a": ["x"]}]),
    Case("indentless seq", "a:\n- x\nb: 1\n", [{"a": ["x"], "b": 1}]),
    Case("seq wrong indent", "a:\n  - x\n - z\n", REFUSED),
    Case("block indent indicator", "a: |2\n    x\n", [{"a": "  x\n"}]),
    Case("folded >-", "a: >-\n  x\n  y\n\n  z\n", [{"a": "x y\nz"}]),
    Case("comment # in value", "a: b#c\nd: e #f\n", [{"a": "b#c", "d": "e"}]),
    Case("helm template braces", "a: {{ .Values.x }}\n", REFUSED),
    Case("helm quoted braces", 'a: "{{ .Values.x }}"\n', [{"a": "{{ .Values.x }}"}]),
    Case("unclosed quote", 'a: "b\nc: d\n', REFUSED),
    Case("trailing spaces", "a: 1   \nb: x  \n", [{"a": 1, "b": "x"}]),
    Case("deep flow 200", "a: " + "[" * 200 + "]" * 200 + "\n", ACCEPTED),
    Case("deep flow 1100", "a: " + "[" * 1100 + "]" * 1100 + "\n", ACCEPTED),
    Case("deep flow 11000", "a: " + "[" * 11000 + "]" * 11000 + "\n", REFUSED),
    Case("deep block 1100", deep_block(1100), ACCEPTED),
    Case("alias bomb 9^9", bomb(), REFUSED),
    Case("100 aliases of small map", "x: &x {a: 1}\nl:\n" + "- *x\n" * 100, ACCEPTED),
    Case("long key 2000", "k" * 2000 + ": 1\n", REFUSED),
    Case("key >1024 quoted", '"' + "k" * 1100 + '": 1\n', REFUSED),
)

DIFFERENCES: dict[str, tuple[Any, str]] = {
    "json concatenated": (
        [{"a": 1}, {"b": 2}],
        "kubectl reads a stream that begins with { by YAMLOrJSONDecoder, which gives both values; the table asked "
        "YAMLReader alone, which loses the second one silently",
    ),
    "deep flow 1100": (REFUSED, "no manifest nests 256 levels deep, and whoever walks the data recursively is safe"),
    "deep block 1100": (REFUSED, "as for flow collections"),
}


def answer_of(text: str | bytes) -> Any:
    reading = read_text(text, "input.yaml")
    if any(trouble.kind == "yaml-syntax" for trouble in reading.troubles):
        return REFUSED
    return [document.data for document in reading.documents]


def test_the_table_is_complete() -> None:
    assert len(CASES) == 103
    assert len({case.name for case in CASES}) == 103
    assert set(DIFFERENCES) <= {case.name for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_with_kubectl(case: Case) -> None:
    expected = DIFFERENCES[case.name][0] if case.name in DIFFERENCES else case.answer
    answer = answer_of(case.text)
    if expected is ACCEPTED:
        assert answer is not REFUSED
    else:
        assert answer == expected
        assert repr(answer) == repr(expected) or isinstance(expected, Refused)


@pytest.mark.parametrize("name", DIFFERENCES)
def test_the_listed_differences_are_differences(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    expected = [] if case.answer is ACCEPTED else case.answer
    assert DIFFERENCES[name][0] != expected
