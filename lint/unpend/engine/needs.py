"""What a rule needs to be asked: each need of the rule contract with the sentence for the list of skipped rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from unpend.model.inventory import Inventory
from unpend.rule import Need
from unpend.settings import Settings, World

_KARPENTER_KINDS = frozenset({"AWSNodeTemplate", "EC2NodeClass", "Machine", "NodeClaim", "NodePool", "Provisioner"})

_REASONS: dict[Need, str] = {
    "workloads": "no workloads were given",
    "pools": "no pools or nodes were given",
    "nodes": "no Node objects were given",
    "nodepools": "no NodePools were given",
    "nodegroups": "no node groups were given",
    "karpenter": "no NodePools or node classes were given",
    "daemonsets": "no DaemonSets were given",
    "pdbs": "no PodDisruptionBudgets were given",
    "autoscalers": "no HorizontalPodAutoscalers or ScaledObjects were given",
    "classes": "no RuntimeClasses or PriorityClasses were given",
    "storage": "no claims, volumes or storage classes were given",
    "closed-pools": "the pools are not known to be complete",
    "closed-workloads": "the workloads are not known to be complete",
    "closed-classes": "the RuntimeClasses and PriorityClasses are not known to be complete",
}


class Needs:
    """Answers for one cluster, each need looked at once."""

    def __init__(self, inventory: Inventory, settings: Settings) -> None:
        self._inventory = inventory
        self._world = effective_world(inventory, settings)
        self._met: dict[Need, bool] = {}
        self._kinds: frozenset[str] | None = None

    def missing(self, needs: Iterable[Need]) -> str | None:
        """Why a rule with these needs cannot be asked, None when it can."""
        for need in needs:
            if need not in self._met:
                self._met[need] = _CHECKS[need](self)
            if not self._met[need]:
                return _REASONS[need]
        return None

    def kinds(self, *kinds: str) -> bool:
        """Whether an object of one of the kinds is there (among those without a typed reader)."""
        if self._kinds is None:
            found = {o.kind for o in self._inventory.others}
            self._kinds = frozenset(found | {o.kind for o in self._inventory.unread_capacity})
        return not self._kinds.isdisjoint(kinds)

    def has(self, *fields: str) -> bool:
        """Whether one of the fields of the inventory has something."""
        return any(getattr(self._inventory, name) for name in fields)

    def closed(self, kind: str) -> bool:
        """Whether a kind of fact is complete."""
        return bool(getattr(self._world, kind) == "closed")

    def daemonsets(self) -> bool:
        """Whether a DaemonSet is among the workloads."""
        return any(w.kind == "DaemonSet" for w in self._inventory.workloads)


_CHECKS: dict[Need, Callable[[Needs], bool]] = {
    "workloads": lambda n: n.has("workloads"),
    "pools": lambda n: n.has("nodes", "node_pools", "node_groups"),
    "nodes": lambda n: n.has("nodes"),
    "nodepools": lambda n: n.has("node_pools"),
    "nodegroups": lambda n: n.has("node_groups"),
    "karpenter": lambda n: n.has("node_pools", "node_classes") or n.kinds(*_KARPENTER_KINDS),
    "daemonsets": lambda n: n.daemonsets(),
    "pdbs": lambda n: n.has("disruption_budgets"),
    "autoscalers": lambda n: n.has("autoscalers"),
    "classes": lambda n: n.has("runtime_classes", "priority_classes"),
    "storage": lambda n: n.has("claims", "volumes", "storage_classes"),
    "closed-pools": lambda n: n.closed("pools"),
    "closed-workloads": lambda n: n.closed("workloads"),
    "closed-classes": lambda n: n.closed("classes"),
}


def effective_world(inventory: Inventory, settings: Settings) -> World:
    """The world of a run: a capacity object that nobody here can read opens the pools, whatever was said.

    Nodes are pools of one shape, so pools are as open as Nodes are.
    """
    world = settings.world
    if world.pools == "closed" and (inventory.unread_capacity or world.nodes == "open"):
        from unpend.records import replace

        return replace(world, pools="open")
    return world
