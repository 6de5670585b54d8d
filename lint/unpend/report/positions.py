"""Positions between their owners: code points inside, one-based for people, UTF-16 code units for editors."""

from __future__ import annotations

import re

from unpend.source.place import Position

_BREAK = re.compile(r"\r\n|\r|\n")


class Lines:
    """The lines of a text as editors count them: broken by LF, CRLF or CR and by nothing else."""

    __slots__ = ("_lines",)

    def __init__(self, text: str) -> None:
        self._lines = _BREAK.split(text.removeprefix("\ufeff"))

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> str:
        """The line with that zero-based number, without its break; empty when there is none."""
        return self._lines[number] if 0 <= number < len(self._lines) else ""

    def utf16(self, position: Position) -> dict[str, int]:
        """A position in the shape of the Language Server Protocol: zero-based, `character` in UTF-16 code units.

        A position behind the end of its line is moved to the end; without a text columns are taken as they are.
        """
        if not self._lines or (len(self._lines) == 1 and not self._lines[0]):
            return {"line": position.line, "character": position.column}
        if position.line >= len(self._lines):
            last = len(self._lines) - 1
            return {"line": last, "character": utf16_length(self._lines[last])}
        return {"line": position.line, "character": utf16_length(self.line(position.line)[: position.column])}


def utf16_length(text: str) -> int:
    """How many UTF-16 code units a text takes: two for every character above U+FFFF."""
    return len(text) if text.isascii() else len(text) + sum(1 for c in text if c > "\uffff")
