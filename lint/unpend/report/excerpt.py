"""Excerpts: one line of a source with the offending place underlined."""

from __future__ import annotations

from unpend.report.positions import Lines
from unpend.report.terminal import Paint, expand_tabs, printable, width
from unpend.source.place import Span

_CUT = "…"
_WINDOW = 500


def excerpt(lines: Lines, span: Span, *, gutter: int, columns: int, style: str, paint: Paint) -> list[str]:
    """The line where a span starts, with a number in front, and a line of carets beneath; empty without a text.

    `gutter` is the width of the line numbers, `columns` the width of a whole line. A span over several lines is
    underlined on its first one. Long lines are cut around the place.
    """
    source = lines.line(span.start.line)
    if span.start.column > len(source) or (not source.strip() and span.start == span.end):
        return []
    end = span.end.column if span.end.line == span.start.line else len(source.rstrip())
    before, inside, after = _three_parts(*_window(source, span.start.column, end))
    before, inside, after = _cut(before, inside, after, max(20, columns - gutter - 3))
    number = str(span.start.line + 1).rjust(gutter)
    bar = paint("dim", "|")
    carets = "^" * max(1, width(inside))
    return [
        f"{paint('dim', number)} {bar} {before}{inside}{after}".rstrip(),
        f"{' ' * gutter} {bar} {' ' * width(before)}{paint(style, carets)}",
    ]


def _window(source: str, start: int, end: int) -> tuple[str, int, int]:
    """The part of a very long line around the place, so that a report costs no more than what it shows."""
    if len(source) <= 4 * _WINDOW:
        return source, start, end
    first = max(0, start - _WINDOW)
    return source[first : start + 2 * _WINDOW], start - first, end - first


def _three_parts(source: str, start: int, end: int) -> tuple[str, str, str]:
    """Before, inside and after the place, as shown: tabs expanded as they stand in the whole line."""
    start = min(start, len(source))
    end = max(start, min(end, len(source)))
    if source.isascii() and source.isprintable():
        return source[:start], source[start:end], source[end:]
    shown = [printable(part, keep_tabs=True) for part in (source[:start], source[start:end], source[end:])]
    before = expand_tabs(shown[0])
    upto = expand_tabs(shown[0] + shown[1])
    whole = expand_tabs("".join(shown))
    return before, upto[len(before) :], whole[len(upto) :]


def _cut(before: str, inside: str, after: str, columns: int) -> tuple[str, str, str]:
    if width(before) + width(inside) + width(after) <= columns:
        return before, inside, after
    if width(inside) > columns // 2:
        inside = _head(inside, columns // 2)
        after = ""
    room = columns - width(inside)
    if width(before) > room // 2:
        before = _CUT + _tail(before, room // 2 - 1)
    return before, inside, after if width(after) <= room - width(before) else _head(after, room - width(before))


def _head(text: str, columns: int) -> str:
    kept = ""
    for character in text:
        if width(kept) + width(character) > columns - 1:
            break
        kept += character
    return kept + _CUT


def _tail(text: str, columns: int) -> str:
    kept = ""
    for character in reversed(text):
        if width(kept) + width(character) > columns:
            break
        kept = character + kept
    return kept
