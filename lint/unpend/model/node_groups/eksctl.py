"""ClusterConfig of eksctl: `nodeGroups` and `managedNodeGroups` (`cluster-autoscaler.md` §6.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from unpend.model.builder import Builder
from unpend.model.fields import boolean, entries, integer, mapping, sequence, text, texts, under
from unpend.model.karpenter import Kubelet
from unpend.model.metadata import identity, labels
from unpend.model.node_classes import kubelet
from unpend.model.node_groups.eksctl_fields import check_names
from unpend.model.node_groups.fargate import selectors
from unpend.model.node_groups.group import Named, NodeGroup, Planned, Unknown
from unpend.model.node_groups.images import Image, of_eksctl
from unpend.model.node_groups.labels import (
    AWS_PERHAPS,
    CAPACITY_TYPE,
    EKSCTL_CLUSTER,
    EKSCTL_GROUP,
    MANAGED_PERHAPS,
    NODEGROUP,
    check_kubelet_labels,
)
from unpend.model.node_groups.sizes import eksctl_size
from unpend.model.node_groups.tags import LABEL, TAINT, discovery_tag, resource_tags_only
from unpend.model.node_groups.taints import taint_list, taint_map
from unpend.model.pod import Amount, Label, Resources, Taint
from unpend.model.problems import Problems, is_placeholder
from unpend.records import replace
from unpend.source.document import Object
from unpend.source.place import Place

_EMPTY: dict[str, Any] = {}
DEFAULT_TYPE = "m5.large"
DEFAULT_VOLUME = 80
_GIB = 1024**3
_LIFECYCLE = "node-lifecycle"
_INSTANCE_ID = "alpha.eksctl.io/instance-id"
_MEMORY = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)\Z", re.IGNORECASE)
_MEMORY_UNITS = {"": _GIB, "gib": _GIB, "gi": _GIB, "g": _GIB, "gb": _GIB, "mib": 2**20, "mi": 2**20, "mb": 2**20}


class _Cluster(NamedTuple):
    """What a group takes from the rest of its ClusterConfig."""

    name: str
    region: str | None
    zones: tuple[Named, ...]
    subnets: Mapping[str, Named]


def read_cluster_config(obj: Object, builder: Builder) -> None:
    """The node groups of a ClusterConfig; Auto Mode makes nodes that no group declares."""
    problems = Problems()
    cluster = _cluster(obj, builder, problems)
    for key, managed in (("nodeGroups", False), ("managedNodeGroups", True)):
        for entry, place in entries(obj.data, key, obj.root, problems):
            own = Problems()
            found = _group(entry, place, own, cluster, managed, obj)
            refusals = tuple(problem for problem in own.found if problem.refused)
            builder.add("node_groups", replace(found, refusals=refusals))
            problems.found.extend(own.found)
    for entry, place in entries(obj.data, "fargateProfiles", obj.root, problems):
        for selector in selectors(entry, place):
            builder.add("fargate", selector)
    builder.problems.found.extend(problems.found)
    if _has_auto_mode(obj):
        builder.other(obj, "unread_capacity")


def _has_auto_mode(obj: Object) -> bool:
    """Whether EKS Auto Mode runs its own pools in the cluster (C-631)."""
    data = obj.data.get("autoModeConfig")
    return isinstance(data, dict) and data.get("enabled") is True and data.get("nodePools") != []


def _cluster(obj: Object, builder: Builder, problems: Problems) -> _Cluster:
    who = identity(obj, builder.settings, problems)
    region = text(who.data, "region", who.place, problems)
    zones = _names(obj.data, "availabilityZones", obj.root, problems)
    vpc = mapping(obj.data, "vpc", obj.root, problems) or _EMPTY
    subnets = mapping(vpc, "subnets", under(obj.root, "vpc"), problems) or _EMPTY
    by_name: dict[str, Named] = {}
    for kind in ("private", "public"):
        listed = subnets.get(kind)
        for name, one in listed.items() if isinstance(listed, dict) else ():
            place = obj.root.at("vpc", "subnets", kind, name)
            written = one.get("az") if isinstance(one, dict) else None
            zone = Named(written, place.at("az")) if isinstance(written, str) else Named(str(name), place)
            by_name.setdefault(str(name), zone)
            if isinstance(one, dict) and isinstance(one.get("id"), str):
                by_name.setdefault(one["id"], zone)
    if not zones:
        zones = tuple({zone.name: zone for zone in by_name.values()}.values())
    return _Cluster(who.name, region if region and not is_placeholder(region) else None, zones, by_name)


def _names(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> tuple[Named, ...]:
    where = under(place, key)
    return tuple(Named(name, under(where, n)) for n, name in enumerate(texts(owner, key, place, problems)) if name)


def _group(
    entry: dict[str, Any], place: Place, problems: Problems, cluster: _Cluster, managed: bool, obj: Object
) -> NodeGroup:
    name = text(entry, "name", place, problems)
    check_names(entry, place, problems)
    unknowns: list[Unknown] = []
    image = of_eksctl(text(entry, "amiFamily", place, problems))
    if entry.get("ami") is not None or entry.get("overrideBootstrapCommand") is not None:
        key = "ami" if entry.get("ami") is not None else "overrideBootstrapCommand"
        unknowns.append(
            Unknown("kubelet", "a custom image or start script decides what is left for pods", place.at(key))
        )
    types, hardware = _types(entry, place, problems, managed, unknowns)
    declared = labels(entry, "labels", place, problems)
    check_kubelet_labels(declared, problems, "eksctl refuses the group", "autoscaler:C-626")
    settings = Kubelet(place=None) if managed else kubelet(entry, "kubeletExtraConfig", place, problems)
    taints = _taints(entry, place, problems, managed)
    tags = _tags(entry, place, problems, declared, taints, managed)
    capacity, capacity_place = _capacity_types(entry, place, problems, managed)
    zones, complete, several = _zones(entry, place, problems, cluster, unknowns)
    return NodeGroup(
        name=name,
        source="eksctl managedNodeGroups" if managed else "eksctl nodeGroups",
        provider="aws",
        template="eks" if managed else "asg",
        size=eksctl_size(entry, place, problems, managed),
        instance_types=types,
        hardware=hardware,
        zones=zones,
        all_zones=complete,
        several_zones=several,
        zones_place=_first(entry, place, "availabilityZones", "localZones", "subnets"),
        region=cluster.region,
        capacity_types=capacity,
        capacity_place=capacity_place,
        os=image.os,
        windows_build=image.windows_build,
        ami_family=image.family,
        labels=declared,
        taints=taints,
        provider_labels=_provider_labels(name, cluster.name, image, capacity, entry, managed),
        perhaps_labels=_perhaps_labels(entry, managed),
        tags=tags,
        tags_place=_first(entry, place, "tags"),
        planned=Planned(),
        kubelet=_max_pods(settings, entry, place, problems),
        disk=_disk(entry, place, problems),
        autoscaler_hint=_hint(entry, place, tags),
        unknowns=tuple(unknowns),
        place=place,
        object=obj,
    )


def _first(entry: dict[str, Any], place: Place, *keys: str) -> Place:
    return next((place.at(key) for key in keys if entry.get(key) is not None), place)


def _types(
    entry: dict[str, Any], place: Place, problems: Problems, managed: bool, unknowns: list[Unknown]
) -> tuple[tuple[Named, ...], Resources]:
    single = text(entry, "instanceType", place, problems)
    mixed = mapping(entry, "instancesDistribution", place, problems)
    listed: tuple[Named, ...] = ()
    if managed:
        listed = _names(entry, "instanceTypes", place, problems)
        if listed and single:
            message = "only one of `instanceType` and `instanceTypes` may be given"
            problems.refuse(place.at("instanceType"), message, "autoscaler:C-623")
    elif mixed:
        listed = _names(mixed, "instanceTypes", place.at("instancesDistribution"), problems)
        if single and single != "mixed":
            message = '`instanceType` must be "mixed" or left out beside `instancesDistribution`'
            problems.refuse(place.at("instanceType"), message, "autoscaler:C-622")
    elif single == "mixed":
        message = 'instanceType "mixed" needs `instancesDistribution` beside it'
        problems.refuse(place.at("instanceType"), message, "autoscaler:C-622")
    selector = mapping(entry, "instanceSelector", place, problems)
    if selector and not listed:
        return (), _selected(selector, place.at("instanceSelector"), problems, unknowns)
    if not listed and managed and not single and entry.get("launchTemplate") is not None:
        where = place.at("launchTemplate")
        unknowns.append(Unknown("instance-types", "the instance type stands in the launch template", where))
        return (), {}
    if not listed:
        listed = (Named(single or DEFAULT_TYPE, _first(entry, place, "instanceType")),)
    for one in listed:
        if is_placeholder(one.name):
            unknowns.append(Unknown("instance-types", f'"{one.name}" is a placeholder', one.place))
    return listed, {}


def _selected(selector: dict[str, Any], place: Place, problems: Problems, unknowns: list[Unknown]) -> dict[str, Amount]:
    """What an instanceSelector says of the nodes: eksctl asks EC2 which types match exactly (C-624)."""
    unknowns.append(Unknown("instance-types", "eksctl asks EC2 which types match the instanceSelector", place))
    found: dict[str, Amount] = {}
    for key, resource in (("vCPUs", "cpu"), ("gpus", "nvidia.com/gpu")):
        number = integer(selector, key, place, problems)
        if number is not None and number > 0:
            found[resource] = Amount(number * 1000, str(number), place.at(key))
    memory = selector.get("memory")
    parsed = _MEMORY.match(str(memory).strip()) if isinstance(memory, str | int | float) else None
    unit = _MEMORY_UNITS.get(parsed[2].lower()) if parsed else None
    if parsed and unit:
        found["memory"] = Amount(int(float(parsed[1]) * unit) * 1000, str(memory), place.at("memory"))
    return found


def _taints(entry: dict[str, Any], place: Place, problems: Problems, managed: bool) -> tuple[Taint, ...]:
    written = entry.get("taints")
    rule = "autoscaler:C-625"
    found: tuple[Taint, ...] = ()
    if isinstance(written, dict) and managed:
        message = "a managed group takes taints as a list only: - {key: …, value: …, effect: NoSchedule}"
        problems.refuse(place.at("taints"), message, rule)
    elif isinstance(written, dict):
        found = taint_map(written, place.at("taints"), problems, rule)
    else:
        found = taint_list(entry, "taints", place, problems, rule)
    extra = mapping(entry, "kubeletExtraConfig", place, problems) if not managed else None
    if extra and extra.get("registerWithTaints") is not None:
        found += taint_list(extra, "registerWithTaints", place.at("kubeletExtraConfig"), problems, rule)
    return found


def _tags(
    entry: dict[str, Any],
    place: Place,
    problems: Problems,
    declared: Mapping[str, Label],
    taints: tuple[Taint, ...],
    managed: bool,
) -> dict[str, Label]:
    """Tags of the Auto Scaling group. Those of a managed group do not reach it, but for `propagateASGTags` (C-630)."""
    written = labels(entry, "tags", place, problems, checked=False)
    found = resource_tags_only(written) if managed else dict(written)
    if boolean(entry, "propagateASGTags", place, problems):
        for key, label in declared.items():
            found.setdefault(LABEL + key, Label(LABEL + key, label.value, label.place))
        for taint in taints:
            # eksctl writes the value alone, which the autoscaler does not take for a taint.
            found.setdefault(TAINT + taint.key, Label(TAINT + taint.key, taint.value, taint.place))
    return found


def _hint(entry: dict[str, Any], place: Place, tags: Mapping[str, Label]) -> Place | None:
    iam = entry.get("iam")
    policies = iam.get("withAddonPolicies") if isinstance(iam, dict) else None
    if isinstance(policies, dict) and policies.get("autoScaler") is True:
        return place.at("iam", "withAddonPolicies", "autoScaler")
    if entry.get("propagateASGTags") is True:
        return place.at("propagateASGTags")
    tag = discovery_tag(tags)
    return tag.place if tag else None


def _capacity_types(
    entry: dict[str, Any], place: Place, problems: Problems, managed: bool
) -> tuple[tuple[str, ...], Place]:
    market = entry.get("instanceMarketOptions")
    if isinstance(market, dict) and market.get("marketType") == "capacity-block":
        return ("capacity-block",), place.at("instanceMarketOptions")
    if managed:
        spot = boolean(entry, "spot", place, problems)
        return ("spot",) if spot else ("on-demand",), _first(entry, place, "spot")
    mixed = mapping(entry, "instancesDistribution", place, problems)
    if not mixed:
        return ("on-demand",), place
    here = place.at("instancesDistribution")
    base = integer(mixed, "onDemandBaseCapacity", here, problems) or 0
    share = integer(mixed, "onDemandPercentageAboveBaseCapacity", here, problems)
    share = 100 if share is None else share
    if share >= 100:
        return ("on-demand",), here
    return ("spot",) if share <= 0 and base <= 0 else ("on-demand", "spot"), here


def _zones(
    entry: dict[str, Any], place: Place, problems: Problems, cluster: _Cluster, unknowns: list[Unknown]
) -> tuple[tuple[Named, ...], bool, bool | None]:
    """The zones, whether they are all known, and whether there may be several (C-628)."""
    zones = _names(entry, "availabilityZones", place, problems) + _names(entry, "localZones", place, problems)
    subnets = sequence(entry, "subnets", place, problems)
    if zones and subnets:
        message = "only one of `availabilityZones` and `subnets` may be given"
        problems.refuse(place.at("subnets"), message, "autoscaler:§6.2")
    if not zones and subnets:
        resolved = [cluster.subnets.get(name) for name in subnets if isinstance(name, str)]
        found = {one.name: one for one in resolved if one is not None}
        if len(resolved) < len(subnets) or None in resolved:
            message = "the zones are those of the subnets, which this file does not tell"
            unknowns.append(Unknown("zones", message, place.at("subnets")))
            return tuple(found.values()), False, len(subnets) > 1
        return tuple(found.values()), True, len(found) > 1
    if not zones:
        zones = cluster.zones
    placeholder = next((zone for zone in zones if is_placeholder(zone.name)), None)
    if placeholder:
        unknowns.append(Unknown("zones", f'"{placeholder.name}" is a placeholder', placeholder.place))
        return tuple(zone for zone in zones if not is_placeholder(zone.name)), False, len(zones) > 1
    if not zones:
        message = "without availabilityZones the group spans the zones of all subnets of the cluster"
        unknowns.append(Unknown("zones", message, place))
        return (), False, True
    return zones, True, len({zone.name for zone in zones}) > 1


def _provider_labels(
    name: str, cluster: str, image: Image, capacity: tuple[str, ...], entry: dict[str, Any], managed: bool
) -> dict[str, str]:
    """Labels that eksctl and EKS add (C-629, §6.3)."""
    found = {EKSCTL_GROUP: name}
    if cluster:
        found[EKSCTL_CLUSTER] = cluster
    if managed:
        found[NODEGROUP] = name
        found[CAPACITY_TYPE] = capacity[0].upper().replace("-", "_")
    elif _writes_lifecycle(image, entry) and len(capacity) == 1:
        found[_LIFECYCLE] = "spot" if capacity == ("spot",) else "on-demand"
    return found


def _writes_lifecycle(image: Image, entry: dict[str, Any]) -> bool:
    return image.family == "AL2" or str(entry.get("amiFamily") or "").startswith("Ubuntu")


def _perhaps_labels(entry: dict[str, Any], managed: bool) -> frozenset[str]:
    if managed:
        return AWS_PERHAPS | MANAGED_PERHAPS
    if _writes_lifecycle(of_eksctl(str(entry.get("amiFamily") or "")), entry):
        return AWS_PERHAPS | {_LIFECYCLE, _INSTANCE_ID}
    return AWS_PERHAPS


def _max_pods(settings: Kubelet, entry: dict[str, Any], place: Place, problems: Problems) -> Kubelet:
    limit = integer(entry, "maxPodsPerNode", place, problems)
    if limit is None or limit <= 0:
        return settings
    return replace(settings, max_pods=limit, place=place.at("maxPodsPerNode"))


def _disk(entry: dict[str, Any], place: Place, problems: Problems) -> Amount:
    size = integer(entry, "volumeSize", place, problems)
    if size is None:
        return Amount(DEFAULT_VOLUME * _GIB * 1000, f"{DEFAULT_VOLUME}Gi", place)
    return Amount(size * _GIB * 1000, f"{size}Gi", place.at("volumeSize"))
