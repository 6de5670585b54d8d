"""What single node groups are, for rules that speak of the group and not of a pod."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from unpend.algebra.taints import FILTERING_EFFECTS, untolerated
from unpend.algebra.values import ValueSet
from unpend.model.inventory import Inventory, PersistentVolumeClaim, Workload
from unpend.model.node_groups.group import NodeGroup
from unpend.model.node_groups.labels import AWS_PERHAPS, kubelet_refuses
from unpend.model.node_groups.tags import label_tags, resource_tags, taint_tags
from unpend.model.node_labels import ARCH, HOSTNAME, INSTANCE_TYPE, OLDER, OS, REGION, ZONE
from unpend.model.pod import EffectivePod, Label, Taint
from unpend.placement.cluster_autoscaler.flags import AGENTS
from unpend.placement.cluster_autoscaler.groups import Group, Groups
from unpend.placement.demand import Demand, demand_of
from unpend.settings import Settings

if TYPE_CHECKING:
    from unpend.catalog.density import OverDensity

MIB = 2**20 * 1000
_EXTRA = ("ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore")
_AUTOMATIC = frozenset(
    {
        HOSTNAME,
        ARCH,
        OS,
        INSTANCE_TYPE,
        ZONE,
        REGION,
        *OLDER,
        *AWS_PERHAPS,
    }
)
EBS_DRIVER = "ebs.csi.aws.com"
_IN_TREE_EBS = "kubernetes.io/aws-ebs"


class Size(NamedTuple):
    """What Cluster Autoscaler compares of a type: cores, MiB and GPUs."""

    name: str
    cpu: int
    memory: int
    gpu: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """The amounts alone."""
        return self.cpu, self.memory, self.gpu


def groups_of(inventory: Inventory, settings: Settings) -> Groups:
    """The node groups of an inventory, made ready."""
    return Groups(inventory, settings)


def sizes(group: Group) -> tuple[Size, ...]:
    """The sizes of the types of a group, in its order, as far as a catalogue knows them."""
    found = []
    for machine in group.views.types(group.group).machines:
        if machine is not None:
            nominal = machine.nominal
            gpu = nominal.get("nvidia.com/gpu", 0) // 1000
            found.append(Size(machine.name, nominal["cpu"] // 1000, nominal["memory"] // MIB, gpu))
    return tuple(found)


def mixed(group: Group, tolerance: float) -> tuple[Size, ...]:
    """Types whose CPUs, GPUs or memory differ from those of the first, memory by more than a share; none when alike."""
    found = sizes(group)
    if not found:
        return ()
    first = found[0]
    return tuple(
        one
        for one in found[1:]
        if (one.cpu, one.gpu) != (first.cpu, first.gpu)
        or abs(one.memory - first.memory) > tolerance * max(first.memory, 1)
    )


def grows_from_zero(group: Group) -> bool:
    """Whether Cluster Autoscaler has to imagine the nodes of a group at times."""
    return group.scaler == "cluster-autoscaler" and group.grows and group.group.size.starts_empty is not False


def is_declared_by_tags(group: Group) -> bool:
    """Whether only tags tell the autoscaler what the nodes are (C-216): not so for managed groups (C-219)."""
    return group.group.template == "asg" and group.group.unknown("tags") is None


def unseen_labels(group: Group, wanted: frozenset[str]) -> Iterator[Label]:
    """Labels of the nodes that pods ask for and that no tag tells the autoscaler, or tells otherwise."""
    told = label_tags(group.group.tags)
    for key, label in group.group.labels.items():
        if key in wanted and key not in _AUTOMATIC and not kubelet_refuses(key):
            tag = told.get(key)
            if tag is None or tag.value != label.value:
                yield label


def unseen_taints(group: Group) -> Iterator[Taint]:
    """Taints of the nodes that no tag tells the autoscaler; PreferNoSchedule decides nothing."""
    told = {(taint.key, taint.effect) for taint in taint_tags(group.group.tags)}
    for taint in group.group.taints:
        if taint.effect != "PreferNoSchedule" and (taint.key, taint.effect) not in told and taint.key not in AGENTS:
            yield taint


def undeclared_agents(group: Group, groups: Groups) -> Iterator[Taint]:
    """Taints that an agent takes off and that the autoscaler does not know as startup taints (C-205)."""
    for taint in (*group.group.taints, *group.group.startup_taints):
        if taint.key in AGENTS and not groups.flags.is_startup(taint):
            yield taint


def unseen_resources(group: Group, requested: frozenset[str]) -> tuple[str, ...]:
    """Resources that pods ask for, that the nodes have, and that the imagined node lacks without a tag (C-215)."""
    if group.group.provider != "aws" or group.group.template not in ("asg", "eks"):
        return ()
    told = resource_tags(group.group.tags)
    nodes = group.actual.shapes
    has = {name for shape in nodes for name, amount in shape.free.items() if amount.high > 0}
    return tuple(name for name in sorted(requested & has) if _is_extra(name) and name not in told)


def _is_extra(name: str) -> bool:
    return name in _EXTRA or name.startswith(("vpc.amazonaws.com/", "amd.com/"))


def wanted_labels(workload: Workload) -> frozenset[str]:
    """Label keys that the required node selection of a workload names."""
    spec = workload.template.spec
    keys = {label.key for label in spec.node_selector}
    for term in spec.affinity.required or ():
        keys.update(expression.key for expression in term.expressions)
    return frozenset(keys)


def zonal_claims(workload: Workload, inventory: Inventory) -> Iterator[PersistentVolumeClaim]:
    """Claims of a workload whose volumes stay in one zone: those of the EBS driver."""
    claims = {(c.namespace, c.name): c for c in inventory.claims}
    named = [claims.get((workload.namespace, v.claim)) for v in workload.template.spec.volumes if v.claim]
    for claim in (*workload.claim_templates, *named):
        if claim is not None and _is_zonal(claim, inventory):
            yield claim


def _is_zonal(claim: PersistentVolumeClaim, inventory: Inventory) -> bool:
    volume = next((v for v in inventory.volumes if v.name == claim.volume_name), None) if claim.volume_name else None
    if volume is not None:
        source = volume.source if isinstance(volume.source, dict) else {}
        return volume.kind == "awsElasticBlockStore" or source.get("driver") == EBS_DRIVER
    classes = inventory.storage_classes
    found = classes.get(claim.storage_class) if claim.storage_class else None
    if found is None and claim.storage_class is None:
        found = next((one for one in classes.values() if one.is_default), None)
    return found is not None and found.provisioner in (EBS_DRIVER, _IN_TREE_EBS)


def takers_by_system(pod: EffectivePod, inventory: Inventory, groups: Groups) -> dict[str, str]:
    """By operating system, the first Node or group whose labels and taints let the pod in."""
    demand = demand_of(pod)
    found: dict[str, str] = {}
    for node in inventory.nodes:
        system = node.labels.get(OS)
        labels = {key: label.value for key, label in node.labels.items()}
        if system is not None and _lets_in(demand, labels, node.taints):
            found.setdefault(system.value, f"Node/{node.name}")
    for group in groups.groups:
        if not group.group.refusals and _lets_in(demand, group.node.labels, group.node.taints):
            found.setdefault(group.group.os, group.name)
    return found


def _lets_in(demand: Demand, labels: Mapping[str, str | ValueSet], taints: Sequence[Taint]) -> bool:
    if untolerated(demand.tolerations, tuple(taints), FILTERING_EFFECTS):
        return False
    return any(
        not alternative.broken and all(_admits(labels.get(key), wanted) for key, wanted in alternative.folded.items())
        for alternative in demand.alternatives
    )


def _admits(known: str | ValueSet | None, wanted: ValueSet) -> bool:
    return known.overlaps(wanted) if isinstance(known, ValueSet) else wanted.admits(known)


def over_density(group: NodeGroup) -> OverDensity | None:
    """Whether the pod limit of a group is above the addresses of its smallest type (§6.8); None when it is not."""
    limit = group.kubelet.max_pods
    if limit is None or group.provider != "aws" or group.os == "windows":
        return None
    from unpend.catalog.density import over_addresses

    return over_addresses(limit, (one.name for one in group.instance_types))
