"""Managed node groups of EKS in the fields of its API, whatever tool writes them (`cluster-autoscaler.md` §6.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from unpend.model.fields import integer, text, texts, under
from unpend.model.metadata import labels
from unpend.model.node_groups.group import Named, NodeGroup, Size, Unknown
from unpend.model.node_groups.images import of_ami_type
from unpend.model.node_groups.labels import (
    AWS_PERHAPS,
    CAPACITY_TYPE,
    CAPACITY_TYPES,
    MANAGED_PERHAPS,
    NODEGROUP,
    check_kubelet_labels,
)
from unpend.model.node_groups.sizes import eks_size
from unpend.model.node_groups.tags import resource_tags_only
from unpend.model.node_groups.taints import EKS_EFFECTS, taint_list
from unpend.model.pod import Amount
from unpend.model.problems import Problems, is_placeholder
from unpend.records import dataclass, replace
from unpend.source.document import Object
from unpend.source.place import Place

DEFAULT_TYPE = "t3.medium"
DEFAULT_DISK = 20
RULE = "autoscaler:§6.3"


@dataclass(frozen=True, slots=True)
class Names:
    """How a tool spells the fields of the EKS API; `sizes` and `taint` are the fields inside those two."""

    types: str = "instanceTypes"
    ami: str = "amiType"
    capacity: str = "capacityType"
    disk: str = "diskSize"
    labels: str = "labels"
    taints: str = "taints"
    taint: tuple[str, str, str] = ("key", "value", "effect")
    scaling: str = "scalingConfig"
    sizes: tuple[str, str, str] = ("minSize", "maxSize", "desiredSize")
    subnets: tuple[str, ...] = ("subnets", "subnetRefs")
    template: str = "launchTemplate"
    tags: str = "tags"

    @property
    def used(self) -> frozenset[str]:
        """The fields that decide something here."""
        plain = (
            self.types,
            self.ami,
            self.capacity,
            self.disk,
            self.labels,
            self.taints,
            self.scaling,
            self.template,
            self.tags,
        )
        return frozenset((*plain, *self.subnets))


@dataclass(frozen=True, slots=True)
class Source:
    """Where a group of the EKS API was found: its fields, and the names of those whose values nobody knows yet.

    `template_type` is the instance type of its launch template, where that is known.
    """

    object: Object
    data: dict[str, Any]
    place: Place
    name: str
    source: str
    unknown: Mapping[str, str]
    region: str | None = None
    zones: Mapping[str, str] | None = None
    template_type: Named | None = None


def eks_group(found: Source, names: Names, problems: Problems) -> NodeGroup:
    """The group, by the defaults of the EKS API. Fields in `unknown` are not read."""
    data = {key: value for key, value in found.data.items() if key not in found.unknown}
    place = found.place
    unknowns = [Unknown(what, found.unknown[key], place.at(key)) for key, what in _parts(names) if key in found.unknown]
    has_template = bool(found.data.get(names.template)) or names.template in found.unknown
    if has_template:
        unknowns.append(Unknown("kubelet", "the launch template can change the kubelet", place.at(names.template)))
    ami_type = text(data, names.ami, place, problems)
    image = of_ami_type(ami_type)
    if ami_type == "CUSTOM" or names.ami in found.unknown:
        unknowns.append(Unknown("kubelet", "the image is not one of EKS", place.at(names.ami)))
    declared = labels(data, names.labels, place, problems)
    check_kubelet_labels(declared, problems, "EKS refuses the group", "autoscaler:§6.1")
    capacity = _capacity(data, names, place, problems)
    zones, complete, several = _zones(found, data, names, unknowns)
    group = NodeGroup(
        name=found.name,
        source=found.source,
        provider="aws",
        template="eks",
        size=_size(found, data, names, problems),
        instance_types=_types(found, data, names, problems, has_template, unknowns),
        zones=zones,
        all_zones=complete,
        several_zones=several,
        zones_place=next((place.at(key) for key in names.subnets if data.get(key)), place),
        region=found.region,
        capacity_types=(CAPACITY_TYPES.get(capacity, "on-demand"),),
        capacity_place=place.at(names.capacity) if data.get(names.capacity) is not None else place,
        arch=image.arch,
        os=image.os,
        windows_build=image.windows_build,
        ami_family=image.family,
        labels=declared,
        taints=taint_list(data, names.taints, place, problems, RULE, EKS_EFFECTS, names.taint),
        provider_labels=_provider_labels(found, names, capacity),
        perhaps_labels=AWS_PERHAPS | MANAGED_PERHAPS,
        tags=resource_tags_only(labels(data, names.tags, place, problems, checked=False)),
        tags_place=place.at(names.tags),
        disk=_disk(data, names, place, problems, has_template),
        unknowns=tuple(unknowns),
        place=place,
        object=found.object,
    )
    return replace(group, refusals=tuple(problem for problem in problems.found if problem.refused))


def _parts(names: Names) -> Iterable[tuple[str, str]]:
    yield names.types, "instance-types"
    yield names.labels, "labels"
    yield names.taints, "taints"
    yield names.scaling, "size"
    for key in names.subnets:
        yield key, "zones"


def _provider_labels(found: Source, names: Names, capacity: str) -> dict[str, str]:
    given: dict[str, str] = {}
    if found.name and not is_placeholder(found.name):
        given[NODEGROUP] = found.name
    if names.capacity not in found.unknown:
        given[CAPACITY_TYPE] = capacity
    return given


def _capacity(data: dict[str, Any], names: Names, place: Place, problems: Problems) -> str:
    written = text(data, names.capacity, place, problems) or "ON_DEMAND"
    if written not in CAPACITY_TYPES and not is_placeholder(written):
        known = ", ".join(CAPACITY_TYPES)
        problems.refuse(place.at(names.capacity), f'"{written}" is no capacity type; it must be one of {known}', RULE)
        return "ON_DEMAND"
    return written


def _size(found: Source, data: dict[str, Any], names: Names, problems: Problems) -> Size:
    if names.scaling in found.unknown:
        where = found.place.at(names.scaling)
        return Size(None, None, None, where, where)
    value = data.get(names.scaling)
    if isinstance(value, list):
        # Tools that know no objects write a list of one.
        if value and isinstance(value[0], dict):
            from unpend.model.node_groups.sizes import eks_bounds

            return eks_bounds(value[0], found.place.at(names.scaling, 0), problems, names.sizes)
        data = {}
    return eks_size(data, names.scaling, found.place, problems, names.sizes)


def _types(
    found: Source,
    data: dict[str, Any],
    names: Names,
    problems: Problems,
    has_template: bool,
    unknowns: list[Unknown],
) -> tuple[Named, ...]:
    if any(one.field == "instance-types" for one in unknowns):
        return ()
    place = found.place
    where = place.at(names.types)
    listed = tuple(Named(n, under(where, i)) for i, n in enumerate(texts(data, names.types, place, problems)) if n)
    for one in listed:
        if is_placeholder(one.name):
            unknowns.append(Unknown("instance-types", f'"{one.name}" is a placeholder', one.place))
    if listed:
        return listed
    if found.template_type is not None:
        return (found.template_type,)
    if has_template:
        unknowns.append(
            Unknown("instance-types", "the instance type stands in the launch template", place.at(names.template))
        )
        return ()
    return (Named(DEFAULT_TYPE, place),)


def _zones(
    found: Source, data: dict[str, Any], names: Names, unknowns: list[Unknown]
) -> tuple[tuple[Named, ...], bool, bool | None]:
    key = next((key for key in names.subnets if isinstance(data.get(key), list) and data[key]), None)
    if key is None:
        if not any(one.field == "zones" for one in unknowns):
            unknowns.append(Unknown("zones", "the zones are those of the subnets", found.place))
        return (), False, None
    where = found.place.at(key)
    known = found.zones or {}
    zones = [(known.get(one) if isinstance(one, str) else None, where.at(n)) for n, one in enumerate(data[key])]
    named = {zone: Named(zone, place) for zone, place in zones if zone}
    complete = all(zone for zone, _ in zones)
    if not complete:
        unknowns.append(Unknown("zones", "the zones are those of the subnets, which this file does not tell", where))
    return tuple(named.values()), complete, len(named) > 1 if complete else len(zones) > 1


def _disk(data: dict[str, Any], names: Names, place: Place, problems: Problems, has_template: bool) -> Amount | None:
    size = integer(data, names.disk, place, problems)
    if size is None and has_template:
        return None
    where = place if size is None else place.at(names.disk)
    size = DEFAULT_DISK if size is None else size
    return Amount(size * 1024**3 * 1000, f"{size}Gi", where)
