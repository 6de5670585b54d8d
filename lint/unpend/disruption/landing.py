"""Which pools the pods of a workload can land on, and which autoscaler would have to remove the node again.

What blocks Cluster Autoscaler does not block Karpenter, and the reverse, so every statement about a blocker begins
here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from unpend.algebra.taints import untolerated
from unpend.algebra.values import ValueSet
from unpend.model.inventory import Inventory, Workload
from unpend.model.karpenter_labels import CORE_WELL_KNOWN, aws_well_known, release
from unpend.model.pod import EffectivePod
from unpend.placement.demand import Alternative, demand_of
from unpend.placement.domains import TAKES
from unpend.placement.given import FactsLike
from unpend.placement.verdict import WorkloadVerdict
from unpend.records import dataclass, field
from unpend.settings import Settings

if TYPE_CHECKING:
    from unpend.model.karpenter import NodePool
    from unpend.placement.karpenter.requirements import Requirements


def landing_of(facts: FactsLike) -> Landing:
    """The pools of all workloads of a run, shared by its rules."""
    found: Landing = facts.memo(
        "landing",
        lambda: Landing(
            facts.inventory, facts.settings, lambda: facts.verdicts, facts.effective, lambda: autoscaled(facts)
        ),
    )
    return found


@dataclass(slots=True)
class Landing:
    """The pools of each workload, found when somebody asks.

    `verdicts`, `effective` and `autoscaled` are functions, so that a run in which nobody asks costs nothing.
    """

    inventory: Inventory
    settings: Settings
    verdicts: Callable[[], Mapping[str, WorkloadVerdict]]
    effective: Callable[[Workload], EffectivePod]
    autoscaled: Callable[[], bool]
    _pools: dict[str, tuple[NodePool, ...]] = field(default_factory=dict)
    _groups: dict[str, bool] = field(default_factory=dict)
    _requirements: dict[str, Requirements] = field(default_factory=dict)

    def pools(self, workload: Workload) -> tuple[NodePool, ...]:
        """The NodePools that may take a pod of the workload, in reading order; refused pools make no nodes."""
        found = self._pools.get(workload.id)
        if found is None:
            found = self._pools[workload.id] = self._find(workload)
        return found

    def _find(self, workload: Workload) -> tuple[NodePool, ...]:
        usable = [p for p in self.inventory.node_pools if not (p.refusals or p.faults or p.terminating)]
        if not usable:
            return ()
        verdict = self.verdicts().get(workload.id)
        said = {p.pool: p.verdict for p in verdict.pools} if verdict is not None else {}
        names = {f"NodePool/{p.name}" for p in usable}
        if names & said.keys():
            return tuple(p for p in usable if said.get(f"NodePool/{p.name}") in TAKES)
        if verdict is not None and verdict.cause == "rejected":
            return ()
        return tuple(p for p in usable if self._could_take(p, workload))

    def _could_take(self, pool: NodePool, workload: Workload) -> bool:
        """What holds for every node that the pool can make: taints and labels, key by key."""
        from unpend.placement.karpenter.template import template_requirements

        pod = self.effective(workload)
        if untolerated((*pod.spec.tolerations, *pod.possible_tolerations), pool.taints):
            return False
        requirements = self._requirements.get(pool.name)
        if requirements is None:
            requirements = self._requirements[pool.name] = template_requirements(pool)
        well_known = CORE_WELL_KNOWN | aws_well_known(release(self.settings.karpenter.version))
        return any(_overlaps(a, requirements, well_known) for a in demand_of(pod).alternatives)

    def on_groups(self, workload: Workload) -> bool:
        """Whether Cluster Autoscaler has nodes that may take a pod of the workload."""
        known = self._groups.get(workload.id)
        if known is None:
            known = self._groups[workload.id] = self._on_groups(workload)
        return known

    def _on_groups(self, workload: Workload) -> bool:
        if not self.autoscaled():
            return False
        verdict = self.verdicts().get(workload.id)
        said = [p.verdict for p in verdict.pools if p.pool.startswith("NodeGroup/")] if verdict is not None else []
        return any(one in TAKES for one in said) if said else True


def _overlaps(alternative: Alternative, requirements: Requirements, well_known: frozenset[str]) -> bool:
    from unpend.placement.karpenter.grid import admitted
    from unpend.placement.karpenter.requirement import requirement

    if alternative.broken:
        return False
    for key, wanted in alternative.folded.items():
        normal = requirement(key, "Exists").key
        if normal in requirements:
            offered: ValueSet = admitted(requirements.get(normal))
            if not offered.overlaps(wanted):
                return False
        elif normal not in well_known and not wanted.admits_absent:
            return False
    return True


def autoscaled(facts: FactsLike) -> bool:
    """`cluster_autoscaler` of a run, found once."""
    found: bool = facts.memo("cluster-autoscaler", lambda: cluster_autoscaler(facts.inventory, facts.settings))
    return found


def cluster_autoscaler(inventory: Inventory, settings: Settings) -> bool:
    """Whether Cluster Autoscaler resizes node groups here.

    The config says so, or a node group does, or it runs here itself; without any of these, groups whose size may change
    are taken for its own, unless there are NodePools: then they are the nodes that Karpenter itself runs on.
    """
    if settings.node_group_autoscaler is not None:
        return settings.node_group_autoscaler == "cluster-autoscaler"
    groups = inventory.node_groups
    if any(group.autoscaler_hint is not None for group in groups):
        return True
    if not groups:
        return False
    from unpend.placement.cluster_autoscaler.flags import controller

    if controller(inventory) is not None:
        return True
    return not inventory.node_pools and any(not group.size.is_fixed for group in groups)
