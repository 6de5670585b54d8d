"""Code points to lines and columns."""

from __future__ import annotations

from bisect import bisect_right

from unpend.source.place import Position, Span


class Lines:
    """Code points of one text to lines and columns. Only a line feed ends a line."""

    __slots__ = ("_first", "_starts")

    def __init__(self, text: str, first_line: int = 0) -> None:
        starts = [0]
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._starts = starts
        self._first = first_line

    def position(self, index: int) -> Position:
        """The position of a code point; the first line of the text is the line that was given."""
        line = bisect_right(self._starts, index) - 1
        return Position(self._first + line, index - self._starts[line])

    def span(self, start: int, end: int) -> Span:
        """The span of a range of code points."""
        return Span(self.position(start), self.position(max(start, end)))
