"""JSON as kubectl reads it: a stream that begins with `{` is decoded value by value."""

from __future__ import annotations

import re
from json import JSONDecoder
from typing import Any, NamedTuple

from unpend.source.scalars import ScalarError, in_json
from unpend.source.syntax import MAX_DEPTH

_BLANK = re.compile(r"[ \t\r\n]*")
_LOW = r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HIGH = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
_ESCAPES = re.compile(rf"{_HIGH}{_LOW}|{_HIGH}|{_LOW}|\\(?s:.)")
_ONLY_JSON = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SINGLE = len("\\ud800")


class JsonValue(NamedTuple):
    """One value: where it stands, its data, and whether some object in it names a key twice."""

    start: int
    end: int
    data: Any
    has_duplicates: bool


def looks_like_json(text: str) -> bool:
    """Whether the first character of a stream says JSON (a flow mapping in YAML begins so too)."""
    blank = _BLANK.match(text)
    return blank is not None and text.startswith("{", blank.end())


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


def as_yaml(text: str) -> str:
    """The text with what only JSON allows replaced by as many letters: libyaml finds the same positions then."""
    if not text.isprintable():
        text = _ONLY_JSON.sub("x", text)
    if "\\/" not in text and "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPES.sub(_letters, text)


def _letters(match: re.Match[str]) -> str:
    found = match.group()
    return "x" * len(found) if len(found) > len("\\n") or found == "\\/" else found
