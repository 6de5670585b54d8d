"""Comments `# unpend: ignore[rule-a, topic/*] -- reason`, and the lines that they cover.

On a line with other text the comment covers that line. On a line of its own it covers the block that follows: the
mapping entry or list item that begins next, or the whole document when it stands above the first key. `until=DATE`
inside the brackets or behind them, as in `ignore[rule-a, until=2027-01-31]`, lets it end; the last day still counts.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from unpend.source import table as rows
from unpend.source.document import Suppression, Trouble
from unpend.source.lines import Lines
from unpend.source.locator import composed
from unpend.source.nodes import item_start
from unpend.source.place import Position, Span
from unpend.source.table import Table, quoted_ranges

MARK = "unpend:"
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#[ \t]*unpend:[^\n]*", re.MULTILINE)
_FORM = re.compile(r"ignore[ \t]*\[([^\[\]]*)\][ \t]*(?:until=([^\s]*))?[ \t]*(?:--[ \t]*(.*))?\Z")
_RULE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:/(?:\*|[A-Za-z0-9][A-Za-z0-9_-]*))?\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_EXPECTED = "write `# unpend: ignore[rule-name, topic/*] -- reason`"


class _MalformedError(ValueError):
    """Why a comment is no suppression."""


def scan(text: str, first_line: int, uri: str, index: int) -> tuple[tuple[Suppression, ...], tuple[Trouble, ...]]:
    """The suppressions of one document, and what is wrong with the comments that look like some.

    A mark inside a quoted or block scalar is no comment.
    """
    found: list[Suppression] = []
    troubles: list[Trouble] = []
    lines = Lines(text, first_line)
    document = composed(text)
    blocks = _Blocks(document.table if document else None)
    for match in _COMMENT.finditer(text):
        if blocks.inside_scalar(match.start()):
            continue
        span = lines.span(match.start(), match.start() + len(match.group().rstrip()))
        try:
            rules, until, reason = parse(match.group())
            first, last = _covered(text, match.start(), lines, blocks)
        except _MalformedError as error:
            troubles.append(Trouble("suppression", "warning", f"{error}; {_EXPECTED}", uri, span, index))
        else:
            found.append(Suppression(rules, reason, span, first, last, until))
    return tuple(found), tuple(troubles)


def parse(comment: str) -> tuple[tuple[str, ...], str | None, str]:
    """Rules, last day and reason of a comment. Raises ValueError where the form is another."""
    body = comment.partition(MARK)[2].strip()
    form = _FORM.match(body)
    if form is None:
        raise _MalformedError("this comment suppresses nothing, its form is not the expected one")
    listed, until, reason = form.groups()
    names = []
    for item in (part.strip() for part in listed.split(",")):
        if item.startswith("until="):
            until = item[len("until=") :]
        elif _RULE.match(item):
            names.append(item)
        else:
            raise _MalformedError(f"`{item}` is no name of a rule" if item else "a name of a rule is missing")
    if not names:
        raise _MalformedError("this comment names no rule")
    if until is not None and not _is_date(until):
        raise _MalformedError(f"`until={until}` is no date of the form 2027-01-31")
    return tuple(names), until, (reason or "").strip()


def _is_date(text: str) -> bool:
    if not _DATE.match(text):
        return False
    from datetime import date

    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _covered(text: str, at: int, lines: Lines, blocks: _Blocks) -> tuple[int, int]:
    line: Position = lines.position(at)
    if text[at - line.column : at].strip():
        return line.line, line.line
    block = blocks.following(at)
    if block is None:
        raise _MalformedError("nothing follows this comment that it could cover")
    covered: Span = lines.span(*block)
    return covered.start.line, covered.end.line


class _Blocks:
    """Where entries and items begin and end in a table, and where text is content and no comment."""

    def __init__(self, table: Table | None) -> None:
        self.blocks: list[tuple[int, int]] = []
        self.scalars: list[tuple[int, int]] = []
        if table is None:
            return
        self.scalars = quoted_ranges(table)
        self.blocks.append((table.start[0], table.end[0]))
        for row, kind in enumerate(table.kind):
            if kind == rows.MAPPING:
                self._add_entries(table, row)
            elif kind == rows.SEQUENCE:
                for child in table.children(row):
                    self.blocks.append((item_start(table.text, table.start[child]), table.end[child]))
        self.blocks.sort(key=lambda block: (block[0], -block[1]))

    def _add_entries(self, table: Table, row: int) -> None:
        children = table.children(row)
        for key, value in zip(children[::2], children[1::2], strict=True):
            self.blocks.append((table.start[key], table.end[value]))

    def inside_scalar(self, at: int) -> bool:
        found = bisect_right(self.scalars, (at, at)) - 1
        return found >= 0 and at < self.scalars[found][1]

    def following(self, at: int) -> tuple[int, int] | None:
        found = bisect_left(self.blocks, (at,))
        return self.blocks[found] if found < len(self.blocks) else None
