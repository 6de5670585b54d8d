"""A document as plain data: dict, list, str, int, float, bool, None, as Kubernetes' own YAML library makes it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from yaml import MappingNode, ScalarNode

from unpend.source import table as rows
from unpend.source.place import Step
from unpend.source.scalars import (
    MERGE_KEY,
    MERGE_TAG,
    PlainKeys,
    PlainValues,
    ScalarError,
    key_text,
    resolve,
    tagged,
)
from unpend.source.syntax import HAS_LIBYAML, MAX_DEPTH, FastParser, Problem
from unpend.source.table import Table

_VALUES = PlainValues()
_KEYS = PlainKeys()

MAX_FAST = 1_000_000
MAX_DUPLICATES = 100

_SHORT = 1_800
_MANY_BRACKETS = 800
_BARE_TAG = re.compile(r"(?:^|[\s,\[{:?-])!(?![^\s,\]}])", re.MULTILINE)
_DEEP_LINE = re.compile(r"^[-?: \t]{400}", re.MULTILINE)


class NotPlainError(Exception):
    """The fast way does not know this document for sure; the exact way does."""


class Content(NamedTuple):
    """The data of a document, and the rows of keys that stand a second time in their mapping, with their paths."""

    data: Any
    duplicates: tuple[tuple[tuple[Step, ...], int], ...] = ()


def fast_data(text: str) -> tuple[Any, bool] | None:
    """The data of a document, and whether text follows behind its end; None when there is no document.

    Raises NotPlainError for everything that is not plain (aliases, tags, duplicate or merge keys, errors of any kind).
    """
    if not HAS_LIBYAML or _looks_odd(text):
        raise NotPlainError
    try:
        parser = FastParser(text)
        if not parser.check_node():
            return None
        root = parser.get_node()
        more = parser.check_node()
        if root.__class__ is ScalarNode:
            return _scalar(root), more
        return _collection(root, 1), more
    except NotPlainError:
        raise
    except Exception:  # whatever it is, the exact way finds it again and says where
        raise NotPlainError from None


def _looks_odd(text: str) -> bool:
    """Anchors with aliases, directives, and nesting that could hurt a composer on the C stack."""
    if "&" in text and "*" in text:
        return True
    if "\n%" in text or text[:1] == "%" or "\\/" in text:
        return True
    if "!" in text and _BARE_TAG.search(text):
        return True
    if len(text) < _SHORT:
        return False
    if len(text) > MAX_FAST or text.count("[") + text.count("{") > _MANY_BRACKETS:
        return True
    return _DEEP_LINE.search(text) is not None


def _scalar(node: Any) -> Any:
    tag = node.tag
    if tag.__class__ is not slice:
        raise NotPlainError
    return _VALUES[node.value] if tag.step[0] else node.value


def _collection(node: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise NotPlainError
    depth += 1
    tag: Any
    if node.__class__ is MappingNode:
        data = {}
        for key, value in node.value:
            tag = key.tag
            if key.__class__ is not ScalarNode or tag.__class__ is not slice:
                raise NotPlainError
            name = _KEYS[key.value] if tag.step[0] else key.value
            if value.__class__ is ScalarNode:
                tag = value.tag
                if tag.__class__ is not slice:
                    raise NotPlainError
                data[name] = _VALUES[value.value] if tag.step[0] else value.value
            else:
                data[name] = _collection(value, depth)
        if len(data) != len(node.value):
            raise NotPlainError
        return data
    items = []
    for value in node.value:
        if value.__class__ is ScalarNode:
            tag = value.tag
            if tag.__class__ is not slice:
                raise NotPlainError
            items.append(_VALUES[value.value] if tag.step[0] else value.value)
        else:
            items.append(_collection(value, depth))
    return items


def exact_data(table: Table) -> Content:
    """The data of any document. What an alias stands for is one and the same value in all places: do not change it.

    Raises Problem where go-yaml or JSON refuse: keys that are no scalars, null keys, infinities, wrong merges, tags.
    """
    return _Reader(table).content()


def key_of(table: Table, row: int) -> str:
    """The string that a key becomes. Raises Problem when it cannot be one."""
    row = table.follow(row)
    if table.kind[row] != rows.SCALAR:
        raise Problem(
            "a key of a mapping is itself a mapping or a list; a template expression {{ … }} must be quoted",
            table.start[row], table.end[row],
        )  # fmt: skip
    text = table.values[row]
    try:
        if row in table.tags:
            return key_text(tagged(table.tags[row], text))
        return key_text(resolve(text)) if table.plain[row] else text
    except ScalarError as error:
        raise Problem(str(error), table.start[row], table.end[row]) from None


def is_merge(table: Table, row: int) -> bool:
    """Whether a key row is the merge key `<<`."""
    if table.values[row] != MERGE_KEY or table.kind[row] != rows.SCALAR:
        return False
    tag = table.tags.get(row)
    return bool(table.plain[row]) if tag is None else tag == MERGE_TAG


def merged_rows(table: Table, row: int) -> list[int]:
    """The mappings that the value of a merge key names, in the order in which they are applied: the last one wins."""
    target = table.follow(row)
    if table.kind[target] == rows.MAPPING:
        return [target]
    if target == row and table.kind[row] == rows.SEQUENCE:
        found = [table.follow(child) for child in reversed(table.children(row))]
        if all(table.kind[child] == rows.MAPPING for child in found):
            return found
    raise Problem("a merge key << takes a mapping or a list of mappings", table.start[row], table.end[row])


class _Reader:
    """One walk over a table."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.shared: dict[int, Any] = {}
        self.duplicates: list[tuple[tuple[Step, ...], int]] = []
        self.path: list[Step] = []

    def content(self) -> Content:
        data = self.value(0)
        return Content(data, tuple(self.duplicates))

    def value(self, row: int) -> Any:
        table = self.table
        kind = table.kind[row]
        if kind == rows.SCALAR:
            return self.scalar(row)
        if kind == rows.MAPPING:
            data: dict[str, Any] = {}
            self.fill(row, data)
            return data
        if kind == rows.SEQUENCE:
            return self.sequence(row)
        target = table.targets[row]
        if target not in self.shared:
            before = len(self.duplicates)
            self.shared[target] = self.value(target)
            del self.duplicates[before:]
        return self.shared[target]

    def scalar(self, row: int) -> Any:
        table = self.table
        text = table.values[row]
        try:
            if row in table.tags:
                return tagged(table.tags[row], text)
            return _VALUES[text] if table.plain[row] else text
        except ScalarError as error:
            raise Problem(str(error), table.start[row], table.end[row]) from None

    def sequence(self, row: int) -> list[Any]:
        items: list[Any] = []
        child, stop = row + 1, self.table.after[row]
        while child < stop:
            self.path.append(len(items))
            items.append(self.value(child))
            self.path.pop()
            child = self.table.after[child]
        return items

    def fill(self, row: int, data: dict[str, Any]) -> None:
        """Set the entries of a mapping in `data`, as Go does: in order, so that a later merge or key wins."""
        table = self.table
        written: set[str] = set()
        key, stop = row + 1, table.after[row]
        while key < stop:
            value = table.after[key]
            if is_merge(table, key):
                for merged in merged_rows(table, value):
                    self.merge(merged, data)
            else:
                name = key_of(table, key)
                self.path.append(name)
                if name in written and len(self.duplicates) < MAX_DUPLICATES:
                    self.duplicates.append((tuple(self.path), key))
                written.add(name)
                data[name] = self.value(value)
                self.path.pop()
            key = table.after[value]

    def merge(self, row: int, data: dict[str, Any]) -> None:
        before = len(self.duplicates)
        self.fill(row, data)
        del self.duplicates[before:]
