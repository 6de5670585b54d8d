"""The exact way through a YAML document: parser events to a table.

It follows anchors and aliases as Go does, and counts depth, values and aliases against their budgets. The fast way
(`data.fast_data`) hands over every document that is not plain; spans are always looked up in such a table.
"""

from __future__ import annotations

from typing import Any

import yaml

from unpend.source.syntax import MAX_DEPTH, TOO_DEEP, EventParser, Problem, problem_of
from unpend.source.table import (
    ALIAS,
    ALIASED,
    BLOCK,
    DOUBLE,
    FLOW,
    FOLDED,
    LITERAL,
    MAPPING,
    PLAIN,
    SCALAR,
    SEQUENCE,
    SINGLE,
    Rows,
    Table,
)  # fmt: skip

MAX_NODES = 4_000_000

_ALIASES_FREE, _NODES_FREE = 100, 1_000
_RATIO_LOW, _RATIO_HIGH = 400_000, 4_000_000
_STYLE_CODES: dict[str | None, int] = {None: PLAIN, "": PLAIN, "'": SINGLE, '"': DOUBLE, "|": LITERAL, ">": FOLDED}


def build(text: str) -> Table | None:
    """The table of the first document in a text; None when there is none.

    Raises Problem for a text that is no YAML, and where a budget is exceeded: depth, nodes, aliases.
    """
    builder = _Builder(text)
    try:
        return builder.run()
    except yaml.YAMLError as error:
        raise problem_of(error, text) from None
    except UnicodeEncodeError as error:
        raise Problem(NOT_UNICODE, error.start, error.start + 1) from None
    except RecursionError:
        raise Problem(TOO_DEEP, 0) from None


NOT_UNICODE = "not valid text: this character is half of a surrogate pair or a byte that is no UTF-8"


class _Builder:
    """The state while one document is read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.rows = Rows(text)
        self.named: dict[str, int] = {}
        self.heights: list[int] = []
        self.tall: dict[int, int] = {}
        self.expanded: dict[int, int] = {}
        self.decoded = 0
        self.aliased = 0
        self.last_end = 0

    def run(self) -> Table | None:
        parser = EventParser(self.text)
        parser.get_event()
        event: Any = parser.get_event()
        if event.__class__ is not yaml.DocumentStartEvent:
            return None
        _refuse_version(event)
        handlers = {
            yaml.ScalarEvent: self.scalar,
            yaml.MappingStartEvent: self.open_mapping,
            yaml.SequenceStartEvent: self.open_sequence,
            yaml.MappingEndEvent: self.close,
            yaml.SequenceEndEvent: self.close,
            yaml.AliasEvent: self.alias,
        }
        while True:
            event = parser.get_event()
            handle = handlers.get(event.__class__)
            if handle is None:
                break
            handle(event)
        return self.rows.table(_rest(parser, self.last_end))

    def count(self, event: Any) -> None:
        self.decoded += 1
        if len(self.rows.values) >= MAX_NODES:
            raise Problem(f"more than {MAX_NODES:,} values in one document", event.start_mark.index)

    def describe(self, row: int, event: Any) -> None:
        if event.anchor is not None:
            self.named[event.anchor] = row
        if event.tag is not None and event.tag != "!":
            self.rows.tags[row] = event.tag

    def scalar(self, event: Any) -> None:
        self.count(event)
        style = _STYLE_CODES[event.style]
        start, end = event.start_mark.index, event.end_mark.index
        if style >= LITERAL:
            end = start + len(self.text[start:end].rstrip())
        self.last_end = end
        row = self.rows.add(SCALAR, style, start, end, event.value)
        if event.anchor is not None or event.tag is not None:
            self.describe(row, event)
        if event.implicit[0] and event.tag != "!":
            self.rows.plain[row] = 1

    def open_mapping(self, event: Any) -> None:
        self.open_collection(MAPPING, event)

    def open_sequence(self, event: Any) -> None:
        self.open_collection(SEQUENCE, event)

    def open_collection(self, kind: int, event: Any) -> None:
        if len(self.rows.opened) >= MAX_DEPTH:
            raise Problem(TOO_DEEP, event.start_mark.index)
        self.count(event)
        style = FLOW if event.flow_style else BLOCK
        row = self.rows.open(kind, style, event.start_mark.index, event.end_mark.index)
        if event.anchor is not None or event.tag is not None:
            self.describe(row, event)
            self.expanded[row] = self.decoded - 1
            self.tall[row] = 0
        self.heights.append(0)

    def close(self, event: Any) -> None:
        if self.rows.style[self.rows.opened[-1]] == FLOW:
            self.last_end = event.end_mark.index
        row = self.rows.close(self.last_end)
        height = self.heights.pop() + 1
        self.raise_height(height)
        if row in self.tall:
            self.tall[row] = height
            self.expanded[row] = self.decoded - self.expanded[row]

    def raise_height(self, height: int) -> None:
        if self.heights and self.heights[-1] < height:
            self.heights[-1] = height

    def alias(self, event: Any) -> None:
        target = self.named.get(event.anchor)
        begin, end = event.start_mark.index, event.end_mark.index
        if target is None:
            raise Problem(f"no anchor &{event.anchor} stands before this alias", begin, end)
        if target in self.rows.opened:
            raise Problem(f"the value of anchor &{event.anchor} contains itself", begin, end)
        height = self.tall.get(target, 0)
        if len(self.rows.opened) + height > MAX_DEPTH:
            raise Problem(f"{TOO_DEEP} when this alias is followed", begin, end)
        self.raise_height(height)
        self.count(event)
        self.rows.targets[self.rows.add(ALIAS, ALIASED, begin, end, event.anchor)] = target
        size = self.expanded.get(target, 1)
        self.decoded += size
        self.aliased += size
        self.last_end = end
        large = self.aliased > _ALIASES_FREE and self.decoded > _NODES_FREE
        if large and self.aliased / self.decoded > _allowed_ratio(self.decoded):
            raise Problem("too many aliases: followed, they make this document many times as large", begin, end)


def _refuse_version(event: Any) -> None:
    if event.version is not None and tuple(event.version) != (1, 1):
        raise Problem("not valid YAML for Kubernetes: %YAML may only be 1.1", event.start_mark.index)


def _allowed_ratio(decoded: int) -> float:
    """The share of values from aliases that go-yaml v2 puts up with."""
    if decoded <= _RATIO_LOW:
        return 0.99
    if decoded >= _RATIO_HIGH:
        return 0.10
    return 0.99 - 0.89 * (decoded - _RATIO_LOW) / (_RATIO_HIGH - _RATIO_LOW)


def _rest(parser: EventParser, last_end: int) -> int | None:
    """Where text begins that stands behind the end of the first document, None when there is none."""
    try:
        following = parser.get_event()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return max(mark.index, last_end) if mark else last_end
    return None if following.__class__ is yaml.StreamEndEvent else int(following.start_mark.index)
