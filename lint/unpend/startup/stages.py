"""Time as intervals (best, typical, worst, in seconds), stages of a start, and paths as sums of stages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from unpend.records import dataclass

PathKind = Literal["cached", "pull", "new-node"]
PATH_KINDS: tuple[PathKind, ...] = ("cached", "pull", "new-node")
PATH_TITLES: dict[PathKind, str] = {
    "cached": "warm node, cached image",
    "pull": "warm node, image pulled",
    "new-node": "new node",
}

STAGES: dict[str, str] = {
    "detection": "pod is seen",
    "decision": "autoscaler decides",
    "cloud-api": "cloud API",
    "boot": "instance boots",
    "user-data": "own user data",
    "windows": "Windows",
    "metal": "bare metal",
    "snapshot-volume": "volume from snapshot",
    "kubelet": "kubelet registers",
    "network": "network is ready",
    "startup-taints": "startup taints clear",
    "devices": "devices appear",
    "daemonsets": "DaemonSets start",
    "scheduling": "pod is bound",
    "image-pull": "image pull",
    "runtime": "runtime starts",
    "init": "init containers",
    "application": "application starts",
}
"""Every stage in the order in which it happens, with its words for people."""

NODE_STAGES = frozenset(list(STAGES)[: list(STAGES).index("scheduling")])
"""Stages that only the path of a new node has."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Seconds: the best, a typical and the worst case; never negative, never out of order.

    Raises ValueError for anything else.
    """

    best: float
    typical: float
    worst: float

    def __post_init__(self) -> None:
        if not 0 <= self.best <= self.typical <= self.worst < float("inf"):
            raise ValueError(f"0 <= best <= typical <= worst does not hold: {self.best}, {self.typical}, {self.worst}")

    @classmethod
    def of(cls, best: float, typical: float, worst: float) -> Interval:
        """An interval around a typical value: the bounds are widened where they would not contain it."""
        return cls(min(best, typical), typical, max(typical, worst))

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.best + other.best, self.typical + other.typical, self.worst + other.worst)

    def times(self, factor: float) -> Interval:
        """The same, so many times over."""
        return Interval(self.best * factor, self.typical * factor, self.worst * factor)

    def longest(self, other: Interval) -> Interval:
        """Both at the same time: done when the slower one is."""
        return Interval(max(self.best, other.best), max(self.typical, other.typical), max(self.worst, other.worst))

    def shortest(self, other: Interval) -> Interval:
        """Whichever is faster, case by case."""
        return Interval(min(self.best, other.best), min(self.typical, other.typical), min(self.worst, other.worst))

    def to_dict(self) -> dict[str, float]:
        """The JSON shape; milliseconds are the finest that is told."""
        return {"best": round(self.best, 3), "typical": round(self.typical, 3), "worst": round(self.worst, 3)}


ZERO = Interval(0, 0, 0)


def total(intervals: Iterable[Interval]) -> Interval:
    """One after the other."""
    found = ZERO
    for interval in intervals:
        found = found + interval
    return found


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a path: how long, who says so, and under which condition."""

    name: str
    interval: Interval
    source: str = ""
    condition: str = ""

    @property
    def title(self) -> str:
        """The stage in words."""
        return STAGES[self.name]

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "stage": self.name,
            "seconds": self.interval.to_dict(),
            "source": self.source,
            "condition": self.condition,
        }


@dataclass(frozen=True, slots=True)
class Path:
    """One way to a serving pod: stages in the order in which they happen."""

    kind: PathKind
    stages: tuple[Stage, ...]

    @property
    def total(self) -> Interval:
        """All stages one after the other."""
        return total(stage.interval for stage in self.stages)

    @property
    def dominating(self) -> Stage | None:
        """The stage that typically takes longest, None for an empty path."""
        return max(self.stages, key=lambda stage: stage.interval.typical, default=None)

    def stage(self, name: str) -> Stage | None:
        """The stage of that name, None when the path has none."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def part(self, names: Iterable[str]) -> Interval:
        """What some stages take together."""
        wanted = frozenset(names)
        return total(stage.interval for stage in self.stages if stage.name in wanted)

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        dominating = self.dominating
        return {
            "path": self.kind,
            "seconds": self.total.to_dict(),
            "dominating": None if dominating is None else dominating.name,
            "stages": [stage.to_dict() for stage in self.stages],
        }


def shown(seconds: float) -> str:
    """A time for people: `90 ms`, `4.2 s`, `48 s`, `3 min 10 s`."""
    if seconds < 0.0005:
        return "0 s"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def shown_range(interval: Interval) -> str:
    """An interval in words: `58 s to 3 min 10 s, typically 96 s`."""
    if interval.best == interval.worst:
        return shown(interval.typical)
    return f"{shown(interval.best)} to {shown(interval.worst)}, typically {shown(interval.typical)}"
