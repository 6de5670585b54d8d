"""How an answer compares with the truth, and how many answers of a corpus do."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

FOLDER = Path(__file__).parents[2] / "fixtures" / "conformance"

Grade = Literal["right", "imprecise", "missed", "wrong alarm"]
GRADES: tuple[Grade, ...] = ("right", "imprecise", "missed", "wrong alarm")

_TABLE: dict[str, dict[str, Grade]] = {
    "fits": {"fits": "right", "conditional": "imprecise"},
    "conditional": {"fits": "imprecise", "conditional": "right", "loop": "right", "partial": "imprecise"},
    "partial": {"fits": "missed", "conditional": "imprecise", "loop": "imprecise", "partial": "right"},
    "loop": {"fits": "missed", "conditional": "imprecise", "loop": "right", "partial": "imprecise", "never": "right"},
    "never": {"fits": "missed", "conditional": "imprecise", "loop": "right", "partial": "imprecise", "never": "right"},
}


class Judged(NamedTuple):
    """One case: its grade and, unless it is right, what was expected and answered."""

    case: str
    grade: Grade
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """A set of cases with known answers.

    `judge` runs all of them. `left_out` gives the reason for every case that is not asked: cases of a kind together.
    """

    name: str
    truth: str
    judge: Callable[[], Iterable[Judged]]
    left_out: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The outcome for one corpus."""

    corpus: Corpus
    grades: Counter[Grade]
    others: tuple[Judged, ...]

    @property
    def cases(self) -> int:
        """How many cases were asked."""
        return sum(self.grades.values())


def agreement(corpus: Corpus) -> Agreement:
    """Run a corpus."""
    judged = tuple(corpus.judge())
    return Agreement(corpus, Counter(j.grade for j in judged), tuple(j for j in judged if j.grade != "right"))


def grade(expected: str, answered: str) -> Grade:
    """The grade of one verdict word against another; `skipped` counts as `fits`, an absent answer (``) as missed."""
    if not answered:
        return "missed"
    words = ["fits" if word == "skipped" else word for word in (expected, answered)]
    return _TABLE[words[0]].get(words[1], "wrong alarm")


def worst(grades: Iterable[Grade]) -> Grade:
    """The worst of several grades, `right` for none."""
    return max(grades, key=GRADES.index, default="right")


def lines(name: str) -> Iterable[dict[str, Any]]:
    """The cases of a file of JSON lines, packed or not."""
    raw = (FOLDER / name).read_bytes()
    for line in (gzip.decompress(raw) if name.endswith(".gz") else raw).splitlines():
        case: dict[str, Any] = json.loads(line)
        yield case


def with_kind(kind: str, data: Mapping[str, Any], api_version: str = "v1") -> dict[str, Any]:
    """An object that came without `apiVersion` and `kind`."""
    return {"apiVersion": api_version, "kind": kind, **data}
