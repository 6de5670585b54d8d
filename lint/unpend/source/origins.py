"""From a rendered text back to the file it was made from: which line of a template a rendered line stands for.

Neither Helm nor kustomize says so. What both leave alone is most of the text: a line that stands once in the template
and once in the rendered document is the same line. Between two such lines the key decides, and the answer is a guess.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_KEY = re.compile(r"(?:- +)*[\"']?([^\s\"':{#][^\"':{]*)[\"']?:(?:\s|$)")


class Match(NamedTuple):
    """A zero-based line of the template; `exact` when its text is the rendered line and stands nowhere else."""

    line: int
    exact: bool


class Template:
    """The lines of a template, without the white space around them, for all that is rendered from it."""

    def __init__(self, text: str) -> None:
        self.lines = [line.strip() for line in text.replace("\r\n", "\n").split("\n")]
        there = Counter(self.lines)
        self.once = {line: number for number, line in enumerate(self.lines) if there[line] == 1 and len(line) > 1}
        self._keys: dict[str, list[int]] | None = None

    def places(self, key: str) -> list[int]:
        """The lines that begin with a key."""
        if self._keys is None:
            self._keys = {}
            for number, line in enumerate(self.lines):
                found = _KEY.match(line)
                if found is not None:
                    self._keys.setdefault(found[1].strip(), []).append(number)
        return self._keys.get(key, [])


class Alignment:
    """One rendered document beside its template."""

    def __init__(self, rendered: str, template: Template) -> None:
        self._rendered = [line.strip() for line in rendered.split("\n")]
        self._template = template
        self._anchors = _increasing(_pairs(self._rendered, template.once))

    def find(self, line: int) -> Match | None:
        """The line of the template for a line of the rendered document; None when nothing leads to one."""
        if not 0 <= line < len(self._rendered):
            return None
        at = bisect_left(self._anchors, (line, -1))
        if at < len(self._anchors) and self._anchors[at][0] == line:
            return Match(self._anchors[at][1], True)
        text = self._rendered[line]
        if text in self._template.once and self._rendered.count(text) > 1:  # in a loop
            return Match(self._template.once[text], True)
        before = self._anchors[at - 1][1] if at else -1
        after = self._anchors[at][1] if at < len(self._anchors) else len(self._template.lines)
        found = _KEY.match(text)
        places = self._template.places(found[1].strip()) if found is not None else []
        between = [place for place in places if before < place < after]
        if len(between) == 1:
            return Match(between[0], False)
        if len(places) == 1:
            return Match(places[0], False)
        return None if before < 0 else Match(before, False)


def _pairs(rendered: Sequence[str], template: Mapping[str, int]) -> list[tuple[int, int]]:
    """Lines that stand once on either side, in the order of the rendered text."""
    once = Counter(rendered)
    return [
        (number, template[line])
        for number, line in enumerate(rendered)
        if line in template and once[line] == 1 and line[0] != "#"
    ]


def _increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of the pairs that is in order on both sides: what is out of order is a coincidence."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, line) in enumerate(pairs):
        at = bisect_left(tails, line)
        before.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(line)
            ends.append(index)
        else:
            tails[at] = line
            ends[at] = index
    out: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        out.append(pairs[index])
        index = before[index]
    return out[::-1]
