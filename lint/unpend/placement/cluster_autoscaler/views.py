"""The nodes of a group in two views: as they will be, and as Cluster Autoscaler imagines them (§2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from unpend.algebra.values import ValueSet, anything, exists, one_of
from unpend.catalog.aws import region_of
from unpend.catalog.catalog import Catalog
from unpend.catalog.node_group import Machine, machine_of
from unpend.catalog.profile import BlockDevice, NodeProfile
from unpend.model.node_groups.group import NodeGroup
from unpend.model.node_groups.labels import CAPACITY_TYPE
from unpend.model.node_groups.tags import label_tags, resource_tags, taint_tags
from unpend.model.node_labels import ARCH, HOSTNAME, INSTANCE_TYPE, OLDER, OS, REGION, WINDOWS_BUILD, ZONE
from unpend.model.pod import Taint
from unpend.placement.cluster_autoscaler.flags import AGENTS, Flags
from unpend.placement.demand import to_units
from unpend.placement.scheduler.node_resources import PODS
from unpend.placement.space import ZERO, Interval, Shape
from unpend.records import dataclass
from unpend.settings import Settings
from unpend.source.place import Place

EBS_ZONE = "topology.ebs.csi.aws.com/zone"
TEMPLATE_NODE = "cluster-autoscaler.kubernetes.io/template-node"
ADD_ONS = (
    "feature.node.kubernetes.io/",
    "nvidia.com/",
    "amd.com/",
    "gpu.intel.com/",
    "intel.feature.node.kubernetes.io/",
    "topology.topolvm.io/",
    "csi.",
)
"""Beginnings of labels that agents put on nodes after they have joined."""

OF_THE_TYPE = frozenset({"nvidia.com/gpu", "amd.com/gpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore"})
"""Devices of which the type decides whether they can be there; others may come from any device plugin."""

LOTS = 1 << 62
TEMPLATE_PODS = 110
_COUNTED = ("cpu", "memory", "ephemeral-storage", PODS)

Labels = dict[str, str | ValueSet]


@dataclass(frozen=True, slots=True)
class GroupSource:
    """The places of a group, for the other side of an obstacle."""

    group: NodeGroup

    @property
    def owner(self) -> str:
        """`NodeGroup/<name>`."""
        return self.group.id

    def name(self) -> Place:
        """The group: its nodes have no name that is known."""
        return self.group.place

    def label(self, key: str) -> Place:
        """What decides the label: itself, the zones, the capacity types, or the labels altogether."""
        group = self.group
        label = group.labels.get(key)
        if label is not None:
            return label.place
        if key in (ZONE, REGION, EBS_ZONE) or OLDER.get(key) in (ZONE, REGION):
            return group.zones_place or group.place
        if key in (INSTANCE_TYPE, ARCH) or OLDER.get(key) in (INSTANCE_TYPE, ARCH):
            return self._types()
        if key == CAPACITY_TYPE:
            return group.capacity_place or group.place
        return group.place.at("labels") if group.labels else group.place

    def resource(self, resource: str) -> Place:
        """What decides the size of the nodes."""
        amount = (self.group.allocatable or {}).get(resource) or self.group.hardware.get(resource)
        if amount is not None:
            return amount.place
        if resource == "ephemeral-storage" and self.group.disk is not None:
            return self.group.disk.place
        return self._types()

    def _types(self) -> Place:
        types = self.group.instance_types
        if not types:
            return self.group.place
        return types[0].place.parent or types[0].place if len(types) > 1 else types[0].place

    def unschedulable(self) -> Place:
        """Groups cordon nothing."""
        return self.group.place


@dataclass(frozen=True, slots=True)
class Asked:
    """Label keys and resources that some pod asks for: what a node that nobody knows fully may have of them."""

    keys: frozenset[str]
    resources: frozenset[str]


@dataclass(frozen=True, slots=True)
class Types:
    """The machines of a group, each with its place in the list; None stands for one that no catalogue knows."""

    machines: tuple[Machine | None, ...]
    complete: bool


class Views:
    """Makes the shapes of groups under one set of settings."""

    def __init__(self, settings: Settings, flags: Flags, catalogs: Sequence[Catalog], asked: Asked) -> None:
        self.settings = settings
        self.flags = flags
        self.catalogs = catalogs
        self.asked = asked

    # What a group is made of

    def types(self, group: NodeGroup) -> Types:
        """The types of a group; one unknown where they are not listed."""
        if group.unknown("instance-types") is not None or not group.instance_types:
            return Types((None,), False)
        profile = self._profile(group)
        loose = group.unknown("kubelet") is not None
        return Types(
            tuple(machine_of(one.name, group.provider, profile, self.catalogs, loose) for one in group.instance_types),
            True,
        )

    def _profile(self, group: NodeGroup) -> NodeProfile:
        kubelet = group.kubelet
        devices = () if group.disk is None else (BlockDevice("", group.disk.milli, True),)
        return NodeProfile(
            ami_family=group.ami_family or "AL2023",
            max_pods=kubelet.max_pods,
            pods_per_core=kubelet.pods_per_core,
            kube_reserved=tuple((name, amount.milli) for name, amount in kubelet.kube_reserved.items()),
            system_reserved=tuple((name, amount.milli) for name, amount in kubelet.system_reserved.items()),
            memory_available=kubelet.eviction_hard.get("memory.available"),
            nodefs_available=kubelet.eviction_hard.get("nodefs.available"),
            block_devices=devices,
            memory_overhead=self.settings.karpenter.vm_memory_overhead_percent,
        )

    def zones(self, group: NodeGroup) -> tuple[str | ValueSet, ...]:
        """The zone of a node, one entry per zone that is known; a set where nobody knows."""
        names = tuple(dict.fromkeys(zone.name for zone in group.zones))
        if group.all_zones and names:
            return names
        configured = self.settings.zones
        return (one_of(configured),) if configured else (exists(),)

    # Real nodes

    def actual(self, group: NodeGroup, merged: bool = False) -> list[Shape]:
        """Every node that it can have: types × zones × capacity types; `merged`: one that stands for them all."""
        shapes = []
        for machine in _distinct(self.types(group)):
            for zone in self.zones(group):
                for capacity in group.capacity_types or ("on-demand",):
                    shapes.append(self._actual(group, machine, zone, capacity))
        return [_merge(shapes)] if merged and len(shapes) > 1 else shapes

    def _actual(self, group: NodeGroup, machine: Machine | None, zone: str | ValueSet, capacity: str) -> Shape:
        labels = self._automatic(group, machine, zone)
        labels.update(group.provider_labels)
        if len(group.capacity_types) > 1 and CAPACITY_TYPE in labels:
            labels[CAPACITY_TYPE] = capacity.upper().replace("-", "_")
        labels.update({key: label.value for key, label in group.labels.items()})
        self._open(group, labels)
        free = self._left(group, machine)
        return _shape(group, labels, group.all_taints, free)

    def _automatic(self, group: NodeGroup, machine: Machine | None, zone: str | ValueSet) -> Labels:
        """Labels of kubelet and cloud controller (§6.1), older names included."""
        labels: Labels = {
            HOSTNAME: exists(),
            OS: group.os,
            ZONE: zone,
            INSTANCE_TYPE: exists(),
            ARCH: one_of(["amd64", "arm64"]),
        }
        if machine is not None:
            labels.update(machine.labels)
        if group.arch is not None:
            labels[ARCH] = group.arch
        labels[REGION] = self._region(group, zone)
        if group.windows_build is not None:
            labels[WINDOWS_BUILD] = group.windows_build
        elif group.os == "windows":
            labels[WINDOWS_BUILD] = exists()
        if group.provider == "other" and group.allocatable is None and machine is None and not group.instance_types:
            # A node outside every cloud has neither zone nor type unless somebody says so.
            for key in (ZONE, REGION, INSTANCE_TYPE):
                if not isinstance(labels[key], str):
                    labels[key] = anything()
        for older, key in OLDER.items():
            labels[older] = labels[key]
        return labels

    def _region(self, group: NodeGroup, zone: str | ValueSet) -> str | ValueSet:
        region = group.region or self.settings.region
        if region is None and isinstance(zone, str) and group.provider == "aws":
            region = region_of(zone)
        return region if region is not None else exists()

    def _open(self, group: NodeGroup, labels: Labels) -> None:
        """Labels that may be there with any value, or not at all."""
        for key in group.perhaps_labels:
            labels.setdefault(key, anything())
        if group.provider == "aws" and EBS_ZONE not in group.labels:
            labels[EBS_ZONE] = _perhaps(labels[ZONE])
        hidden = "labels" in group.hidden or group.unknown("labels") is not None
        for key in self.asked.keys:
            if key not in labels and (hidden or key.startswith(ADD_ONS) or _is_known(key, self.settings.known_labels)):
                labels[key] = anything()

    def _left(self, group: NodeGroup, machine: Machine | None) -> dict[str, Interval]:
        """What pods can have of a real node, in the units of the scheduler."""
        if group.allocatable is not None:
            found = {name: _exactly(name, amount.milli) for name, amount in group.allocatable.items()}
            found.setdefault(
                PODS, Interval(group.kubelet.max_pods or TEMPLATE_PODS, group.kubelet.max_pods or TEMPLATE_PODS)
            )
            return found
        if machine is not None:
            found = {
                name: Interval(to_units(name, max(low, 0)), to_units(name, max(high, 0)))
                for name, (low, high) in machine.allocatable.items()
            }
        else:
            found = {name: Interval(0, LOTS) for name in (*_COUNTED, *self.asked.resources)}
        for name, amount in group.hardware.items():
            whole = to_units(name, amount.milli)
            exact = "/" in name or name == PODS
            found[name] = Interval(whole if exact else 0, whole)
        if group.kubelet.max_pods is not None:
            found[PODS] = Interval(group.kubelet.max_pods, group.kubelet.max_pods)
        if group.disk is None and "ephemeral-storage" not in group.hardware:
            # The launch template decides how large the disk is.
            found["ephemeral-storage"] = Interval(found.get("ephemeral-storage", ZERO).low, LOTS)
        for name in self.asked.resources:
            if name not in found and name not in OF_THE_TYPE and ("/" in name or name.startswith("hugepages-")):
                found[name] = Interval(0, LOTS)
        return found

    # Imagined nodes

    def planned(self, group: NodeGroup) -> list[Shape]:
        """The node that the autoscaler imagines in an empty group; none when it cannot imagine one (C-213, C-242).

        Several where nobody knows which it is: one of them.
        """
        template = group.template
        if template == "actual" or (group.planned.labels is None and template == "azure" and not group.instance_types):
            return self._stated(group)
        if template == "cluster-api":
            return self._cluster_api(group)
        return self._cloud(group)

    def _cloud(self, group: NodeGroup) -> list[Shape]:
        """AWS and Azure: the first type, nominal size, the first zone (a random one on Azure)."""
        types = self.types(group)
        zones = self.zones(group)
        if group.template != "azure" and group.all_zones:
            # AWS sorts the zones of a group (C-211).
            zones = tuple(sorted(zone for zone in zones if isinstance(zone, str)))[:1] or zones
        elif group.template == "azure" and len(zones) > 1:
            zones = (one_of(zone for zone in zones if isinstance(zone, str)),)
        machine = types.machines[0]
        labels = self._automatic(group, machine, zones[0])
        labels[TEMPLATE_NODE] = "true"
        if group.template != "azure":
            labels[OS] = labels["beta.kubernetes.io/os"] = "linux"
            labels.pop(WINDOWS_BUILD, None)
            if group.provider == "aws":
                labels[EBS_ZONE] = labels[ZONE]
        else:
            labels.update(group.provider_labels)
        self._tagged(group, labels)
        taints = self._planned_taints(group)
        free = self._nominal(group, machine)
        return [_shape(group, labels, taints, free)]

    def _tagged(self, group: NodeGroup, labels: Labels) -> None:
        """Labels from tags, and for managed groups from the EKS API, whose user labels win (C-216 to C-219)."""
        for key, label in label_tags(group.tags).items():
            labels[key] = label.value
        if group.template in ("eks", "azure"):
            labels.update(group.provider_labels)
            labels.update({key: label.value for key, label in group.labels.items()})
        else:
            for key, value in group.provider_labels.items():
                # Whether eksctl tags the group with its own labels depends on its release.
                labels.setdefault(key, _perhaps(value))
        if group.planned.labels is not None:
            labels.update({key: label.value for key, label in group.planned.labels.items()})
        if group.unknown("tags") is not None or (group.template == "eks" and group.unknown("labels") is not None):
            for key in self.asked.keys:
                labels.setdefault(key, anything())

    def _planned_taints(self, group: NodeGroup) -> tuple[Taint, ...]:
        if group.planned.taints is not None:
            found = group.planned.taints
        elif group.template == "eks":
            # Without a value a taint is lost on the way (C-219).
            found = (*taint_tags(group.tags), *(taint for taint in group.taints if taint.value))
        elif group.template == "asg":
            found = taint_tags(group.tags)
        else:
            found = group.all_taints + group.startup_taints
        return tuple(taint for taint in found if not self.flags.is_startup(taint))

    def _nominal(self, group: NodeGroup, machine: Machine | None) -> dict[str, Interval]:
        """Capacity in place of allocatable (C-214), nothing beyond it unless tagged (C-215)."""
        if machine is not None:
            found = {name: _exactly(name, milli) for name, milli in machine.nominal.items()}
        elif group.hardware:
            found = {name: _exactly(name, amount.milli) for name, amount in group.hardware.items()}
            found.setdefault(PODS, Interval(TEMPLATE_PODS, TEMPLATE_PODS))
        else:
            found = {name: Interval(0, LOTS) for name in ("cpu", "memory", "nvidia.com/gpu")}
            found[PODS] = Interval(TEMPLATE_PODS, TEMPLATE_PODS)
        if group.template == "azure" and group.disk is not None:
            found["ephemeral-storage"] = _exactly("ephemeral-storage", group.disk.milli)
        if group.unknown("tags") is not None:
            for name in self.asked.resources:
                found.setdefault(name, Interval(0, LOTS))
        stated = {**resource_tags(group.tags), **group.planned.capacity}
        found.update({name: _exactly(name, amount.milli) for name, amount in stated.items()})
        return found

    def _stated(self, group: NodeGroup) -> list[Shape]:
        """Where the autoscaler knows the nodes as they are, but for what `planned` says (C-231)."""
        shapes = []
        for shape in self.actual(group):
            labels: Labels = dict(shape.labels)
            if group.planned.labels is not None:
                for key in group.labels:
                    labels.pop(key, None)
                labels.update({key: label.value for key, label in group.planned.labels.items()})
            free = dict(shape.free)
            free.update({name: _exactly(name, amount.milli) for name, amount in group.planned.capacity.items()})
            shapes.append(_shape(group, labels, self._planned_taints(group), free))
        return shapes

    def _cluster_api(self, group: NodeGroup) -> list[Shape]:
        """From annotations and what Cluster API propagates; nothing without cpu and memory (C-242 to C-247)."""
        capacity = group.planned.capacity
        if not {"cpu", "memory"} <= capacity.keys():
            return []
        labels: Labels = {HOSTNAME: exists(), OS: group.os, ARCH: group.arch or "amd64", TEMPLATE_NODE: "true"}
        labels["beta.kubernetes.io/os"], labels["beta.kubernetes.io/arch"] = labels[OS], labels[ARCH]
        labels.update({key: label.value for key, label in group.labels.items() if _is_propagated(key)})
        labels.update({key: label.value for key, label in (group.planned.labels or {}).items()})
        taints = (*(group.planned.taints or ()), *(t for t in group.taints if "taints" in t.place.path[-2:]))
        free = {name: _exactly(name, amount.milli) for name, amount in capacity.items()}
        free.setdefault(PODS, Interval(TEMPLATE_PODS, TEMPLATE_PODS))
        kept = tuple(taint for taint in dict.fromkeys(taints) if not self.flags.is_startup(taint))
        return [_shape(group, labels, kept, free)]


def _is_propagated(key: str) -> bool:
    from unpend.model.node_groups.cluster_api import is_propagated

    return is_propagated(key)


def _distinct(types: Types) -> Iterable[Machine | None]:
    seen = set()
    for machine in types.machines:
        name = machine.name if machine is not None else None
        if name not in seen:
            seen.add(name)
            yield machine


def _exactly(name: str, milli: int) -> Interval:
    units = to_units(name, milli)
    return Interval(units, units)


def _perhaps(value: str | ValueSet) -> ValueSet:
    """A value, or no label at all."""
    base = one_of([value]) if isinstance(value, str) else value
    return ValueSet(True, base.form, base.names, base.low, base.high)


def _is_known(key: str, patterns: Iterable[str]) -> bool:
    return any(key == one or (one.endswith("*") and key.startswith(one[:-1])) for one in patterns)


def _shape(
    group: NodeGroup, labels: Mapping[str, str | ValueSet], taints: tuple[Taint, ...], free: Mapping[str, Interval]
) -> Shape:
    # An agent takes its own taint off a running node.
    kept = tuple(taint for taint in taints if taint.key not in AGENTS or TEMPLATE_NODE in labels)
    return Shape(
        name=None,
        labels=labels,
        taints=kept,
        unschedulable=False,
        allocatable={name: amount.high for name, amount in free.items()},
        free=free,
        slots=free.get(PODS, Interval(0, 0)),
        ports=(),
        source=GroupSource(group),
    )


def _merge(shapes: Sequence[Shape]) -> Shape:
    """One shape that is any of several: what they share is certain, the rest is a set or an interval."""
    first = shapes[0]
    labels: Labels = {}
    for key in {key for shape in shapes for key in shape.labels}:
        values = [shape.labels.get(key) for shape in shapes]
        if all(value == values[0] for value in values):
            labels[key] = first.labels[key]
        elif all(isinstance(value, str) for value in values):
            labels[key] = one_of(value for value in values if isinstance(value, str))
        else:
            labels[key] = anything() if any(value is None for value in values) else exists()
    names = {name for shape in shapes for name in shape.free}
    free = {
        name: Interval(
            min(shape.free.get(name, Interval(0, 0)).low for shape in shapes),
            max(shape.free.get(name, Interval(0, 0)).high for shape in shapes),
        )
        for name in names
    }
    group = first.source
    assert isinstance(group, GroupSource)
    return _shape(group.group, labels, first.taints, free)
