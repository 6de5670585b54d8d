"""Bytes to text, and text to documents: cut where kubectl cuts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from unpend.source.place import Origin

_SEPARATOR = "\n---"
_SOURCE_MARK = "# Source:"
_SOURCE = re.compile(r"#[ \t]*Source:[ \t]*(\S.*?)[ \t]*\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Piece(NamedTuple):
    """The text between two separator lines; `first_line` is its first line in the source, zero-based.

    `comment` is what stands behind `---` on the separator line above; `misplaced` is set where that is no comment.
    """

    text: str
    first_line: int
    comment: str = ""
    misplaced: str = ""


class Undecodable(ValueError):  # noqa: N818 - says what the text is
    """Bytes that are no UTF-8 as a whole (UTF-16); the text says what they look like."""


def decode(raw: bytes) -> str:
    """UTF-8 to text. Bytes that are not UTF-8 become lone surrogates, so that one bad document does not lose the rest.

    Raises Undecodable for UTF-16 and UTF-32 with a byte order mark.
    """
    if raw[:2] in _WIDE_MARKS or raw[:4] == b"\x00\x00\xfe\xff":
        raise Undecodable("this is UTF-16 or UTF-32 text; Kubernetes reads UTF-8 only")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogateescape")


def first_surrogate(text: str) -> int | None:
    """Where a character stands that no UTF-8 text has, None when there is none."""
    found = None if text.isascii() else _SURROGATE.search(text)
    return None if found is None else found.start()


def normalise(text: str) -> str:
    """Without byte order mark, and with line feeds for CRLF; lone carriage returns are still there."""
    if text[:1] == "\ufeff":
        text = text[1:]
    return text.replace("\r\n", "\n") if "\r" in text else text


def looks_like_json(text: str) -> bool:
    """Whether the first character of a stream says JSON (a flow mapping in YAML begins so too)."""
    return text.startswith("{") or (text[:1].isspace() and text.lstrip(" \t\r\n").startswith("{"))


def split(text: str, first_line: int = 0) -> Iterator[Piece]:
    """The documents of a normalised text, empty ones too: a line that begins with `---` ends the one before it.

    The cut knows no quoting, as in kubectl.
    """
    begin, line, comment, misplaced = 0, first_line, "", ""
    at = 0 if text.startswith("---") else text.find(_SEPARATOR) + 1
    if not at and not text.startswith("---"):
        at = -1
    while at >= 0:
        if at > begin or comment or misplaced:
            piece = _piece(text[begin:at], line, comment, misplaced)
            yield piece
            line += piece.text.count("\n")
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        behind = text[at + 3 : stop].strip()
        comment, misplaced = (behind, "") if behind[:1] in ("", "#") else ("", behind)
        line += 1
        begin = stop + 1
        at = begin if text.startswith("---", begin) else text.find(_SEPARATOR, begin) + 1 or -1
    yield _piece(text[begin:], line, comment, misplaced)


def _piece(text: str, line: int, comment: str, misplaced: str) -> Piece:
    if text[:1] == "\ufeff":
        text = text[1:]
    if "\r" in text:
        text = text.replace("\r", "\n")
    if text and text[-1] != "\n":
        text += "\n"
    return Piece(text, line, comment, misplaced)


def origin_of(piece: Piece) -> Origin | None:
    """The template that Helm names above a document: the last `# Source:` comment before the first key."""
    named = _SOURCE.search(piece.comment) if _SOURCE_MARK in piece.comment else None
    if _SOURCE_MARK in piece.text:
        for line in piece.text.splitlines():
            stripped = line.strip()
            if stripped and stripped[0] != "#":
                break
            named = _SOURCE.match(stripped) or named
    return None if named is None else Origin(named.group(1))
