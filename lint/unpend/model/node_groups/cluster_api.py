"""Cluster API: MachineDeployment, MachineSet, MachinePool, AWSManagedMachinePool, workers of a topology (§2.4, §6.4).

A group is spread over several objects, so they are held back until all are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.taints import EFFECTS
from unpend.model.builder import Builder
from unpend.model.fields import under
from unpend.model.inventory import Problem
from unpend.model.metadata import identity
from unpend.model.node_groups.eks_api import Names, Source, eks_group
from unpend.model.node_groups.group import Named, NodeGroup, Planned, Provider, Size, Unknown
from unpend.model.node_groups.taints import CAPA_EFFECTS, EKS_EFFECTS, taint_text
from unpend.model.pod import Amount, Label, Taint
from unpend.model.problems import Problems
from unpend.model.quantities import milli_of
from unpend.records import dataclass, replace
from unpend.source.document import Object
from unpend.source.place import Place

SCALE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"
MAX_SIZE, MIN_SIZE = SCALE + "max-size", SCALE + "min-size"
CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
NAMES = Names(
    types="instanceType",
    scaling="scaling",
    subnets=("subnetIDs",),
    template="awsLaunchTemplate",
    tags="additionalTags",
)
USED = frozenset(
    {
        "metadata.annotations",
        "spec.failureDomains",
        "spec.replicas",
        "spec.template.metadata.labels",
        "spec.template.spec.bootstrap.configRef",
        "spec.template.spec.failureDomain",
        "spec.template.spec.infrastructureRef",
        "spec.template.spec.taints",
        "spec.topology.workers",
    }
)
"""Fields of groups of Cluster API that decide something here."""
IGNORED = {
    "spec.minReadySeconds": "decides how machines are replaced",
    "spec.paused": "says nothing about placement",
    "spec.selector": "says nothing about placement",
    "spec.strategy": "decides how machines are replaced",
    "spec.template.spec.clusterName": "one cluster is judged at a time",
    "spec.template.spec.nodeDrainTimeout": "decides how machines are replaced",
    "spec.template.spec.version": "says nothing about placement",
}
POOL_USED = NAMES.used | {"availabilityZones", "eksNodegroupName"}
POOL_IGNORED = {
    "amiVersion": "the image of the same family",
    "availabilityZoneSubnetType": "says nothing about placement",
    "providerIDList": "says nothing about placement",
    "remoteAccess": "says nothing about placement",
    "roleName": "says nothing about placement",
    "updateConfig": "decides how nodes are replaced",
}

_GROUPS, _PARTS = "cluster-api groups", "cluster-api parts"
_PROPAGATED = ("node-role.kubernetes.io", "node-restriction.kubernetes.io", "node.cluster.x-k8s.io")
_CAPA_CAPACITY = {"onDemand": "ON_DEMAND", "spot": "SPOT"}
_RESOURCES = {"cpu": "cpu", "memory": "memory", "ephemeral-disk": "ephemeral-storage", "maxPods": "pods"}
_TYPE_FIELDS: dict[str, tuple[str, Provider]] = {
    "AWSMachineTemplate": ("instanceType", "aws"),
    "AzureMachineTemplate": ("vmSize", "azure"),
    "GCPMachineTemplate": ("instanceType", "gcp"),
}
_WORKERS = {"machineDeployments": "MachineDeployment", "machinePools": "MachinePool"}


def keep_group(obj: Object, builder: Builder) -> None:
    """An object that is a group, or a Cluster whose topology has some."""
    builder.keep(_GROUPS, obj, _read_all)


def keep_part(obj: Object, builder: Builder) -> None:
    """An object that says what the machines of a group are."""
    builder.other(obj)
    builder.keep(_PARTS, obj, lambda _: None)


@dataclass(frozen=True, slots=True)
class _Machines:
    """What makes machines, in one form: a group object, or one entry of a topology."""

    object: Object
    kind: str
    name: str
    place: Place
    annotations: Mapping[str, Label]
    labels: Mapping[str, Label]
    replicas: int | None
    replicas_place: Place
    spec: Mapping[str, Any]
    spec_place: Place


def _read_all(builder: Builder) -> None:
    parts = {(obj.kind, _name(obj)): obj for obj in builder.kept.get(_PARTS, ())}
    groups = builder.kept[_GROUPS]
    managed = {_name(obj): obj for obj in groups if obj.kind == "AWSManagedMachinePool"}
    for obj in groups:
        if obj.kind == "Cluster":
            for machines in _of_topology(obj):
                group, problems = _group(machines, parts, builder)
                if machines.replicas is not None and MAX_SIZE in machines.annotations:
                    message = "the topology and Cluster Autoscaler both set the size; leave `replicas` out"
                    problems.note(machines.replicas_place, message, "autoscaler:§6.4", "warning")
                _add(builder, (group, problems))
        elif obj.kind == "AWSManagedMachinePool":
            continue
        elif not (obj.kind == "MachineSet" and _is_owned(obj)):
            machines = _of_object(obj)
            pool = managed.pop(_ref(machines.spec, "infrastructureRef")[1], None)
            _add(builder, _group(machines, parts, builder) if pool is None else _managed(pool, builder, machines))
    for pool in managed.values():
        _add(builder, _managed(pool, builder, None))


def _add(builder: Builder, found: tuple[NodeGroup, Problems]) -> None:
    group, problems = found
    builder.add("node_groups", group)
    builder.problems.found.extend(problems.found)


def _dict(owner: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        owner = owner.get(key) if isinstance(owner, dict) else None
    return owner if isinstance(owner, dict) else {}


def _name(obj: Object) -> str:
    name = _dict(obj.data, "metadata").get("name")
    return name if isinstance(name, str) else ""


def _is_owned(obj: Object) -> bool:
    owners = _dict(obj.data, "metadata").get("ownerReferences")
    return isinstance(owners, list) and any(
        isinstance(o, dict) and o.get("kind") == "MachineDeployment" for o in owners
    )


def _texts(data: Mapping[str, Any], place: Place) -> dict[str, Label]:
    return {key: Label(key, value, place.at(key)) for key, value in data.items() if isinstance(value, str)}


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _of_object(obj: Object) -> _Machines:
    spec = _dict(obj.data, "spec")
    place = obj.root.at("spec")
    template = place.at("template")
    return _Machines(
        obj,
        obj.kind,
        _name(obj),
        obj.root,
        _texts(_dict(obj.data, "metadata", "annotations"), obj.root.at("metadata", "annotations")),
        _texts(_dict(spec, "template", "metadata", "labels"), template.at("metadata", "labels")),
        _count(spec.get("replicas")),
        place.at("replicas"),
        {
            **_dict(spec, "template", "spec"),
            **({"failureDomains": spec["failureDomains"]} if "failureDomains" in spec else {}),
        },
        template.at("spec"),
    )


def _of_topology(obj: Object) -> Iterator[_Machines]:
    workers = _dict(obj.data, "spec", "topology", "workers")
    for key, kind in _WORKERS.items():
        listed = workers.get(key)
        for number, entry in enumerate(listed if isinstance(listed, list) else ()):
            if not isinstance(entry, dict):
                continue
            place = obj.root.at("spec", "topology", "workers", key, number)
            metadata = place.at("metadata")
            yield _Machines(
                obj,
                kind,
                f"{_name(obj)}-{entry.get('name')}",
                place,
                _texts(_dict(entry, "metadata", "annotations"), metadata.at("annotations")),
                _texts(_dict(entry, "metadata", "labels"), metadata.at("labels")),
                _count(entry.get("replicas")),
                place.at("replicas"),
                entry,
                place,
            )


def _ref(spec: Mapping[str, Any], key: str) -> tuple[str, str]:
    data = spec.get(key)
    kind, name = (data.get("kind"), data.get("name")) if isinstance(data, dict) else ("", "")
    return str(kind or ""), str(name or "")


def _group(
    machines: _Machines, parts: Mapping[tuple[str, str], Object], builder: Builder
) -> tuple[NodeGroup, Problems]:
    problems = Problems()
    unknowns: list[Unknown] = []
    kind, name = _ref(machines.spec, "infrastructureRef")
    infrastructure = parts.get((kind, name))
    types, provider, spot = _hardware(infrastructure, kind)
    if not types:
        message = "the machine template is not among the files" if infrastructure is None else "no type is written"
        unknowns.append(Unknown("instance-types", message, machines.spec_place.at("infrastructureRef")))
    unknowns.append(Unknown("kubelet", "the bootstrap configuration decides what is left for pods", machines.place))
    bootstrap = parts.get(_ref(_dict(machines.spec, "bootstrap"), "configRef"))
    own_labels, own_taints = _registration(bootstrap)
    zones, several = _zones(machines)
    if not zones:
        unknowns.append(Unknown("zones", "no failure domain is written", machines.place))
    info = _dict(infrastructure.data, "status", "nodeInfo") if infrastructure else {}
    group = NodeGroup(
        name=machines.name,
        source=f"Cluster API {machines.kind}",
        provider=provider,
        template="cluster-api",
        size=_size(machines, problems),
        instance_types=types,
        zones=zones,
        all_zones=bool(zones),
        several_zones=several,
        zones_place=machines.spec_place.at("failureDomain"),
        capacity_types=("spot",) if spot else ("on-demand",),
        capacity_place=machines.place,
        arch=info.get("architecture") if isinstance(info.get("architecture"), str) else None,
        os=str(info.get("operatingSystem") or "linux"),
        labels={**own_labels, **{k: label for k, label in machines.labels.items() if is_propagated(k)}},
        taints=own_taints + tuple(_taints(machines, problems)),
        perhaps_labels=frozenset(),
        hidden=frozenset() if bootstrap is not None else frozenset({"labels", "taints"}),
        planned=_planned(machines.annotations, infrastructure, problems),
        autoscaler_hint=_annotation_place(machines),
        unknowns=tuple(unknowns),
        place=machines.place,
        object=machines.object,
    )
    return replace(group, refusals=_refused(problems)), problems


def _refused(problems: Problems) -> tuple[Problem, ...]:
    return tuple(problem for problem in problems.found if problem.refused)


def _annotation_place(machines: _Machines) -> Place | None:
    found = machines.annotations.get(MAX_SIZE)
    return found.place if found else None


def is_propagated(key: str) -> bool:
    """Whether Cluster API copies a label of the machine template to the node (C-244)."""
    domain = key.partition("/")[0] if "/" in key else ""
    return any(domain == one or domain.endswith("." + one) for one in _PROPAGATED)


def _size(machines: _Machines, problems: Problems) -> Size:
    """Bounds by annotation (C-241); without them the number of replicas is fixed."""
    written = machines.annotations
    place = machines.replicas_place
    replicas = machines.replicas
    highest, lowest = written.get(MAX_SIZE), written.get(MIN_SIZE)
    if highest is None:
        fixed = 1 if replicas is None else replicas
        return Size(fixed, fixed, fixed, place, place)
    numbers = [int(one.value) if one is not None and one.value.isdecimal() else None for one in (highest, lowest)]
    high, low = numbers[0], numbers[1] if lowest is not None else 0
    for one, number in ((highest, high), (lowest, low)):
        if one is not None and number is None:
            problems.note(
                one.place, f'"{one.value}" is no number: the autoscaler does not scale the group', "autoscaler:C-241"
            )
    if high is not None and low is not None and high < low and lowest is not None:
        message = f"the maximum {high} is smaller than the minimum {low}: the autoscaler does not scale the group"
        problems.note(highest.place, message, "autoscaler:C-241")
    if high is None or low is None or high < low or high == 0:
        fixed = 1 if replicas is None else replicas
        return Size(fixed, fixed, fixed, place, place)
    return Size(low, high, replicas, lowest.place if lowest else highest.place, highest.place)


def _hardware(infrastructure: Object | None, kind: str) -> tuple[tuple[Named, ...], Provider, bool]:
    field, provider = _TYPE_FIELDS.get(kind, ("", "other"))
    if infrastructure is None:
        return (), provider, False
    spec = _dict(infrastructure.data, "spec", "template", "spec")
    place = infrastructure.root.at("spec", "template", "spec", field)
    name = spec.get(field)
    spot = any(spec.get(key) is not None for key in ("spotMarketOptions", "spotVMOptions"))
    return ((Named(name, place),) if isinstance(name, str) and name else ()), provider, spot


def _zones(machines: _Machines) -> tuple[tuple[Named, ...], bool | None]:
    one = machines.spec.get("failureDomain")
    if isinstance(one, str) and one:
        return (Named(one, machines.spec_place.at("failureDomain")),), False
    several = machines.spec.get("failureDomains")
    names = [name for name in several if isinstance(name, str)] if isinstance(several, list) else []
    place = machines.place.at("spec", "failureDomains")
    return tuple(Named(name, place.at(n)) for n, name in enumerate(names)), len(names) > 1 if names else None


def _registration(bootstrap: Object | None) -> tuple[dict[str, Label], tuple[Taint, ...]]:
    """Labels and taints that the bootstrap configuration gives to the kubelet."""
    if bootstrap is None:
        return {}, ()
    spec = _dict(bootstrap.data, "spec", "template", "spec")
    place = bootstrap.root.at("spec", "template", "spec")
    node = _dict(spec, "joinConfiguration", "nodeRegistration")
    if node:
        place = place.at("joinConfiguration", "nodeRegistration")
    else:
        node = spec
    arguments = node.get("kubeletExtraArgs")
    given: dict[str, tuple[str, Place]] = {}
    if isinstance(arguments, dict):
        given = {k: (v, place.at("kubeletExtraArgs", k)) for k, v in arguments.items() if isinstance(v, str)}
    elif isinstance(arguments, list):
        for number, one in enumerate(arguments):
            if isinstance(one, dict) and isinstance(one.get("value"), str):
                given[str(one.get("name"))] = (one["value"], place.at("kubeletExtraArgs", number, "value"))
    labels = _pairs(*given["node-labels"]) if "node-labels" in given else {}
    taints = _taint_texts(*given["register-with-taints"]) if "register-with-taints" in given else ()
    return labels, taints + tuple(_taint_entries(node.get("taints"), place.at("taints")))


def _pairs(written: str, place: Place) -> dict[str, Label]:
    found = {}
    for part in written.split(","):
        key, equals, value = part.strip().partition("=")
        if equals:
            found[key] = Label(key, value, place)
    return found


def _taint_texts(written: str, place: Place) -> tuple[Taint, ...]:
    return tuple(taint for part in written.split(",") if (taint := taint_text(part, place)) is not None)


def _taint_entries(entries: Any, place: Place) -> Iterator[Taint]:
    for number, one in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(one, dict) and one.get("effect") in EFFECTS:
            yield Taint(str(one.get("key") or ""), str(one.get("value") or ""), str(one["effect"]), place.at(number))


def _taints(machines: _Machines, problems: Problems) -> Iterator[Taint]:
    """`spec.template.spec.taints` of Cluster API 1.12 and later (C-247)."""
    yield from _taint_entries(machines.spec.get("taints"), machines.spec_place.at("taints"))


def _planned(annotations: Mapping[str, Label], infrastructure: Object | None, problems: Problems) -> Planned:
    """What the annotations say of a node of an empty group (C-242, C-243); capacity of the template comes second."""
    capacity: dict[str, Amount] = {}
    if infrastructure is not None:
        where = infrastructure.root.at("status", "capacity")
        for resource, value in _dict(infrastructure.data, "status", "capacity").items():
            milli = milli_of(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
            if milli is not None:
                capacity[resource] = Amount(milli, str(value), where.at(resource))
    for name, resource in _RESOURCES.items():
        written = annotations.get(CAPACITY + name)
        milli = milli_of(written.value) if written else None
        if written and milli is not None:
            capacity[resource] = Amount(milli, written.value, written.place)
        elif written:
            problems.note(written.place, f'"{written.value}" is no quantity', "autoscaler:C-242")
    _gpu(annotations, capacity)
    labels = annotations.get(CAPACITY + "labels")
    taints = annotations.get(CAPACITY + "taints")
    return Planned(
        _pairs(labels.value, labels.place) if labels else None,
        _taint_texts(taints.value, taints.place) if taints else None,
        capacity,
    )


def _gpu(annotations: Mapping[str, Label], capacity: dict[str, Amount]) -> None:
    kind, number = annotations.get(CAPACITY + "gpu-type"), annotations.get(CAPACITY + "gpu-count")
    if kind is not None and number is not None and number.value.isdecimal():
        capacity[kind.value] = Amount(int(number.value) * 1000, number.value, number.place)


def _managed(pool: Object, builder: Builder, machines: _Machines | None) -> tuple[NodeGroup, Problems]:
    """An AWSManagedMachinePool: an EKS managed group, with the annotations of its MachinePool where that is given."""
    problems = Problems()
    who = identity(pool, builder.settings, problems)
    spec = dict(_dict(pool.data, "spec"))
    place = under(pool.root, "spec")
    if isinstance(spec.get("capacityType"), str):
        spec["capacityType"] = _CAPA_CAPACITY.get(spec["capacityType"], spec["capacityType"])
    if isinstance(spec.get("instanceType"), str):
        spec["instanceType"] = [spec["instanceType"]]
    if isinstance(spec.get("taints"), list):
        spec["taints"] = [_eks_taint(one) for one in spec["taints"]]
    name = spec.get("eksNodegroupName")
    found = Source(
        pool, spec, place, name if isinstance(name, str) and name else who.name, "Cluster API AWSManagedMachinePool", {}
    )
    group, zones = eks_group(found, NAMES, problems), spec.get("availabilityZones")
    if isinstance(zones, list) and zones:
        named = tuple(
            Named(zone, place.at("availabilityZones", n)) for n, zone in enumerate(zones) if isinstance(zone, str)
        )
        rest = tuple(one for one in group.unknowns if one.field != "zones")
        group = replace(group, zones=named, all_zones=True, several_zones=len(named) > 1, unknowns=rest)
    if machines is not None and MAX_SIZE in machines.annotations:
        planned = _planned(machines.annotations, None, problems)
        size, hint = _size(machines, problems), _annotation_place(machines)
        group = replace(group, template="cluster-api", size=size, planned=planned, autoscaler_hint=hint)
    elif not spec.get("scaling"):
        replicas = machines.replicas if machines else None
        fixed = 1 if replicas is None else replicas
        group = replace(group, size=Size(fixed, fixed, fixed, group.place, group.place))
    return replace(group, refusals=_refused(problems)), problems


def _eks_taint(taint: Any) -> Any:
    if not isinstance(taint, dict):
        return taint
    back = {effect: word for word, effect in EKS_EFFECTS.items()}
    effect = CAPA_EFFECTS.get(str(taint.get("effect")))
    return {**taint, "effect": back[effect]} if effect else taint
