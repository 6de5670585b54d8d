"""A document as a table: one row for every node, made from parser events.

The exact way through a document. It follows anchors and aliases as Go does, counts depth and aliases against their
budgets, and needs about a hundred bytes a node, where composed nodes need a thousand. The fast way (`data.py`) hands
over every document that is not plain; spans are always looked up here.
"""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple

import yaml

from unpend.source.document import Style
from unpend.source.syntax import MAX_DEPTH, TOO_DEEP, EventParser, Problem, problem_of

SCALAR, MAPPING, SEQUENCE, ALIAS = range(4)

MAX_NODES = 4_000_000

_ALIASES_FREE, _NODES_FREE = 100, 1_000
_RATIO_LOW, _RATIO_HIGH = 400_000, 4_000_000


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
        self.kind = bytearray()
        self.style = bytearray()
        self.plain = bytearray()
        self.start = array("I")
        self.end = array("I")
        self.after = array("I")
        self.values: list[str] = []
        self.tags: dict[int, str] = {}
        self.targets: dict[int, int] = {}
        self.named: dict[str, int] = {}
        self.open: list[int] = []
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
        return Table(
            self.text, self.kind, self.style, self.plain, self.start, self.end, self.after, self.values, self.tags,
            self.targets, _rest(parser, event, self.last_end),
        )  # fmt: skip

    def add(self, kind: int, style: int, event: Any, value: str) -> int:
        row = len(self.values)
        if row >= MAX_NODES:
            raise Problem(f"more than {MAX_NODES:,} values in one document", event.start_mark.index)
        self.kind.append(kind)
        self.style.append(style)
        self.plain.append(0)
        self.start.append(event.start_mark.index)
        self.end.append(event.end_mark.index)
        self.after.append(row + 1)
        self.values.append(value)
        self.decoded += 1
        return row

    def describe(self, row: int, event: Any) -> None:
        if event.anchor is not None:
            self.named[event.anchor] = row
        if event.tag is not None and event.tag != "!":
            self.tags[row] = event.tag

    def scalar(self, event: Any) -> None:
        style = _STYLE_CODES[event.style]
        row = self.add(SCALAR, style, event, event.value)
        if event.anchor is not None or event.tag is not None:
            self.describe(row, event)
        self.plain[row] = event.implicit[0] and event.tag != "!"
        if style >= LITERAL:
            self.end[row] = self.start[row] + len(self.text[self.start[row] : self.end[row]].rstrip())
        self.last_end = self.end[row]

    def open_mapping(self, event: Any) -> None:
        self.open_collection(MAPPING, event)

    def open_sequence(self, event: Any) -> None:
        self.open_collection(SEQUENCE, event)

    def open_collection(self, kind: int, event: Any) -> None:
        if len(self.open) >= MAX_DEPTH:
            raise Problem(TOO_DEEP, event.start_mark.index)
        row = self.add(kind, FLOW if event.flow_style else BLOCK, event, "")
        if event.anchor is not None or event.tag is not None:
            self.describe(row, event)
            self.expanded[row] = self.decoded - 1
            self.tall[row] = 0
        self.open.append(row)
        self.heights.append(0)

    def close(self, event: Any) -> None:
        row = self.open.pop()
        height = self.heights.pop() + 1
        self.raise_height(height)
        if row in self.tall:
            self.tall[row] = height
        self.after[row] = len(self.values)
        if row in self.expanded:
            self.expanded[row] = self.decoded - self.expanded[row]
        if self.style[row] == FLOW:
            self.last_end = event.end_mark.index
        self.end[row] = max(self.last_end, self.start[row])

    def raise_height(self, height: int) -> None:
        if self.heights and self.heights[-1] < height:
            self.heights[-1] = height

    def alias(self, event: Any) -> None:
        target = self.named.get(event.anchor)
        begin, end = event.start_mark.index, event.end_mark.index
        if target is None:
            raise Problem(f"no anchor &{event.anchor} stands before this alias", begin, end)
        if target in self.open:
            raise Problem(f"the value of anchor &{event.anchor} contains itself", begin, end)
        height = self.tall.get(target, 0)
        if len(self.open) + height > MAX_DEPTH:
            raise Problem(f"{TOO_DEEP} when this alias is followed", begin, end)
        self.raise_height(height)
        row = self.add(ALIAS, ALIASED, event, event.anchor)
        self.targets[row] = target
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


def _rest(parser: EventParser, event: Any, last_end: int) -> int | None:
    """Where text begins that stands behind the end of the first document, None when there is none."""
    try:
        following = parser.get_event()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return max(mark.index, last_end) if mark else last_end
    return None if following.__class__ is yaml.StreamEndEvent else int(following.start_mark.index)


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
