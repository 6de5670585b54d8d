"""What is said of one pool: the parts of a pool report, for every kind of pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from unpend.model.pod import Taint
from unpend.placement.verdict import Verdict, place_to_dict
from unpend.records import dataclass, field
from unpend.source.place import Place

Kind = Literal["NodePool", "NodeGroup", "Node"]
Usable = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class MachineType:
    """One instance type of a pool: allocatable in thousandths, `price` in USD an hour on demand where it is known."""

    name: str
    allocatable: Mapping[str, int]
    price: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape; amounts as quantities."""
        from unpend.algebra.quantity import render

        amounts = {name: render(amount, name) for name, amount in self.allocatable.items() if amount}
        return {"type": self.name, "allocatable": amounts, "price": self.price}


@dataclass(frozen=True, slots=True)
class Breadth:
    """How much choice there is: instance types, and pairs of type and zone (None where the zones are not known)."""

    types: int
    pools: int | None


@dataclass(frozen=True, slots=True)
class Size:
    """How many nodes there are at least and at most; None where that is not bounded or not known."""

    minimum: int | None
    maximum: int | None


@dataclass(frozen=True, slots=True)
class Reach:
    """A workload that the pool takes (`fits`), perhaps takes (`conditional`), or makes nodes for in vain (`loop`)."""

    workload: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two pools that take the same pods; `first` is tried first.

    `types` are the instance types that both may launch, None where they cannot be compared. `weighted`: their weights
    differ, so the order is stated; without it the name decides (`karpenter.md` §1.7).
    """

    first: str
    second: str
    types: int | None
    weighted: bool


@dataclass(frozen=True, slots=True)
class PoolReport:
    """One pool, as far as it can be told from the files.

    `why` says why `usable` is not `yes`. `types` is None where no catalogue knows them. `order` is the place in which
    Karpenter tries the pool, from 1 on. `zones_known` is False where the subnets, and so the zones, are not known.
    """

    pool: str
    kind: Kind
    cluster: str
    usable: Usable
    why: str = ""
    semantics: str = ""
    node_class: str | None = None
    types: int | None = None
    architectures: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()
    zones_known: bool = True
    capacity_types: tuple[str, ...] = ()
    spot: Breadth | None = None
    on_demand: Breadth | None = None
    cheapest: MachineType | None = None
    largest: MachineType | None = None
    limits: Mapping[str, str] = field(default_factory=dict)
    size: Size | None = None
    autoscaler: str | None = None
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    weight: int | None = None
    order: int | None = None
    unknown: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    reach: tuple[Reach, ...] = ()
    overlaps: tuple[Overlap, ...] = ()
    place: Place | None = field(default=None, compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape (`pools.schema.json`)."""
        return {
            "pool": self.pool,
            "kind": self.kind,
            "cluster": self.cluster or None,
            "usable": self.usable,
            "why": self.why or None,
            "semantics": self.semantics or None,
            "nodeClass": self.node_class,
            "autoscaler": self.autoscaler,
            "order": self.order,
            "weight": self.weight,
            "types": self.types,
            "architectures": list(self.architectures),
            "zones": list(self.zones),
            "zonesKnown": self.zones_known,
            "capacityTypes": list(self.capacity_types),
            "spot": _breadth(self.spot),
            "onDemand": _breadth(self.on_demand),
            "cheapest": None if self.cheapest is None else self.cheapest.to_dict(),
            "largest": None if self.largest is None else self.largest.to_dict(),
            "limits": dict(self.limits),
            "size": None if self.size is None else {"minimum": self.size.minimum, "maximum": self.size.maximum},
            "taints": [_taint(taint) for taint in self.taints],
            "startupTaints": [_taint(taint) for taint in self.startup_taints],
            "unknown": list(self.unknown),
            "assumptions": list(self.assumptions),
            "workloads": [{"workload": r.workload, "verdict": r.verdict} for r in self.reach],
            "overlaps": [
                {
                    "pool": o.second if o.first == self.pool else o.first,
                    "triedFirst": o.first,
                    "weighted": o.weighted,
                    "types": o.types,
                }
                for o in self.overlaps
            ],
            "at": place_to_dict(self.place),
        }


def _breadth(breadth: Breadth | None) -> dict[str, int | None] | None:
    return None if breadth is None else {"types": breadth.types, "pools": breadth.pools}


def _taint(taint: Taint) -> dict[str, str]:
    return {"key": taint.key, "value": taint.value, "effect": taint.effect}


def by_size(machine: MachineType) -> tuple[int, int, str]:
    """Key by which machines are compared: cpu, then memory."""
    return machine.allocatable.get("cpu", 0), machine.allocatable.get("memory", 0), machine.name


def largest_of(machines: Iterable[MachineType]) -> MachineType | None:
    """The machine with most cpu, of equal ones with most memory; None for none."""
    return max(machines, key=by_size, default=None)
