"""Verdicts: what is said of one workload against all pools, and the proof that goes with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, Literal, TypeVar, overload

from unpend.model.pod import Taint
from unpend.records import dataclass, field
from unpend.source.place import Location, Place

Verdict = Literal["fits", "conditional", "loop", "partial", "never", "skipped"]
Cause = Literal[
    "rejected",
    "pool-unusable",
    "labels",
    "taint",
    "resources",
    "ports",
    "volume",
    "topology",
    "affinity",
    "limits",
    "autoscaler-refuses",
    "scheduler-refuses",
    "existing-node",
    "launch-choice",
    "placement-order",
    "contention",
    "starved",
    "bootstrap-nodes",
    "not-looked-at",
    "unknown-fact",
]
Certainty = Literal["proved", "assumed", "catalog", "heuristic"]
Answer = Literal["yes", "no", "unknown"]

RANKS: tuple[Verdict, ...] = ("never", "loop", "partial", "conditional", "fits", "skipped")
"""Verdicts from the worst to the best: of several pools the best one counts."""

ASSUMPTIONS: dict[str, str] = {
    "A1": "the default scheduler profile is used",
    "A2": "a zone that a pool lists has a subnet",
    "A3": "an allowed instance type is sold where the pool runs",
    "A4": "an image (AMI) exists for the architecture",
    "A5": "only the DaemonSets given run",
    "A6": "no webhook changes the pod",
    "A7": "memory overhead is as configured",
    "A8": "the provider of nodeClassRef runs",
}


T = TypeVar("T")


class Deferred(Sequence[T], Generic[T]):
    """A tuple that is made when somebody first looks at it: most verdicts are never looked at pool by pool."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], tuple[T, ...]]) -> None:
        self._make: Callable[[], tuple[T, ...]] | None = make
        self._made: tuple[T, ...] = ()

    def _get(self) -> tuple[T, ...]:
        if self._make is not None:
            self._made = self._make()
            self._make = None
        return self._made

    def __len__(self) -> int:
        return len(self._get())

    def __iter__(self) -> Iterator[T]:
        return iter(self._get())

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._get()[index]

    def __eq__(self, other: object) -> bool:
        return self._get() == (other._get() if isinstance(other, Deferred) else other)

    def __hash__(self) -> int:
        return hash(self._get())

    def __repr__(self) -> str:
        return repr(self._get())


@dataclass(frozen=True, slots=True)
class Against:
    """The other side of an obstacle: the pool (or node, class, pod) and the place in it that says no."""

    object: str
    place: Place


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One constraint of the pod that a pool cannot meet: both sides with their places, and the rule it rests on.

    `constraint` is one of `nodeSelector`, `nodeAffinity`, `toleration`, `resources`, `hostPort`, `nodeName`,
    `unschedulable`, `topologySpread`, `podAffinity`, `podAntiAffinity`, `volume`, `limits`, `pool`, `api`. `taint` is
    the untolerated taint of a `toleration`.
    """

    constraint: str
    message: str
    semantics: str
    place: Place | None = None
    against: Against | None = None
    cause: Cause = "labels"
    taint: Taint | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of an obstacle."""
        return {
            "constraint": self.constraint,
            "path": str(self.place) if self.place else None,
            "at": place_to_dict(self.place),
            "against": None
            if self.against is None
            else {
                "object": self.against.object,
                "path": str(self.against.place),
                "at": place_to_dict(self.against.place),
            },
            "message": self.message,
            "semantics": self.semantics,
        }


@dataclass(frozen=True, slots=True)
class Witness:
    """A concrete node that takes the pod."""

    pool: str
    type: str | None = None
    zone: str | None = None
    capacity_type: str | None = None
    node: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape; `node` only for an existing one."""
        data: dict[str, Any] = {
            "pool": self.pool,
            "type": self.type,
            "zone": self.zone,
            "capacityType": self.capacity_type,
        }
        if self.node is not None:
            data["node"] = self.node
        return data


@dataclass(frozen=True, slots=True)
class Change:
    """One step of a repair: what to do at which place, in one imperative sentence."""

    message: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """The smallest set of changes found after which both deciders accept; checked by evaluating it."""

    pool: str
    changes: tuple[Change, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape used under `nearest`."""
        return {
            "pool": self.pool,
            "changes": [
                {"message": c.message, "path": str(c.place) if c.place else None, "at": place_to_dict(c.place)}
                for c in self.changes
            ],
        }


@dataclass(frozen=True, slots=True)
class Fact:
    """Something outside the manifests that decides: named so that the user can give it."""

    name: str
    message: str
    place: Place | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {"name": self.name, "message": self.message, "at": place_to_dict(self.place)}


