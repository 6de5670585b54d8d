"""The AWS catalogue: types with their labels (karpenter 10.4), offerings by zone ID, prices."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from unpend.algebra.values import ValueSet, number_of
from unpend.catalog.allocatable import Hardware, allocatable, capacity
from unpend.catalog.catalog import Zone
from unpend.catalog.index import OfferingGroup, Resources, Shapes
from unpend.catalog.instance import InstanceType, Interval, Offering
from unpend.catalog.profile import WINDOWS_BUILDS, NodeProfile
from unpend.model.node_labels import ARCH, AWS_ZONE_ID, CAPACITY_TYPE, INSTANCE_TYPE, OS, REGION, WINDOWS_BUILD, ZONE

PREFIX = "karpenter.k8s.aws/"
INSTANCE = PREFIX + "instance-"
FAMILY = INSTANCE + "family"
GENERATION = INSTANCE + "generation"
TENANCY = INSTANCE + "tenancy"

SINCE: Mapping[str, tuple[int, int]] = {INSTANCE + "capability-flex": (1, 7), TENANCY: (1, 9)}
"""The version of Karpenter from which on a type has the label; others are older than v1."""

AmountsOf = Callable[[Hardware, NodeProfile], Mapping[str, Interval]]

_ZONE_NAME = re.compile(r"((?:[a-z]+-)+[0-9]+)(-[a-z0-9-]*[0-9])?[a-z]")
_TYPE_NAME = re.compile(r"([a-z]+)(?:-[0-9]+tb)?([0-9]+).*\.")
_OFFERED_AS = (ZONE, AWS_ZONE_ID, REGION, CAPACITY_TYPE)


def region_of(zone_name: str) -> str | None:
    """`eu-west-1` of the zone name `eu-west-1a` or of the local zone `eu-west-1-lhr-1a`; None when it is neither."""
    parsed = _ZONE_NAME.fullmatch(zone_name)
    return parsed[1] if parsed else None


class AwsCatalog:
    """EC2 instance types, as they ship with unpend or of the same format."""

    name = "aws"
    provides = (("karpenter.k8s.aws", "EC2NodeClass"),)
    pools: frozenset[str] | None = None
    complete = False

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.date: str = data["date"]
        self.source: str = data["source"]
        self.names: tuple[str, ...] = tuple(data["names"])
        self.all = (1 << len(self.names)) - 1
        self.prices_date: str = data["prices"]["date"]
        self._data = data
        self._columns: Mapping[str, Sequence[Any]] = data["columns"]
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._never = frozenset(data["notOffered"])
        self._masks: dict[str, Mapping[str, int]] = {}
        self._shapes: dict[tuple[NodeProfile, str | None, tuple[Zone, ...]], Shapes] = {}
        self._resources: dict[tuple[NodeProfile, AmountsOf], Resources] = {}
        self._classes: dict[bool, list[tuple[Hardware, list[int]]]] = {}
        self.well_known = frozenset(LABELS) - {INSTANCE_TYPE, ARCH} | _RESERVATION_LABELS | {AWS_ZONE_ID}

    # What is known

    def knows(self, type_name: str) -> bool:
        """Whether the catalogue has the type, or knows that Karpenter never offers it (Macs)."""
        return type_name in self._numbers or type_name in self._never

    def number(self, type_name: str) -> int | None:
        """The number of a type, None when it is not in the catalogue."""
        return self._numbers.get(type_name)

    def knows_family(self, family: str) -> bool:
        """Whether some type of the family (`m5d`) is known."""
        return family in self.masks(FAMILY) or any(name.split(".")[0] == family for name in self._never)

    def zone_ids(self, region: str) -> tuple[str, ...]:
        """The zone IDs of a region, empty when the region is unknown."""
        return tuple(self._data["offerings"].get(region, ()))

    def unknown(self, key: str, allowed: ValueSet) -> str | None:
        """What a requirement on a type label asks for that may exist without the catalogue knowing it.

        A listed value that no type has counts, and a number above all known ones. A requirement that some known type
        meets as well can still name something unknown.
        """
        if key not in LABELS or key in (ARCH, OS, TENANCY):
            return None
        known = self.masks(key)
        short = key.rpartition("/")[2]
        if allowed.form == "listed":
            news = sorted(value for value in allowed.names if value not in known and not self._ruled_out(key, value))
            return f"{short} {', '.join(news)}" if news else None
        if allowed.form == "numbers":
            numbers = [n for n in map(number_of, known) if n is not None]
            if numbers and allowed.high > max(numbers) and allowed.low > max(numbers):
                return f"{short} above {max(numbers)}"
        return None

    def _ruled_out(self, key: str, value: str) -> bool:
        """Whether a value that no type has is surely the value of no other type either."""
        if key == INSTANCE_TYPE:
            return value in self._never
        if key in _CLOSED:
            return True
        return key == FAMILY and self.knows_family(value)

    # Labels

    def masks(self, key: str) -> Mapping[str, int]:
        """The mask of the types per value of a label of the type itself."""
        found = self._masks.get(key)
        if found is None:
            label = LABELS.get(key)
            numbers: dict[Value, list[int]] = {}
            if label is not None:
                read = label(self)
                for number in range(len(self.names)):
                    numbers.setdefault(read(number), []).append(1 << number)
            masks: dict[str, int] = {}
            for value, ones in numbers.items():
                for one in value if isinstance(value, tuple) else (value,):
                    if one is not None:
                        masks[one] = masks.get(one, 0) | sum(ones)
            found = self._masks[key] = masks
        return found

    def _system_masks(self, key: str, profile: NodeProfile) -> Mapping[str, int]:
        """OS and Windows build: Windows nodes are amd64 only (M-10)."""
        if not profile.windows:
            return {"linux": self.all} if key == OS else {}
        mask = self.masks(ARCH)["amd64"]
        return {"windows" if key == OS else WINDOWS_BUILDS[profile.ami_family]: mask}

    def _label_masks(self, key: str, profile: NodeProfile, groups: Sequence[OfferingGroup], region: str | None) -> Any:
        if key in (OS, WINDOWS_BUILD):
            return self._system_masks(key, profile)
        if key in SINCE and profile.karpenter < SINCE[key]:
            return {}
        if key not in _OFFERED_AS:
            return self.masks(key)
        made: dict[str, int] = {}
        for group in groups:
            for name, value in group.values(region):
                if name == key:
                    made[value] = made.get(value, 0) | group.possible
        return made

    # Amounts

    def hardware(self, number: int) -> Hardware:
        """The facts that the resources of a type follow from."""
        columns = self._columns
        return Hardware(
            columns["arch"][number] == "arm64",
            columns["vcpu"][number],
            columns["memoryMiB"][number],
            columns["interfaces"][number],
            columns["ipv4PerInterface"][number],
            Interval(columns["branches"][number], columns["branchesAtMost"][number]),
            columns["localNvmeGB"][number],
            self._data["devices"].get(self.names[number], {}),
        )

    def _alike(self, disks: bool) -> list[tuple[Hardware, list[int]]]:
        """The types in classes of the same hardware; local disks tell two types apart only where they are used."""
        found = self._classes.get(disks)
        if found is None:
            classes: dict[Any, tuple[Hardware, list[int]]] = {}
            for number in range(len(self.names)):
                one = self.hardware(number)
                alike = (one.arm, one.cpu, one.memory, one.interfaces, one.addresses, one.branches)
                key = (alike, tuple(one.devices.items()), one.nvme if disks else None)
                classes.setdefault(key, (one, []))[1].append(number)
            found = self._classes[disks] = list(classes.values())
        return found

    def resources(self, profile: NodeProfile, of: AmountsOf = allocatable) -> Resources:
        """Allocatable (or capacity) of all types under a profile."""
        found = self._resources.get((profile, of))
        if found is None:
            count = len(self.names)
            lows: dict[str, list[int]] = {}
            highs: dict[str, list[int]] = {}
            for hardware, numbers in self._alike(profile.raid0):
                for name, (low, high) in of(hardware, profile).items():
                    if name not in lows:
                        lows[name], highs[name] = [0] * count, [0] * count
                    low_column, high_column = lows[name], highs[name]
                    for number in numbers:
                        low_column[number] = low
                        high_column[number] = high
            columns = {name: (low, low if low == highs[name] else highs[name]) for name, low in lows.items()}
            found = self._resources[profile, of] = Resources(columns, count)
        return found

    # Offerings and prices

    def price(self, type_name: str, region: str | None) -> float | None:
        """On-demand USD an hour in a region; None when the catalogue has none."""
        number = self._numbers.get(type_name)
        table = self._data["prices"]["regions"].get(region)
        return table[number] if table and number is not None else None

    def sold(self, region: str | None, zone: Zone) -> tuple[int, int]:
        """Masks of the types that surely, and that possibly, are sold in a zone.

        By zone ID it is exact. A name alone stands for any zone of the region: surely there is what all of them sell.
        An unknown region, or a local zone, may sell anything.
        """
        zones = self._data["offerings"].get(region or region_of(zone.name))
        if zones is None:
            return 0, self.all
        if zone.id:
            mask = int(zones[zone.id], 16) if zone.id in zones else None
            return (0, self.all) if mask is None else (mask, mask)
        parsed = _ZONE_NAME.fullmatch(zone.name)
        if parsed and parsed[2]:
            return 0, self.all
        sure, possible = self.all, 0
        for text in zones.values():
            mask = int(text, 16)
            sure &= mask
            possible |= mask
        return sure, possible

    def _groups(self, region: str | None, zones: Sequence[Zone]) -> tuple[OfferingGroup, ...]:
        if not zones:
            zones = tuple(Zone(id=one) for one in self.zone_ids(region or "")) or (Zone(),)
        spot = sum(1 << number for number, sold in enumerate(self._columns["spot"]) if sold)
        table = self._data["prices"]["regions"].get(region)
        prices = {n: price for n, price in enumerate(table) if price is not None} if table else {}
        groups = []
        for zone in zones:
            sure, possible = self.sold(region, zone)
            groups.append(OfferingGroup(zone.name, zone.id, "on-demand", sure, possible, prices=prices))
            groups.append(OfferingGroup(zone.name, zone.id, "spot", sure & spot, possible & spot))
        return tuple(groups)

    # The whole

    def shapes(
        self, profile: NodeProfile | None = None, region: str | None = None, zones: Sequence[Zone] = ()
    ) -> Shapes:
        """The types under a profile; without `zones`, those of the region by zone ID (their names are then unknown)."""
        profile = profile or NodeProfile()
        key = (profile, region, tuple(zones))
        found = self._shapes.get(key)
        if found is None:
            groups = self._groups(region, zones)
            found = self._shapes[key] = Shapes(
                self.names,
                lambda label: self._label_masks(label, profile, groups, region),
                self.resources(profile),
                groups,
                lambda number: self._type(number, profile, groups, region),
                region,
                (ZONE, AWS_ZONE_ID, REGION),
                lambda: self.resources(profile, capacity),
            )
        return found

    def _type(
        self, number: int, profile: NodeProfile, groups: Sequence[OfferingGroup], region: str | None
    ) -> InstanceType:
        labels: dict[str, tuple[str, ...]] = {}
        for key in chain(LABELS, (OS, WINDOWS_BUILD), _OFFERED_AS):
            masks = self._label_masks(key, profile, groups, region)
            values = tuple(value for value, mask in masks.items() if mask >> number & 1)
            if values:
                labels[key] = values
        hardware = self.hardware(number)
        offerings = tuple(
            Offering(group.zone, group.capacity_type, group.prices.get(number), zone_id=group.zone_id)
            for group in groups
            if group.possible >> number & 1
        )
        return InstanceType(
            self.names[number], labels, capacity(hardware, profile), allocatable(hardware, profile), offerings
        )


Value = str | tuple[str, ...] | None
Reader = Callable[[int], Value]


def _column(name: str) -> Callable[[AwsCatalog], Reader]:
    """A label that is a column; None and a missing number give no label."""

    def label(catalog: AwsCatalog) -> Reader:
        column = catalog._columns[name]
        return lambda number: None if column[number] is None else str(column[number])

    return label


def _named(pick: Callable[[str], Value]) -> Callable[[AwsCatalog], Reader]:
    """A label that follows from the name of the type."""
    return lambda catalog: lambda number: pick(catalog.names[number])


def _device(table: str, position: int) -> Callable[[AwsCatalog], Reader]:
    """A label of types with a GPU or accelerator only."""

    def label(catalog: AwsCatalog) -> Reader:
        rows: Mapping[str, Sequence[Any]] = catalog._data[table]

        def read(number: int) -> Value:
            row = rows.get(catalog.names[number])
            return str(row[position]) if row else None

        return read

    return label


def _encryption(catalog: AwsCatalog) -> Reader:
    column = catalog._columns["encryption"]
    return lambda number: "true" if column[number] else "false"


def _part(group: int) -> Callable[[str], Value]:
    def pick(name: str) -> Value:
        parsed = _TYPE_NAME.match(name)
        return parsed[group] if parsed else None

    return pick


LABELS: Mapping[str, Callable[[AwsCatalog], Reader]] = {
    INSTANCE_TYPE: _named(lambda name: name),
    ARCH: _column("arch"),
    INSTANCE + "category": _named(_part(1)),
    FAMILY: _named(lambda name: name.split(".")[0]),
    GENERATION: _named(_part(2)),
    INSTANCE + "size": _named(lambda name: name.split(".")[1]),
    INSTANCE + "cpu": _column("vcpu"),
    INSTANCE + "cpu-manufacturer": _column("cpuManufacturer"),
    INSTANCE + "cpu-sustained-clock-speed-mhz": _column("clockMHz"),
    INSTANCE + "memory": _column("memoryMiB"),
    INSTANCE + "ebs-bandwidth": _column("ebsMbps"),
    INSTANCE + "network-bandwidth": _column("networkMbps"),
    INSTANCE + "local-nvme": _column("localNvmeGB"),
    INSTANCE + "hypervisor": _column("hypervisor"),
    INSTANCE + "encryption-in-transit-supported": _encryption,
    INSTANCE + "capability-flex": _named(lambda name: "true" if "-flex" in name else "false"),
    TENANCY: _named(lambda name: ("default", "dedicated")),
    INSTANCE + "gpu-name": _device("gpus", 0),
    INSTANCE + "gpu-manufacturer": _device("gpus", 1),
    INSTANCE + "gpu-count": _device("gpus", 2),
    INSTANCE + "gpu-memory": _device("gpus", 3),
    INSTANCE + "accelerator-name": _device("accelerators", 0),
    INSTANCE + "accelerator-manufacturer": _device("accelerators", 1),
    INSTANCE + "accelerator-count": _device("accelerators", 2),
}
"""The labels of a type by key (karpenter 10.4): how to read them."""

_CLOSED = frozenset(
    {INSTANCE + "capability-flex", INSTANCE + "encryption-in-transit-supported", INSTANCE + "hypervisor"}
)
"""Labels whose values cannot be new ones."""

_RESERVATION_LABELS = frozenset(
    PREFIX + name
    for name in (
        "capacity-reservation-id",
        "capacity-reservation-type",
        "capacity-reservation-interruptible",
        "placement-group-id",
        "placement-group-partition",
    )
)


@lru_cache(maxsize=1)
def aws_catalog() -> AwsCatalog:
    """The catalogue that ships with unpend, read once."""
    from unpend_schemas import load_json

    return AwsCatalog(load_json("catalog/aws.json"))
