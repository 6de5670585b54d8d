"""`NodeGroup` of `unpend.dev/v1`: our own kind, for groups that no format here declares (`docs/node-groups.md`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import boolean, count, integer, mapping, text, texts, under
from unpend.model.karpenter import Kubelet
from unpend.model.karpenter_fields import check_fields
from unpend.model.metadata import identity, labels
from unpend.model.node_groups.group import Named, NodeGroup, Planned, Provider, Size, Template, Unknown
from unpend.model.node_groups.taints import taint_list
from unpend.model.pod import Amount
from unpend.model.problems import Problems
from unpend.model.quantities import amount, resources
from unpend.model.selectors import unknown_word
from unpend.records import replace
from unpend.source.document import Object
from unpend.source.place import Place

_EMPTY: dict[str, Any] = {}
RULE = "autoscaler:§6"
FIELDS = frozenset(
    {
        "provider",
        "region",
        "minSize",
        "maxSize",
        "desiredSize",
        "instanceTypes",
        "zones",
        "capacityTypes",
        "labels",
        "taints",
        "startupTaints",
        "arch",
        "os",
        "windowsBuild",
        "capacity",
        "allocatable",
        "maxPods",
        "diskSize",
        "autoscaling",
        "planned",
    }
)
PLANNED = frozenset({"labels", "taints", "capacity"})
PROVIDERS: Mapping[str, tuple[Provider, Template]] = {
    "aws": ("aws", "asg"),
    "azure": ("azure", "azure"),
    "gcp": ("gcp", "actual"),
    "other": ("other", "actual"),
}
CAPACITY_TYPES = frozenset({"on-demand", "spot"})
ARCHITECTURES = frozenset({"amd64", "arm64"})
SYSTEMS = frozenset({"linux", "windows"})


def read_node_group(obj: Object, builder: Builder) -> None:
    """A NodeGroup of ours; illegal values are reported and make the group unusable."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec = mapping(obj.data, "spec", obj.root, problems) or _EMPTY
    place = under(obj.root, "spec")
    check_fields(spec, FIELDS, place, problems)
    provider, template = PROVIDERS[_word(spec, "provider", place, problems, frozenset(PROVIDERS), "other")]
    zones = _names(spec, "zones", place, problems)
    types = _names(spec, "instanceTypes", place, problems)
    size = _size(spec, place, problems)
    group = NodeGroup(
        name=who.name,
        source="NodeGroup",
        provider=provider,
        template=template,
        size=size,
        instance_types=types,
        hardware=resources(spec, "capacity", place, problems),
        allocatable=resources(spec, "allocatable", place, problems) if spec.get("allocatable") is not None else None,
        zones=zones,
        all_zones=bool(zones),
        several_zones=len(zones) > 1 if zones else None,
        zones_place=place.at("zones"),
        region=text(spec, "region", place, problems) or None,
        capacity_types=_capacity_types(spec, place, problems),
        capacity_place=place.at("capacityTypes"),
        arch=_word(spec, "arch", place, problems, ARCHITECTURES, "") or None,
        os=_word(spec, "os", place, problems, SYSTEMS, "linux"),
        windows_build=text(spec, "windowsBuild", place, problems) or None,
        labels=labels(spec, "labels", place, problems),
        taints=taint_list(spec, "taints", place, problems, RULE),
        startup_taints=taint_list(spec, "startupTaints", place, problems, RULE),
        planned=_planned(spec, place, problems),
        kubelet=_kubelet(spec, place, problems),
        disk=_disk(spec, place, problems),
        autoscaler_hint=_hint(spec, place, problems),
        unknowns=_unknowns(types, zones, spec, place),
        place=obj.root,
        object=obj,
    )
    builder.add("node_groups", replace(group, refusals=tuple(p for p in problems.found if p.refused)))
    builder.problems.found.extend(problems.found)


def _word(spec: dict[str, Any], key: str, place: Place, problems: Problems, known: frozenset[str], default: str) -> str:
    written = text(spec, key, place, problems)
    if not written:
        return default
    if written not in known:
        problems.refuse(under(place, key), unknown_word(written, key, known), RULE)
        return default
    return written


def _names(spec: dict[str, Any], key: str, place: Place, problems: Problems) -> tuple[Named, ...]:
    where = under(place, key)
    return tuple(Named(name, under(where, n)) for n, name in enumerate(texts(spec, key, place, problems)) if name)


def _size(spec: dict[str, Any], place: Place, problems: Problems) -> Size:
    low, high, desired = (count(spec, key, place, problems) for key in ("minSize", "maxSize", "desiredSize"))
    if low is None and high is None and desired is not None:
        low = high = desired
    if low is not None and high is not None and high < low:
        problems.refuse(place.at("maxSize"), f"maxSize {high} is smaller than minSize {low}", RULE)
    elif desired is not None and (desired < (low or 0) or (high is not None and desired > high)):
        problems.refuse(place.at("desiredSize"), f"desiredSize {desired} is not within minSize and maxSize", RULE)
    return Size(low if low is not None else 0, high, desired, place.at("minSize"), place.at("maxSize"))


def _capacity_types(spec: dict[str, Any], place: Place, problems: Problems) -> tuple[str, ...]:
    found = texts(spec, "capacityTypes", place, problems)
    for number, one in enumerate(found):
        if one not in CAPACITY_TYPES:
            where = place.at("capacityTypes", number)
            problems.refuse(where, unknown_word(one, "capacity type", CAPACITY_TYPES), RULE)
    return found or ("on-demand",)


def _planned(spec: dict[str, Any], place: Place, problems: Problems) -> Planned:
    data = mapping(spec, "planned", place, problems)
    if data is None:
        return Planned()
    here = under(place, "planned")
    check_fields(data, PLANNED, here, problems)
    return Planned(
        labels(data, "labels", here, problems) if data.get("labels") is not None else None,
        taint_list(data, "taints", here, problems, RULE) if data.get("taints") is not None else None,
        resources(data, "capacity", here, problems),
    )


def _kubelet(spec: dict[str, Any], place: Place, problems: Problems) -> Kubelet:
    limit = integer(spec, "maxPods", place, problems)
    return Kubelet(place=None) if limit is None else Kubelet(max_pods=limit, place=place.at("maxPods"))


def _disk(spec: dict[str, Any], place: Place, problems: Problems) -> Amount | None:
    value = spec.get("diskSize")
    return None if value is None else amount(value, place.at("diskSize"), problems)


def _hint(spec: dict[str, Any], place: Place, problems: Problems) -> Place | None:
    return place.at("autoscaling") if boolean(spec, "autoscaling", place, problems) else None


def _unknowns(
    types: tuple[Named, ...], zones: tuple[Named, ...], spec: dict[str, Any], place: Place
) -> tuple[Unknown, ...]:
    found = []
    if not types:
        found.append(Unknown("instance-types", "no instanceTypes are given", place.at("instanceTypes")))
    if not zones:
        found.append(Unknown("zones", "no zones are given", place.at("zones")))
    if spec.get("maxSize") is None and spec.get("desiredSize") is None:
        found.append(Unknown("size", "no maxSize is given", place.at("maxSize")))
    return tuple(found)
