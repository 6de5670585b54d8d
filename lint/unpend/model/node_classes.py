"""Node classes: EC2NodeClass in detail (`karpenter.md` §10), those of other providers by name only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import boolean, entries, integer, mapping, text, under
from unpend.model.karpenter import (
    AMI_FAMILIES,
    BlockDeviceMapping,
    Kubelet,
    MachineImage,
    NetworkInterface,
    NodeClass,
    PoolRequirement,
    Subnet,
)
from unpend.model.karpenter_fields import condition
from unpend.model.metadata import identity, labels
from unpend.model.node_class_rules import check_node_class
from unpend.model.problems import Problems
from unpend.model.quantities import amount, resources
from unpend.model.user_data import registered_taints
from unpend.records import replace
from unpend.source.document import Object
from unpend.source.place import Place

_EMPTY: dict[str, Any] = {}


def read_node_class(obj: Object, builder: Builder) -> None:
    """A node class of a provider that is not read in detail."""
    problems = Problems(muted=True)
    who = identity(obj, builder.settings, problems)
    ready, reason = condition(obj.data, "Ready")
    builder.add("node_classes", NodeClass(obj.group, obj.kind, who.name, ready, reason, object=obj))


def read_ec2_node_class(obj: Object, builder: Builder) -> None:
    """An EC2NodeClass of `karpenter.k8s.aws/v1`; one of an older version is reported and read by name only."""
    if obj.version != "v1":
        from unpend.model.karpenter_older import report_older

        report_older(obj, builder)
        read_node_class(obj, builder)
        return
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec = mapping(obj.data, "spec", obj.root, problems) or _EMPTY
    place = under(obj.root, "spec")
    ready, reason = condition(obj.data, "Ready")
    alias = _alias(spec)
    family = text(spec, "amiFamily", place, problems) or None
    family = family or (AMI_FAMILIES.get(alias.partition("@")[0]) if alias else None)
    user_data = text(spec, "userData", place, problems)
    found = NodeClass(
        obj.group,
        obj.kind,
        who.name,
        ready,
        reason,
        family,
        alias,
        _terms(spec, "amiSelectorTerms", place, problems),
        _terms(spec, "subnetSelectorTerms", place, problems),
        _subnets(obj.data),
        bool(spec.get("capacityReservationSelectorTerms")),
        _block_devices(spec, place, problems),
        text(spec, "instanceStorePolicy", place, problems) == "RAID0",
        _network_interfaces(spec, place, problems),
        kubelet(spec, "kubelet", place, problems),
        user_data,
        registered_taints(user_data, family, under(place, "userData")),
        _images(obj.data),
        labels(who.data, "annotations", who.place, problems, checked=False),
        who.data.get("deletionTimestamp") is not None,
        object=obj,
    )
    check_node_class(found, spec, place, problems)
    builder.add("node_classes", replace(found, refusals=tuple(p for p in problems.found if p.refused)))
    builder.problems.found.extend(problems.found)


def _terms(spec: dict[str, Any], key: str, place: Place, problems: Problems) -> tuple[Mapping[str, Any], ...]:
    return tuple(entry for entry, _ in entries(spec, key, place, problems))


def _alias(spec: dict[str, Any]) -> str | None:
    terms = spec.get("amiSelectorTerms")
    for term in terms if isinstance(terms, list) else ():
        alias = term.get("alias") if isinstance(term, dict) else None
        if isinstance(alias, str):
            return alias
    return None


def _subnets(data: dict[str, Any]) -> tuple[Subnet, ...] | None:
    """The subnets of the status; None without any, since an empty list only says that none was found yet."""
    status = data.get("status")
    listed = status.get("subnets") if isinstance(status, dict) else None
    if not isinstance(listed, list) or not listed:
        return None
    found = []
    for entry in listed:
        if isinstance(entry, dict):
            values = [entry.get(key) for key in ("id", "zone", "zoneID")]
            found.append(Subnet(*(value if isinstance(value, str) else "" for value in values)))
    return tuple(found)


def _images(data: dict[str, Any]) -> tuple[MachineImage, ...] | None:
    """The images of the status; None without any, and where one has requirements that cannot be read."""
    status = data.get("status")
    listed = status.get("amis") if isinstance(status, dict) else None
    if not isinstance(listed, list) or not listed:
        return None
    found = []
    for entry in listed:
        wanted = entry.get("requirements") if isinstance(entry, dict) else None
        if not isinstance(wanted, list):
            return None
        requirements = []
        for one in wanted:
            values = one.get("values", []) if isinstance(one, dict) else None
            if not isinstance(values, list) or not all(isinstance(v, str) for v in (*values, one.get("key"))):
                return None
            requirements.append(PoolRequirement(one["key"], str(one.get("operator")), tuple(values)))
        found.append(MachineImage(str(entry.get("id", "")), tuple(requirements)))
    return tuple(found)


def _block_devices(spec: dict[str, Any], place: Place, problems: Problems) -> tuple[BlockDeviceMapping, ...]:
    found = []
    for entry, here in entries(spec, "blockDeviceMappings", place, problems):
        ebs = mapping(entry, "ebs", here, problems) or _EMPTY
        where = under(here, "ebs")
        size = ebs.get("volumeSize")
        found.append(
            BlockDeviceMapping(
                text(entry, "deviceName", here, problems),
                None if size is None else amount(size, under(where, "volumeSize"), problems),
                boolean(entry, "rootVolume", here, problems),
                text(ebs, "snapshotID", where, problems),
                here,
            )
        )
    return tuple(found)


def _network_interfaces(spec: dict[str, Any], place: Place, problems: Problems) -> tuple[NetworkInterface, ...] | None:
    if spec.get("networkInterfaces") is None:
        return None
    return tuple(
        NetworkInterface(
            integer(entry, "networkCardIndex", here, problems) or 0,
            integer(entry, "deviceIndex", here, problems) or 0,
            text(entry, "interfaceType", here, problems),
        )
        for entry, here in entries(spec, "networkInterfaces", place, problems)
    )


def kubelet(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> Kubelet:
    """The settings of the kubelet at a key."""
    data = mapping(owner, key, place, problems)
    if data is None:
        return Kubelet(place=None)
    here = under(place, key)
    return Kubelet(
        integer(data, "maxPods", here, problems),
        integer(data, "podsPerCore", here, problems),
        resources(data, "kubeReserved", here, problems),
        resources(data, "systemReserved", here, problems),
        _signals(data, "evictionHard", here, problems),
        _signals(data, "evictionSoft", here, problems),
        here,
    )


def _signals(data: dict[str, Any], key: str, place: Place, problems: Problems) -> Mapping[str, str]:
    found = {}
    for name, value in (mapping(data, key, place, problems) or _EMPTY).items():
        if isinstance(value, str):
            found[name] = value
        else:
            problems.wrong_type(under(place, key).at(name), "text", value)
    return found
