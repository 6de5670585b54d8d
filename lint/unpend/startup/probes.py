"""When a pod counts as ready: what startup, readiness and liveness probes make of a start.

kubelet asks every `periodSeconds` from the start of the container on, and leaves out what is before
`initialDelaySeconds`. Readiness and liveness wait for the startup probe. A startup probe that fails `failureThreshold`
times ends the container.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from unpend.model.pod import Container
from unpend.records import dataclass, field
from unpend.source.place import Place
from unpend.startup.stages import ZERO, Interval

_HANDLERS = ("httpGet", "tcpSocket", "exec", "grpc")
_WAITS = re.compile(
    r"\b(?:until|while)\b[\s\S]*\bsleep\b|\bwait-for(?:-it)?\b|\bwait4x\b|\bkubectl\s+wait\b|\bpg_isready\b|\bdockerize\b[\s\S]*-wait"
)


@dataclass(frozen=True, slots=True)
class Probe:
    """One probe with the defaults of the API, in seconds; `literal` is False when a number is a placeholder."""

    kind: str
    delay: float = 0
    period: float = 10
    timeout: float = 1
    failures: int = 3
    successes: int = 1
    handler: Any = None
    literal: bool = True
    place: Place | None = field(default=None, compare=False, repr=False)

    @property
    def longest(self) -> float:
        """How long the container may fail before the probe gives up: delay and all periods."""
        return self.delay + self.period * self.failures

    @property
    def gives_up(self) -> float:
        """When the last failure that counts is met: the end of a container that never answers."""
        return self.seen(0) + self.period * (self.failures - 1)

    def seen(self, ready: float) -> float:
        """When the first probe at or after a moment is sent."""
        return math.ceil(max(ready, self.delay) / self.period - 1e-9) * self.period


@dataclass(frozen=True, slots=True)
class Probes:
    """The probes of one container, None where there is none."""

    startup: Probe | None = None
    readiness: Probe | None = None
    liveness: Probe | None = None


def probes_of(container: Container) -> Probes:
    """The probes of a container."""
    return probes_in(container.place.value, container.place)


def probes_in(data: Any, place: Place) -> Probes:
    """The probes in the data of a container."""
    if not isinstance(data, Mapping):
        return Probes()
    return Probes(*(_probe(data, kind, place) for kind in ("startup", "readiness", "liveness")))


def _probe(data: Mapping[str, Any], kind: str, place: Place) -> Probe | None:
    written = data.get(f"{kind}Probe")
    if not isinstance(written, Mapping) or not written:
        return None
    literal = True
    values: dict[str, int] = {}
    for key, default, least in (
        ("initialDelaySeconds", 0, 0),
        ("periodSeconds", 10, 1),
        ("timeoutSeconds", 1, 1),
        ("failureThreshold", 3, 1),
        ("successThreshold", 1, 1),
    ):
        value = written.get(key)
        if value is None:
            value = default
        elif isinstance(value, bool) or not isinstance(value, int) or value < 0:
            literal, value = False, default
        # A zero means the default everywhere but in the delay.
        values[key] = value if value >= least else default
    handler = next(((key, written[key]) for key in _HANDLERS if written.get(key) is not None), None)
    return Probe(
        kind,
        values["initialDelaySeconds"],
        values["periodSeconds"],
        values["timeoutSeconds"],
        values["failureThreshold"],
        values["successThreshold"] if kind == "readiness" else 1,
        handler,
        literal,
        place.at(f"{kind}Probe"),
    )


def ready_after(probes: Probes, own: Interval) -> Interval:
    """From a started container to a ready one; `own` is what the program itself needs until it can answer.

    The worst case is the end of what the startup probe allows, where there is one: then the container is ended.
    """
    startup, readiness = probes.startup, probes.readiness
    best, typical, worst = own.best, own.typical, own.worst
    if startup is not None:
        best, typical = max(best, startup.delay), startup.seen(typical)
        worst = startup.longest
        typical = min(typical, worst)
    if readiness is not None:
        again = (readiness.successes - 1) * readiness.period
        # At best a probe is sent just then (kubelet sends one when the startup probe has passed), at worst it just was.
        best = max(best, readiness.delay) + again
        typical = readiness.seen(typical) + again
        worst = max(worst, readiness.delay) + readiness.period + again
    return Interval(best, max(best, typical), max(best, typical, worst))


def started_after(probes: Probes, own: Interval) -> Interval:
    """From a started sidecar to the moment when the next init container may start: readiness does not count."""
    return ready_after(Probes(startup=probes.startup), own)


def waits(data: Any) -> bool:
    """Whether the command of a container (as plain data) looks like a loop that waits for something else."""
    if not isinstance(data, Mapping):
        return False
    words: list[str] = []
    for key in ("command", "args"):
        value = data.get(key)
        words.extend(str(word) for word in (value if isinstance(value, list) else [value] if value else []))
    return bool(words) and _WAITS.search(" ".join(words)) is not None


def together(intervals: Iterable[Interval]) -> Interval:
    """Containers that start at the same time: the slowest counts."""
    found = ZERO
    for interval in intervals:
        found = found.longest(interval)
    return found
