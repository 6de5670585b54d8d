"""Catalogues that users write themselves, in the published form (`catalog.schema.json`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from unpend.algebra.quantity import QuantityError, milli
from unpend.algebra.values import ValueSet
from unpend.catalog.catalog import CatalogError, Zone
from unpend.catalog.index import OfferingGroup, Resources, Shapes, bits
from unpend.catalog.instance import InstanceType, Offering, exactly
from unpend.catalog.profile import NodeProfile
from unpend.model.node_labels import AWS_ZONE_ID, CAPACITY_TYPE, INSTANCE_TYPE, ZONE

Amounts = tuple[tuple[str, int], ...]
Sections = tuple[tuple[str, Amounts], ...]
Key = tuple[str, str, str, bool, tuple[tuple[str, str], ...], Amounts, Sections]


class OwnCatalog:
    """Instance types that a user listed; they do not depend on node class or region."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        """Takes data that `own_catalog` has checked. Raises `CatalogError` for a quantity that is none."""
        self.name: str = data["name"]
        self.date: str = data.get("date", "")
        self.source: str = data.get("source", "")
        self.provides = tuple((one["group"], one["kind"]) for one in data["provides"])
        self.pools = frozenset(data["nodePools"]) if "nodePools" in data else None
        self.well_known = frozenset(data.get("wellKnownLabels", ()))
        self.complete: bool = data.get("complete", True)
        self.types = tuple(_type(position, one) for position, one in enumerate(data["instanceTypes"]))
        self.names = tuple(one.name for one in self.types)
        # Types that say nothing of offerings are sold wherever the pool runs.
        self._anywhere = sum(1 << n for n, one in enumerate(data["instanceTypes"]) if "offerings" not in one)
        self._sections = tuple(_sections(one.get("overhead", {}), ()) for one in data["instanceTypes"])
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self._masks: dict[str, dict[str, int]] = {}
        for number, one in enumerate(self.types):
            for key, values in one.labels.items():
                for value in values:
                    masks = self._masks.setdefault(key, {})
                    masks[value] = masks.get(value, 0) | 1 << number
        self._shapes: dict[tuple[str | None, tuple[Zone, ...]], Shapes] = {}

    def knows(self, type_name: str) -> bool:
        """Whether the catalogue can tell about a type; a complete one can about every name."""
        return self.complete or type_name in self._numbers

    def number(self, type_name: str) -> int | None:
        """The number of a type, None when it is not in the catalogue."""
        return self._numbers.get(type_name)

    def unknown(self, key: str, allowed: ValueSet) -> str | None:
        """A listed value that no type has, where the catalogue is not complete."""
        known = self._masks.get(key)
        if self.complete or known is None or allowed.form != "listed":
            return None
        news = sorted(allowed.names - known.keys())
        return f"{key} {', '.join(news)}" if news else None

    def shapes(
        self, profile: NodeProfile | None = None, region: str | None = None, zones: Sequence[Zone] = ()
    ) -> Shapes:
        """The types; `zones` are where those without offerings are sold."""
        key = (region, tuple(zones))
        found = self._shapes.get(key)
        if found is None:
            groups = tuple(self._groups(zones))
            found = self._shapes[key] = Shapes(
                self.names,
                lambda label: self._label_masks(label, groups),
                Resources(_columns(self.types), len(self.types)),
                groups,
                self.types.__getitem__,
                region,
                capacity=lambda: Resources(_columns(self.types, "capacity"), len(self.types)),
            )
        return found

    def _label_masks(self, key: str, groups: Sequence[OfferingGroup]) -> Mapping[str, int]:
        masks = self._masks.get(key, {})
        if not self._anywhere or key not in (ZONE, AWS_ZONE_ID, CAPACITY_TYPE):
            return masks
        masks = dict(masks)
        for group in groups:
            for name, value in group.values(None):
                if name == key:
                    masks[value] = masks.get(value, 0) | group.possible & self._anywhere
        return masks

    def _groups(self, zones: Sequence[Zone]) -> Iterator[OfferingGroup]:
        found: dict[Key, dict[int, Offering]] = {}
        for number, one in enumerate(self.types):
            for offering in one.offerings:
                key = (
                    offering.zone,
                    offering.zone_id,
                    offering.capacity_type,
                    offering.available,
                    offering.labels,
                    offering.capacity,
                    offering.overhead,
                )
                found.setdefault(key, {})[number] = offering
        if self._anywhere:
            for zone in zones or (Zone(),):
                sold = found.setdefault((zone.name, zone.id, "on-demand", True, (), (), ()), {})
                sold.update({n: Offering(zone.name, "on-demand", zone_id=zone.id) for n in bits(self._anywhere)})
        for (zone_name, zone_id, capacity_type, available, labels, capacity, overhead), members in found.items():
            mask = sum(1 << number for number in members)
            yield OfferingGroup(
                zone_name,
                zone_id,
                capacity_type,
                mask,
                mask,
                available,
                labels,
                self._overridden(capacity, overhead, members) if capacity or overhead else None,
                {number: one.price for number, one in members.items() if one.price is not None},
                {number: one.count for number, one in members.items() if one.count is not None},
            )

    def _overridden(self, capacity: Amounts, overhead: Sections, members: Mapping[int, Offering]) -> Resources:
        """The amounts of nodes from offerings that change capacity or overhead (7.3)."""
        types = list(self.types)
        for number in members:
            one = types[number]
            amounts = {name: amount.low for name, amount in one.capacity.items()} | dict(capacity)
            sections = {name: dict(part) for name, part in self._sections[number]}
            for section, part in overhead:
                sections.setdefault(section, {}).update(part)
            types[number] = InstanceType(one.name, one.labels, one.capacity, _allocatable(amounts, sections))
        return Resources(_columns(types), len(types))


def own_catalog(data: Any) -> OwnCatalog:
    """Reads a catalogue from parsed YAML or JSON. Raises `CatalogError` with every problem found."""
    from jsonschema import Draft202012Validator

    from unpend_schemas import load_json

    problems: list[tuple[tuple[str | int, ...], str]] = []
    for error in Draft202012Validator(load_json("catalog.schema.json")).iter_errors(data):
        problems.append((tuple(error.absolute_path), error.message))
    if problems:
        raise CatalogError(sorted(problems, key=lambda problem: tuple(map(str, problem[0]))))
    seen: set[str] = set()
    for position, one in enumerate(data["instanceTypes"]):
        if one["name"] in seen:
            problems.append((("instanceTypes", position, "name"), f"{one['name']} is listed twice"))
        seen.add(one["name"])
    if problems:
        raise CatalogError(problems)
    return OwnCatalog(data)


def _type(position: int, data: Mapping[str, Any]) -> InstanceType:
    path = ("instanceTypes", position)
    capacity = dict(_amounts(data["capacity"], (*path, "capacity")))
    sections = _sections(data.get("overhead", {}), (*path, "overhead"))
    offerings = tuple(
        _offering(one, (*path, "offerings", number)) for number, one in enumerate(data.get("offerings", ()))
    )
    labels = {INSTANCE_TYPE: (data["name"],)}
    for key, pick in ((ZONE, "zone"), (AWS_ZONE_ID, "zone_id"), (CAPACITY_TYPE, "capacity_type")):
        values = dict.fromkeys(getattr(one, pick) for one in offerings if getattr(one, pick))
        if values:
            labels[key] = tuple(values)
    for key, value in data.get("labels", {}).items():
        labels[key] = (value,) if isinstance(value, str) else tuple(value)
    return InstanceType(
        data["name"],
        {key: values for key, values in labels.items() if values},
        {name: exactly(amount) for name, amount in capacity.items()},
        _allocatable(capacity, {section: dict(part) for section, part in sections}),
        offerings,
    )


def _offering(data: Mapping[str, Any], path: tuple[str | int, ...]) -> Offering:
    return Offering(
        data.get("zone", ""),
        data.get("capacityType", "on-demand"),
        data.get("price"),
        data.get("available", True),
        data.get("zoneId", ""),
        tuple(sorted(data.get("labels", {}).items())),
        _amounts(data.get("capacity", {}), (*path, "capacity")),
        _sections(data.get("overhead", {}), (*path, "overhead")),
        data.get("count"),
    )


def _amounts(data: Mapping[str, Any], path: tuple[str | int, ...]) -> Amounts:
    amounts = []
    for name, text in data.items():
        try:
            amounts.append((name, milli(text)))
        except QuantityError as error:
            raise CatalogError([((*path, name), str(error))]) from error
    return tuple(amounts)


def _sections(data: Mapping[str, Any], path: tuple[str | int, ...]) -> Sections:
    return tuple((section, _amounts(part, (*path, section))) for section, part in data.items())


def _allocatable(capacity: Mapping[str, int], sections: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    amounts = dict(capacity)
    for part in sections.values():
        for name, amount in part.items():
            amounts[name] = amounts.get(name, 0) - amount
    return {name: exactly(amount) for name, amount in amounts.items()}


def _columns(
    types: Sequence[InstanceType], which: Literal["allocatable", "capacity"] = "allocatable"
) -> dict[str, tuple[Sequence[int], Sequence[int]]]:
    """Allocatable (or capacity) as columns; the amounts of an own catalogue are known exactly."""
    columns: dict[str, tuple[Sequence[int], Sequence[int]]] = {}
    amounts = [getattr(one, which) for one in types]
    for name in dict.fromkeys(name for one in amounts for name in one):
        column = [one[name].low if name in one else 0 for one in amounts]
        columns[name] = column, column
    return columns