@dataclass(frozen=True, slots=True)
class PoolVerdict:
    """One pod against one pool."""

    pool: str
    verdict: Verdict
    cause: Cause | None
    types: int | None = None
    zones: tuple[str, ...] = ()
    autoscaler: str | None = None
    autoscaler_says: Answer | None = None
    scheduler_says: Answer = "unknown"
    obstacles: tuple[Obstacle, ...] = ()
    facts: tuple[Fact, ...] = ()
    assumptions: tuple[str, ...] = ()
    certainty: Certainty = "proved"
    place: Place | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        deciders: dict[str, str] = {}
        if self.autoscaler is not None and self.autoscaler_says is not None:
            deciders[self.autoscaler] = self.autoscaler_says
        deciders["scheduler"] = self.scheduler_says
        return {
            "pool": self.pool,
            "verdict": self.verdict,
            "cause": self.cause,
            "types": self.types,
            "zones": list(self.zones),
            "deciders": deciders,
            "obstacles": [o.to_dict() for o in self.obstacles],
        }


@dataclass(frozen=True, slots=True)
class Rollout:
    """The same question with the pods of a rolling update: surge included."""

    needed: int
    at_most: int | None

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {"needed": self.needed, "atMost": self.at_most}


@dataclass(frozen=True, slots=True)
class ReplicaCounts:
    """How many replicas are wanted and how many can run at once: `at_least` by a witness, `at_most` by a bound."""

    wanted: int
    needed: int
    at_least: int
    at_most: int
    rollout: Rollout | None = None
    maximum: Rollout | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape; `placeable` equals `atMost`."""
        return {
            "wanted": self.wanted,
            "needed": self.needed,
            "atLeast": self.at_least,
            "atMost": self.at_most,
            "placeable": self.at_most,
            "rollout": self.rollout.to_dict() if self.rollout else None,
            "maximum": self.maximum.to_dict() if self.maximum else None,
        }


@dataclass(frozen=True, slots=True)
class SpotBreadth:
    """How many instance types and (type, zone) spot pools are left to the pod."""

    types: int
    pools: int

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {"types": self.types, "pools": self.pools}


@dataclass(frozen=True, slots=True)
class WorkloadVerdict:
    """The verdict of one workload in one cluster, with its proof."""

    workload: str
    cluster: str
    verdict: Verdict
    cause: Cause | None
    certainty: Certainty
    replicas: ReplicaCounts
    assumptions: tuple[str, ...] = ()
    pools: Sequence[PoolVerdict] = ()
    conflict: tuple[Obstacle, ...] = ()
    witness: Witness | None = None
    facts: tuple[Fact, ...] = ()
    nearest: Repair | None = None
    zones: tuple[str, ...] = ()
    spot: SpotBreadth | None = None
    contention: tuple[tuple[str, ...], ...] = ()
    place: Place | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of `workloads[]`; `contention` lists the groups with this workload in them."""
        return {
            "workload": self.workload,
            "cluster": self.cluster,
            "verdict": self.verdict,
            "cause": self.cause,
            "certainty": self.certainty,
            "assumptions": list(self.assumptions),
            "replicas": self.replicas.to_dict(),
            "pools": [p.to_dict() for p in self.pools],
            "conflict": [o.to_dict() for o in self.conflict],
            "witness": self.witness.to_dict() if self.witness else None,
            "facts": [f.to_dict() for f in self.facts],
            "nearest": self.nearest.to_dict() if self.nearest else None,
            "zones": list(self.zones),
            "spot": self.spot.to_dict() if self.spot else None,
            "contention": [list(group) for group in self.contention],
        }


def location_to_dict(location: Location | None) -> dict[str, Any] | None:
    """The JSON shape of a location: one-based lines and columns, end exclusive; None when there is no text."""
    if location is None:
        return None
    (start, end) = location.span
    return {
        "uri": location.uri,
        "document": location.document,
        "range": {
            "start": {"line": start.line + 1, "column": start.column + 1},
            "end": {"line": end.line + 1, "column": end.column + 1},
        },
        "origin": None
        if location.origin is None
        else {
            "uri": location.origin.uri,
            "line": None if location.origin.line is None else location.origin.line + 1,
            "exact": location.origin.exact,
        },
    }


def place_to_dict(place: Place | None) -> dict[str, Any] | None:
    """The JSON shape of the location of a place."""
    return None if place is None else location_to_dict(place.location())


def worst_certainty(values: Iterable[Certainty]) -> Certainty:
    """The least certain of several certainties, `proved` for none."""
    order: tuple[Certainty, ...] = ("proved", "assumed", "catalog", "heuristic")
    return max(values, key=order.index, default="proved")
