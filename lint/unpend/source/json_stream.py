"""JSON as kubectl reads it: a stream that begins with `{` is decoded value by value."""

from __future__ import annotations

import re
from json import JSONDecoder, loads
from typing import Any, NamedTuple

from unpend.source.scalars import ScalarError, in_json
from unpend.source.syntax import MAX_DEPTH
from unpend.source.table import DOUBLE, FLOW, MAPPING, PLAIN, SCALAR, SEQUENCE, Rows, Table

_BLANK = re.compile(r"[ \t\r\n]*")
_LOW = r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HIGH = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
_ESCAPES = re.compile(rf"{_HIGH}{_LOW}|{_HIGH}|{_LOW}|\\(?s:.)")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]|[^ \t\n\r,:\[\]{}"]+')
_SINGLE = len("\\ud800")


class JsonValue(NamedTuple):
    """One value: where it stands, its data, and whether some object in it names a key twice."""

    start: int
    end: int
    data: Any
    has_duplicates: bool


def read_values(text: str) -> tuple[list[JsonValue], int]:
    """The JSON values at the front of a text, and where they end: at the end of the text when all of it is JSON."""
    repeated: list[bool] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        data = dict(items)
        if len(data) != len(items):
            repeated.append(True)
        return data

    decoder = JSONDecoder(object_pairs_hook=pairs, parse_float=_number, parse_constant=_refuse)
    found: list[JsonValue] = []
    text = without_halves(text)
    at = _skip(text, 0)
    while at < len(text):
        repeated.clear()
        try:
            data, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        if _too_deep(data):
            break
        found.append(JsonValue(at, end, data, bool(repeated)))
        at = _skip(text, end)
    return found, at


def _skip(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return at if blank is None else blank.end()


def _number(text: str) -> Any:
    return in_json(float(text))


def _refuse(text: str) -> Any:
    raise ScalarError(f"{text} is not JSON")


def _too_deep(data: Any) -> bool:
    level: list[Any] = [[data]]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if outer.__class__ is dict else outer)
            if inner.__class__ is dict or inner.__class__ is list
        ]
        if not level:
            return False
    return True


def without_halves(text: str) -> str:
    """The text with U+FFFD for every escaped half of a surrogate pair that stands alone, as Go decodes it."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPES.sub(lambda match: "\\ufffd" if len(match.group()) == _SINGLE else match.group(), text)


def json_table(text: str) -> Table | None:
    """The table of the first JSON value in a text; None where there is none. The text must be valid JSON."""
    rows = Rows(text)
    for token in _TOKEN.finditer(text):
        found, start, end = token.group(), token.start(), token.end()
        first = found[0]
        if first in "[{":
            rows.open(MAPPING if first == "{" else SEQUENCE, FLOW, start, end)
        elif first in "]}":
            rows.close(end)
        elif first == '"':
            rows.add(SCALAR, DOUBLE, start, end, _string(found))
        else:
            rows.plain[rows.add(SCALAR, PLAIN, start, end, found)] = 1
        if not rows.opened:
            return rows.table(None)
    return None


def _string(quoted: str) -> str:
    return str(loads(without_halves(quoted))) if "\\" in quoted else quoted[1:-1]
