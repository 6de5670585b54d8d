"""Spans in plain documents: libyaml composes one in a tenth of the time that a table of its events takes.

Plain means that `data.fast_data` read the document: no aliases, no tags, no merge keys, no key twice.
"""

from __future__ import annotations

from _thread import allocate_lock
from collections import OrderedDict
from typing import Any

from yaml import MappingNode, ScalarNode

from unpend.source.lines import Lines
from unpend.source.place import Part, Span, Step
from unpend.source.scalars import PlainKeys
from unpend.source.syntax import FastParser

_KEPT_CHARACTERS = 300_000
"""Nodes need some forty times the memory of their text."""

_KEYS = PlainKeys()


class PlainNodes:
    """The nodes of one plain document, and the spans that were asked for."""

    __slots__ = ("_found", "_root", "_text", "lines")

    def __init__(self, text: str) -> None:
        self._text = text
        parser = FastParser(text)
        parser.check_node()  # it also gets over the start of the stream
        self._root: Any = parser.get_node()
        self._found: dict[tuple[tuple[Step, ...], Part], Span] = {}
        self.lines = Lines(text)

    def span(self, path: tuple[Step, ...], part: Part) -> Span:
        """The span of a value, key or entry, as `TextLocator` describes it; lines count from the start of the text."""
        wanted = path, part
        found = self._found.get(wanted)
        if found is None:
            found = self._found[wanted] = self.lines.span(*self._range(path, part))
        return found

    def _range(self, path: tuple[Step, ...], part: Part) -> tuple[int, int]:
        key, value, missing = self._find(path)
        if missing:
            part = "key"
        if part == "key" and key is not None:
            return key.start_mark.index, self._end(key)
        start = value.start_mark.index
        if part == "entry":
            if key is not None:
                start = key.start_mark.index
            elif value is not self._root:
                start = item_start(self._text, start)
        return start, max(start, self._end(value))

    def _find(self, path: tuple[Step, ...]) -> tuple[Any, Any, bool]:
        key: Any = None
        value = self._root
        for step in path:
            entry = None
            if value.__class__ is MappingNode:
                entry = next((pair for pair in value.value if _name(pair[0]) == step), None)
            elif value.__class__ is not ScalarNode and step.__class__ is int and 0 <= step < len(value.value):
                entry = None, value.value[step]
            if entry is None:
                return key, value, True
            key, value = entry
        return key, value, False

    def _end(self, node: Any) -> int:
        """Behind the last character of a value; libyaml ends a block where the next token begins."""
        while node.__class__ is not ScalarNode and not node.flow_style:
            node = node.value[-1]
            if node.__class__ is tuple:
                node = node[1]
        end: int = node.end_mark.index
        if node.__class__ is ScalarNode and node.style in ("|", ">"):
            start: int = node.start_mark.index
            end = start + len(self._text[start:end].rstrip())
        return end


def _name(key: Any) -> str:
    """The string that a plain key becomes."""
    text: str = key.value
    return _KEYS[text] if key.tag.step[0] else text


def item_start(text: str, start: int) -> int:
    """The dash of a list item whose value starts there; the value itself in a flow list."""
    before = text.rfind("-", 0, start)
    return before if before >= 0 and not text[before + 1 : start].strip() else start


class _Recent:
    """The nodes used last, bounded by the size of their texts; at least those of one text are kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, PlainNodes] = OrderedDict()
        self._size = 0
        self._lock = allocate_lock()

    def get(self, text: str) -> PlainNodes:
        with self._lock:
            found = self._kept.get(text)
            if found is not None:
                self._kept.move_to_end(text)
                return found
        made = PlainNodes(text)
        with self._lock:
            if text not in self._kept:
                self._kept[text] = made
                self._size += len(text)
            while self._size > _KEPT_CHARACTERS and len(self._kept) > 1:
                self._size -= len(self._kept.popitem(last=False)[0])
        return made


_RECENT = _Recent()


def plain_span(text: str, path: tuple[Step, ...], part: Part) -> Span:
    """The span of a path in a plain document, from the nodes used last or made now."""
    return _RECENT.get(text).span(path, part)
