"""Spans of paths, looked up when somebody asks: a document that has no findings costs no position table."""

from __future__ import annotations

from _thread import allocate_lock
from collections import OrderedDict
from collections.abc import Callable

from unpend.source import table as rows
from unpend.source.compose import build
from unpend.source.data import is_merge, key_of, merged_rows
from unpend.source.document import Style
from unpend.source.lines import Lines
from unpend.source.nodes import item_start, plain_span
from unpend.source.place import Part, Position, Span, Step
from unpend.source.syntax import Problem
from unpend.source.table import STYLES, Table

_KEPT_CHARACTERS = 2_000_000


class Composed:
    """A table with its line starts, and with the items of the lists that were asked for."""

    __slots__ = ("items", "lines", "table")

    def __init__(self, table: Table) -> None:
        self.table = table
        self.lines = Lines(table.text)
        self.items: dict[int, list[int]] = {}


TableMaker = Callable[[str], "Table | None"]


class _Recent:
    """The tables used last, bounded by the size of their texts; at least one is kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[TableMaker, str], Composed | None] = OrderedDict()
        self._size = 0
        self._lock = allocate_lock()

    def get(self, make: TableMaker, text: str) -> Composed | None:
        key = make, text
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = _compose(make, text)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._size += len(text)
            while self._size > _KEPT_CHARACTERS and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[0][1])
        return made


_RECENT = _Recent()


def composed(text: str, make: TableMaker = build) -> Composed | None:
    """The table of a text, from the ones used last or made now; None when the text holds no document."""
    return _RECENT.get(make, text)


def _compose(make: TableMaker, text: str) -> Composed | None:
    try:
        table = make(text)
    except Problem:
        return None
    return None if table is None else Composed(table)


class TextLocator:
    """The locator of one document: its text, the line of the source on which that begins, and who reads it.

    `plain` says that `data.fast_data` has read the text.
    """

    __slots__ = ("first_line", "make", "plain", "text")

    def __init__(self, text: str, first_line: int, make: TableMaker = build, *, plain: bool = False) -> None:
        self.text = text
        self.first_line = first_line
        self.make = make
        self.plain = plain

    def __call__(self, path: tuple[Step, ...], part: Part = "value") -> Span | None:
        """The span of a value, its key, or both (`entry`); where there is none, of the key of its nearest parent.

        An item of a list has no key: `key` is its value there, and `entry` begins at its dash. What an alias brings in
        is found where the anchor stands, the alias itself where it stands.
        """
        if self.plain:
            span = plain_span(self.text, path, part)
        else:
            found = composed(self.text, self.make)
            if found is None:
                return None
            key, value, missing = find(found, path)
            start, end = _range(found.table, key, value, "key" if missing else part)
            span = found.lines.span(start, end)
        if not self.first_line:
            return span
        (first, column), (last, end_column) = span
        return Span(Position(first + self.first_line, column), Position(last + self.first_line, end_column))

    def style(self, path: tuple[Step, ...]) -> Style | None:
        """How the value at a path is written; None when there is no such path."""
        found = composed(self.text, self.make)
        if found is None:
            return None
        _, value, missing = find(found, path)
        return None if missing else STYLES[found.table.style[value]]

    def tag(self, path: tuple[Step, ...]) -> str | None:
        """The tag written on the value at a path, such as `!Ref`; None when there is none, or no such path."""
        found = composed(self.text, self.make)
        if found is None:
            return None
        _, value, missing = find(found, path)
        return None if missing else found.table.tags.get(value)


def find(document: Composed, path: tuple[Step, ...]) -> tuple[int | None, int, bool]:
    """The rows of key and value at a path; with True, those of its nearest existing parent."""
    table = document.table
    key: int | None = None
    value = 0
    for step in path:
        target = table.follow(value)
        if table.kind[target] == rows.MAPPING and isinstance(step, str):
            entry: tuple[int | None, int] | None = _entry(table, target, step)
        elif table.kind[target] == rows.SEQUENCE and isinstance(step, int):
            entry = _item(document, target, step)
        else:
            entry = None
        if entry is None:
            return key, value, True
        key, value = entry
    return key, value, False


def _entry(table: Table, row: int, name: str) -> tuple[int, int] | None:
    """The last entry of that name: the one that counts. A merge counts as it does in the data."""
    found = None
    key, stop = row + 1, table.after[row]
    while key < stop:
        value = table.after[key]
        if is_merge(table, key):
            for merged in merged_rows(table, value):
                found = _entry(table, merged, name) or found
        elif key_of(table, key) == name:
            found = (key, value)
        key = table.after[value]
    return found


def _item(document: Composed, row: int, index: int) -> tuple[None, int] | None:
    items = document.items.get(row)
    if items is None:
        items = document.items[row] = document.table.children(row)
    return (None, items[index]) if 0 <= index < len(items) else None


def _range(table: Table, key: int | None, value: int, part: Part) -> tuple[int, int]:
    if part == "key" and key is not None:
        return table.start[key], table.end[key]
    if part == "entry":
        start = table.start[value] if key is None else table.start[key]
        if key is None:
            start = item_start(table.text, start) if value else start
        return start, table.end[value]
    return table.start[value], table.end[value]
