"""An indexed set of node shapes: every question about one constraint is answered for all shapes at once, as a bit mask.

A shape is one concrete node as one decider sees it. What is not known of it is a value set (labels) or an interval
(free resources), so every answer is a pair of masks: the shapes that surely accept, and those that possibly do. For
Node objects both are equal, except where DaemonSets do not fit side by side.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from unpend.algebra.syntax import is_label_value
from unpend.algebra.taints import FILTERING_EFFECTS, untolerated
from unpend.algebra.values import ValueSet
from unpend.model.pod import ContainerPort, Taint, Toleration
from unpend.placement.volumes import Attached, Disk, Mount
from unpend.records import dataclass, field
from unpend.source.place import Place


class Masks(NamedTuple):
    """The shapes that surely accept and those that possibly do; the first is part of the second."""

    sure: int
    possible: int

    def both(self, other: Masks) -> Masks:
        """Accepted by this and by the other."""
        return Masks(self.sure & other.sure, self.possible & other.possible)

    def either(self, other: Masks) -> Masks:
        """Accepted by this or by the other."""
        return Masks(self.sure | other.sure, self.possible | other.possible)


class Interval(NamedTuple):
    """An amount that lies between two bounds, both included."""

    low: int
    high: int


ZERO = Interval(0, 0)


class Provenance(Protocol):
    """Where the properties of a shape were written, for the other side of an obstacle."""

    @property
    def owner(self) -> str:
        """The object, such as `Node/worker-1`."""

    def name(self) -> Place:
        """The name of the node."""

    def label(self, key: str) -> Place:
        """The label, or the place where it would stand; the labels altogether for an empty key."""

    def resource(self, resource: str) -> Place:
        """The allocatable amount, or the place where it would stand."""

    def unschedulable(self) -> Place:
        """The cordon."""


@dataclass(frozen=True, slots=True)
class TakenPort:
    """A host port in use; `sure` is False when its owner perhaps does not run there."""

    port: ContainerPort
    owner: str
    sure: bool = True


class TakenDisk(NamedTuple):
    """A disk that a pod on the node names itself."""

    disk: Disk
    owner: str


class Attachment(NamedTuple):
    """A volume of a CSI driver that a pod on the node uses."""

    owner: str
    volume: Attached


class ForeignClaim(NamedTuple):
    """The claim of a generic ephemeral volume of a pod on the node that does not belong to that pod."""

    owner: str
    volume: Mount


@dataclass(frozen=True, slots=True)
class Shape:
    """One concrete node. `name` is None for a node that does not exist yet.

    `labels` maps to a value, or to the set of values that it may have; a key that is not there is surely absent.
    `allocatable` and `free` (what bound pods and DaemonSets leave) are in the units of `Demand.requests`; a missing
    resource is zero (P-715). `slots` counts the pods that can still be added. `attach_limits` says of some CSI drivers
    how many of their volumes the node takes; `attached` and `disks` are in use. Where there are `foreign_claims`,
    volumes cannot be counted. `leaving` are pods that are terminating: what they hold is free once they are gone.
    """

    name: str | None
    labels: Mapping[str, str | ValueSet]
    taints: tuple[Taint, ...]
    unschedulable: bool
    allocatable: Mapping[str, int]
    free: Mapping[str, Interval]
    slots: Interval
    ports: tuple[TakenPort, ...]
    source: Provenance = field(compare=False, repr=False)
    disks: tuple[TakenDisk, ...] = ()
    attached: tuple[Attachment, ...] = ()
    attach_limits: Mapping[str, int] = field(default_factory=dict)
    foreign_claims: tuple[ForeignClaim, ...] = ()
    leaving: tuple[str, ...] = ()


class LabelIndex:
    """Label key → value → mask, with the answers to (key, value set) kept."""

    def __init__(self, views: Sequence[Mapping[str, str | ValueSet]]) -> None:
        self.everything = (1 << len(views)) - 1
        self._values: dict[str, dict[str, int]] = {}
        self._sets: dict[str, dict[ValueSet, int]] = {}
        self._odd: dict[str, dict[str, int]] = {}
        self._known: dict[str, int] = {}
        self._memo: dict[tuple[str, ValueSet], Masks] = {}
        for number, view in enumerate(views):
            self._add(1 << number, view)

    def _add(self, bit: int, view: Mapping[str, str | ValueSet]) -> None:
        for key, value in view.items():
            self._known[key] = self._known.get(key, 0) | bit
            if isinstance(value, str):
                by_value = self._values.setdefault(key, {})
                by_value[value] = by_value.get(value, 0) | bit
                if value and not is_label_value(value):
                    odd = self._odd.setdefault(key, {})
                    odd[value] = odd.get(value, 0) | bit
            else:
                by_set = self._sets.setdefault(key, {})
                by_set[value] = by_set.get(value, 0) | bit

    @property
    def keys(self) -> Iterable[str]:
        """Every key that some shape carries, or may carry."""
        return self._known.keys()

    def values(self, key: str) -> Mapping[str, int]:
        """The known values of a key, each with the shapes that have it."""
        return self._values.get(key, {})

    def odd(self, key: str) -> Mapping[str, int]:
        """Values of a key that are no label values: value sets say nothing about them (the API refuses such nodes)."""
        return self._odd.get(key, {})

    def ask(self, key: str, wanted: ValueSet) -> Masks:
        """The shapes whose label is in the set."""
        memo = self._memo.get((key, wanted))
        if memo is None:
            memo = self._memo[key, wanted] = self._ask(key, wanted)
        return memo

    def _ask(self, key: str, wanted: ValueSet) -> Masks:
        mask = self.everything & ~self._known.get(key, 0) if wanted.admits_absent else 0
        by_value = self._values.get(key, {})
        listed = wanted.values
        if listed is not None and len(listed) < len(by_value):
            for value in listed:
                mask |= by_value.get(value, 0)
        else:
            for value, bits in by_value.items():
                if wanted.admits(value):
                    mask |= bits
        sure = possible = mask
        for known, bits in self._sets.get(key, {}).items():
            relation = known.relation(wanted)
            if relation != "never":
                possible |= bits
            if relation == "surely":
                sure |= bits
        return Masks(sure, possible)


class AmountIndex:
    """Amounts of one resource, sorted, with the mask of all shapes that have at least so much."""

    def __init__(self, amounts: Iterable[tuple[int, int]]) -> None:
        ordered = sorted((amount, bit) for amount, bit in amounts if amount > 0)
        self._amounts: list[int] = [amount for amount, _ in ordered]
        self._masks = [0] * (len(ordered) + 1)
        for index in range(len(ordered) - 1, -1, -1):
            self._masks[index] = self._masks[index + 1] | ordered[index][1]

    def richest(self, mask: int) -> int | None:
        """The first of the shapes of a mask that have most; None when none of them has any."""
        low, high = -1, len(self._amounts) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if self._masks[middle] & mask:
                low = middle
            else:
                high = middle - 1
        if low < 0:
            return None
        most = self._masks[bisect_left(self._amounts, self._amounts[low])] & mask
        return (most & -most).bit_length() - 1

    def at_least(self, amount: int) -> int:
        """The shapes that have at least this (positive) amount."""
        return self._masks[bisect_left(self._amounts, amount)]


class Space:
    """A catalogue of shapes with one bit each, in the order given.

    `like` is a space of the same nodes that differs in what is free only: its labels and taints need no new index.
    `disked` are the shapes on which inline disks are in use, `limited` those that say how many volumes they take,
    `uncounted` those of them on which the volumes cannot be counted.
    """

    disked = 0
    limited = 0
    uncounted = 0

    def __init__(self, shapes: Sequence[Shape], like: Space | None = None) -> None:
        self.shapes: Sequence[Shape] = tuple(shapes)
        self.everything = (1 << len(self.shapes)) - 1
        self.labels: LabelIndex = like.labels if like else LabelIndex([shape.labels for shape in self.shapes])
        self._names = {shape.name: 1 << n for n, shape in enumerate(self.shapes) if shape.name is not None}
        self.cordoned = self._mask(n for n, shape in enumerate(self.shapes) if shape.unschedulable)
        self._taint_sets: dict[tuple[Taint, ...], int] = {}
        for number, shape in enumerate(self.shapes):
            filtering = tuple(taint for taint in shape.taints if taint.effect in FILTERING_EFFECTS)
            if filtering:
                self._taint_sets[filtering] = self._taint_sets.get(filtering, 0) | 1 << number
        self._free: dict[str, tuple[AmountIndex, AmountIndex]] = {}
        self._ports = self._index_ports()
        self._tolerated: dict[tuple[Toleration, ...], int] = {}
        self.memo: dict[object, Masks] = {}
        self.disked = self._mask(n for n, shape in enumerate(self.shapes) if shape.disks)
        self.limited = self._mask(n for n, shape in enumerate(self.shapes) if shape.attach_limits)
        self.uncounted = self._mask(n for n in self.bits(self.limited) if self.shapes[n].foreign_claims)
        self.slots = Masks(
            self._mask(n for n, shape in enumerate(self.shapes) if shape.slots.low > 0),
            self._mask(n for n, shape in enumerate(self.shapes) if shape.slots.high > 0),
        )

    @staticmethod
    def _mask(numbers: Iterable[int]) -> int:
        mask = 0
        for number in numbers:
            mask |= 1 << number
        return mask

    def _index_ports(self) -> dict[tuple[str, int], dict[str, Masks]]:
        taken: dict[tuple[str, int], dict[str, Masks]] = {}
        for number, shape in enumerate(self.shapes):
            bit = 1 << number
            for use in shape.ports:
                by_address = taken.setdefault((use.port.protocol, use.port.host_port), {})
                before = by_address.get(address_of(use.port), Masks(0, 0))
                by_address[address_of(use.port)] = before.either(Masks(bit if use.sure else 0, bit))
        return taken

    def named(self, name: str) -> int:
        """The shape of this name; a node that does not exist yet never has a name that somebody can know (P-511)."""
        return self._names.get(name, 0)

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The distinct taints that filter, in order of appearance."""
        return tuple(dict.fromkeys(taint for taints in self._taint_sets for taint in taints))

    def tainted(self, taint: Taint) -> int:
        """The shapes that carry this taint."""
        mask = 0
        for taints, bits in self._taint_sets.items():
            if taint in taints:
                mask |= bits
        return mask

    def tolerated(self, tolerations: tuple[Toleration, ...]) -> int:
        """The shapes all of whose filtering taints are covered (P-401, P-402)."""
        mask = self._tolerated.get(tolerations)
        if mask is None:
            mask = self.everything
            for taints, bits in self._taint_sets.items():
                if untolerated(tolerations, taints):
                    mask &= ~bits
            self._tolerated[tolerations] = mask
        return mask

    def with_free(self, resource: str, amount: int) -> Masks:
        """The shapes with at least this much of a resource left; everything for an amount of zero (P-713, P-714)."""
        if amount <= 0:
            return Masks(self.everything, self.everything)
        low, high = self._amounts(resource)
        return Masks(low.at_least(amount), high.at_least(amount))

    def richest(self, resource: str, mask: int) -> int:
        """The shape of a (non-empty) mask that possibly has most of a resource left, the first of equals."""
        found = self._amounts(resource)[1].richest(mask)
        return (mask & -mask).bit_length() - 1 if found is None else found

    def _amounts(self, resource: str) -> tuple[AmountIndex, AmountIndex]:
        indexes = self._free.get(resource)
        if indexes is None:
            free = [(shape.free.get(resource, ZERO), 1 << n) for n, shape in enumerate(self.shapes)]
            low = AmountIndex((interval.low, bit) for interval, bit in free)
            exact = all(interval.low == interval.high for interval, _ in free)
            high = low if exact else AmountIndex((interval.high, bit) for interval, bit in free)
            indexes = self._free[resource] = (low, high)
        return indexes

    def with_port(self, port: ContainerPort) -> Masks:
        """The shapes on which a host port is free (S-602)."""
        sure = possible = 0
        wanted = address_of(port)
        for address, bits in self._ports.get((port.protocol, port.host_port), {}).items():
            if WILDCARD in (address, wanted) or address == wanted:
                sure |= bits.sure
                possible |= bits.possible
        return Masks(self.everything & ~possible, self.everything & ~sure)

    def most_volumes(self, driver: str) -> Mapping[int, int]:
        """For shapes without a CSINode: how many volumes of a driver they take at most, with the shapes; none here."""
        return {}

    def bits(self, mask: int) -> Iterable[int]:
        """The numbers of the shapes in a mask, ascending."""
        while mask:
            low = mask & -mask
            yield low.bit_length() - 1
            mask ^= low


WILDCARD = "0.0.0.0"


def address_of(port: ContainerPort) -> str:
    """The address that a host port listens on; an empty one is the IPv4 wildcard, and only that one is (S-602)."""
    return port.host_ip or WILDCARD


def ports_clash(left: ContainerPort, right: ContainerPort) -> bool:
    """Whether two host ports cannot be open on one node (S-602)."""
    if left.host_port != right.host_port or left.protocol != right.protocol:
        return False
    addresses = (address_of(left), address_of(right))
    return WILDCARD in addresses or addresses[0] == addresses[1]
