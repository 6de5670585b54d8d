"""A document as a table: one row for every node. It needs about a hundred bytes a node, composed nodes a thousand."""

from __future__ import annotations

from array import array
from typing import NamedTuple

from unpend.source.document import Style

SCALAR, MAPPING, SEQUENCE, ALIAS = range(4)


class Table(NamedTuple):
    """Rows in document order: a row's children follow it directly, `after[row]` is the first row behind its subtree.

    `start` and `end` are code points in the text, `end` behind the last character of the value. `plain` says whether
    a scalar is subject to the plain-scalar rules; `note` holds what few rows have: a written tag.
    """

    text: str
    kind: bytearray
    style: bytearray
    plain: bytearray
    start: array[int]
    end: array[int]
    after: array[int]
    values: list[str]
    tags: dict[int, str]
    targets: dict[int, int]
    rest: int | None

    def children(self, row: int) -> list[int]:
        """The direct children of a mapping (key, value, key, value …) or sequence."""
        found = []
        child, stop = row + 1, self.after[row]
        while child < stop:
            found.append(child)
            child = self.after[child]
        return found

    def follow(self, row: int) -> int:
        """The row that an alias stands for; any other row itself."""
        return self.targets.get(row, row)


STYLES: tuple[Style, ...] = ("plain", "single", "double", "literal", "folded", "block", "flow", "alias")
PLAIN, SINGLE, DOUBLE, LITERAL, FOLDED, BLOCK, FLOW, ALIASED = range(8)


class Rows:
    """A table in the making: rows are added in document order, collections opened and closed."""

    __slots__ = ("after", "end", "kind", "opened", "plain", "start", "style", "tags", "targets", "text", "values")

    def __init__(self, text: str) -> None:
        self.text = text
        self.kind = bytearray()
        self.style = bytearray()
        self.plain = bytearray()
        self.start = array("I")
        self.end = array("I")
        self.after = array("I")
        self.values: list[str] = []
        self.tags: dict[int, str] = {}
        self.targets: dict[int, int] = {}
        self.opened: list[int] = []

    def add(self, kind: int, style: int, start: int, end: int, value: str = "") -> int:
        """One more row; returns its number."""
        row = len(self.values)
        self.kind.append(kind)
        self.style.append(style)
        self.plain.append(0)
        self.start.append(start)
        self.end.append(end)
        self.after.append(row + 1)
        self.values.append(value)
        return row

    def open(self, kind: int, style: int, start: int, end: int) -> int:
        """One more row whose children follow, until `close`."""
        row = self.add(kind, style, start, end)
        self.opened.append(row)
        return row

    def close(self, end: int) -> int:
        """No more children for the collection opened last; returns its row."""
        row = self.opened.pop()
        self.after[row] = len(self.values)
        self.end[row] = max(end, self.start[row])
        return row

    def table(self, rest: int | None) -> Table:
        """The finished table."""
        return Table(
            self.text, self.kind, self.style, self.plain, self.start, self.end, self.after, self.values, self.tags,
            self.targets, rest,
        )  # fmt: skip


def quoted_ranges(table: Table) -> list[tuple[int, int]]:
    """Where text is the content of quoted and block scalars, without the headers of the latter."""
    found = []
    for row, style in enumerate(table.style):
        if SINGLE <= style <= FOLDED:
            start, end = table.start[row], table.end[row]
            if style >= LITERAL:
                header = table.text.find("\n", start)
                start = end if header < 0 else min(header, end)
            found.append((start, end))
    return found
