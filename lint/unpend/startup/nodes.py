"""What pools add to a start: who makes nodes, taints that must clear, choices that make a node slower."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from unpend.model.inventory import Inventory
from unpend.model.karpenter import NodeClass, NodePool
from unpend.model.node_groups.group import NodeGroup
from unpend.model.pod import Taint
from unpend.placement.pools import ALL_NODES
from unpend.placement.verdict import PoolVerdict, WorkloadVerdict
from unpend.records import dataclass, field
from unpend.source.place import Place

_EKS = "karpenter.k8s.aws"
_TYPE = "node.kubernetes.io/instance-type"
_SIZE = "karpenter.k8s.aws/instance-size"
_OS = "kubernetes.io/os"
_LAZY = ("soci", "stargz", "nydus", "overlaybd")


@dataclass(frozen=True, slots=True)
class Slower:
    """A choice of a pool that makes its nodes slower; `stage` is the stage of the path that it adds."""

    stage: str
    message: str
    place: Place


@dataclass(frozen=True, slots=True)
class PoolStart:
    """A pool as far as starting goes.

    `base` names the built-in profile that fits. `makes` is whether an autoscaler makes nodes for pods, `keeps` whether
    some nodes are there without any pod asking.
    """

    name: str
    base: str
    makes: bool
    keeps: bool
    why_not: str = ""
    startup_taints: tuple[Taint, ...] = ()
    slower: tuple[Slower, ...] = ()
    daemonsets: int = 0
    lazy: bool = False
    snapshot: bool = False
    stoppable: bool = False
    place: Place | None = field(default=None, compare=False, repr=False)


def pool_starts(inventory: Inventory, verdicts: Mapping[str, WorkloadVerdict]) -> dict[str, PoolStart]:
    """Every NodePool and node group by the name that verdicts give it; Nodes together as `Nodes`."""
    daemons = _daemonsets(verdicts.values())
    found: dict[str, PoolStart] = {}
    for pool in inventory.node_pools:
        name = f"NodePool/{pool.name}"
        found[name] = _node_pool(pool, name, class_of(pool, inventory), daemons.get(name, 0))
    for group in inventory.node_groups:
        found[group.id] = _node_group(group, daemons.get(group.id, 0))
    if inventory.nodes:
        found[ALL_NODES] = PoolStart(ALL_NODES, "fixed-nodes", False, True, "these nodes are given, none is added")
    return found


def class_of(pool: NodePool, inventory: Inventory) -> NodeClass | None:
    """The node class of a pool, None when it is not among the objects."""
    ref = pool.node_class
    return next(
        (c for c in inventory.node_classes if (c.group, c.kind, c.name) == (ref.group, ref.kind, ref.name)), None
    )


def pool_key(verdict: PoolVerdict) -> str:
    """The name under which `pool_starts` has the pool of a verdict."""
    return ALL_NODES if verdict.pool == ALL_NODES or verdict.pool.startswith("Node/") else verdict.pool


def _daemonsets(verdicts: Iterable[WorkloadVerdict]) -> dict[str, int]:
    """How many DaemonSets land on each pool."""
    counts: dict[str, int] = {}
    for verdict in verdicts:
        if verdict.workload.startswith("DaemonSet/"):
            for pool in verdict.pools:
                if pool.verdict in ("fits", "conditional"):
                    counts[pool_key(pool)] = counts.get(pool_key(pool), 0) + 1
    return counts


def _node_pool(pool: NodePool, name: str, used: NodeClass | None, daemonsets: int) -> PoolStart:
    eks = pool.node_class.group in (_EKS, "eks.amazonaws.com")
    return PoolStart(
        name,
        "eks-karpenter" if eks else "generic",
        not pool.is_static,
        bool(pool.replicas),
        "it keeps a fixed number of nodes (spec.replicas)" if pool.is_static else "",
        pool.startup_taints,
        tuple(_slower_pool(pool, used)),
        daemonsets,
        used is not None and _lazy(used.user_data),
        used is not None and any(device.snapshot for device in used.block_devices),
        False,
        pool.place,
    )


def _node_group(group: NodeGroup, daemonsets: int) -> PoolStart:
    fixed = group.size.is_fixed
    return PoolStart(
        group.id,
        "eks-cluster-autoscaler" if group.provider == "aws" else "generic",
        not fixed,
        bool(group.size.minimum),
        "its minimum is its maximum" if fixed else "",
        group.startup_taints,
        tuple(_slower_group(group)),
        daemonsets,
        False,
        False,
        group.provider == "aws",
        group.place,
    )


def _slower_pool(pool: NodePool, used: NodeClass | None) -> Iterator[Slower]:
    for requirement in pool.requirements:
        if requirement.operator != "In" or not requirement.values:
            continue
        if requirement.key == _OS and set(requirement.values) == {"windows"}:
            yield Slower("windows", "its nodes run Windows", requirement.place)
        metal = requirement.key == _TYPE and all(".metal" in value for value in requirement.values)
        if metal or (requirement.key == _SIZE and all(value.startswith("metal") for value in requirement.values)):
            yield Slower("metal", "all its types are bare metal", requirement.place)
    if used is not None:
        yield from slower_class(used)


def slower_class(used: NodeClass) -> Iterator[Slower]:
    """What a node class adds to the start of its nodes."""
    if (used.ami_family or "").startswith("Windows"):
        place = used.place.at("spec", "amiFamily" if used.place.at("spec", "amiFamily").value else "amiSelectorTerms")
        yield Slower("windows", "its nodes run Windows", place)
    if "#!" in used.user_data:
        yield Slower("user-data", "a script of its own runs before the kubelet", used.place.at("spec", "userData"))
    for device in used.block_devices:
        ebs = device.place.at("ebs")
        if device.snapshot and ebs.at("volumeInitializationRate").value is None:
            yield Slower(
                "snapshot-volume",
                "a volume is made from a snapshot without volumeInitializationRate: blocks are fetched on first use",
                ebs.at("snapshotID"),
            )


def _slower_group(group: NodeGroup) -> Iterator[Slower]:
    if group.os == "windows":
        yield Slower("windows", "its nodes run Windows", group.place)
    if group.instance_types and all(".metal" in one.name for one in group.instance_types):
        yield Slower("metal", "all its types are bare metal", group.instance_types[0].place)


def _lazy(user_data: str) -> bool:
    lowered = user_data.lower()
    return any(word in lowered for word in _LAZY)
