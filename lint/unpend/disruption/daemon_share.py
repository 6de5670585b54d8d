"""How much of a node of a node group its DaemonSets take: what Cluster Autoscaler counts as used (`C-402`)."""

from __future__ import annotations

from collections.abc import Iterator

from unpend.model.node_groups.group import NodeGroup
from unpend.placement.cluster_autoscaler.daemons import agents_of
from unpend.placement.facts import node_groups_of
from unpend.placement.given import FactsLike
from unpend.placement.scheduler import node_affinity
from unpend.placement.space import Shape, Space
from unpend.records import dataclass

RESOURCES = {"cpu": 1, "memory": 1000}
"""What utilisation is reckoned in, with the thousandths in one unit of the scheduler."""


@dataclass(frozen=True, slots=True)
class DaemonShare:
    """The resource that DaemonSets take most of, in thousandths of its unit."""

    group: NodeGroup
    resource: str
    taken: int
    whole: int

    @property
    def share(self) -> float:
        """The part that is taken."""
        return self.taken / self.whole


def daemon_shares(facts: FactsLike) -> Iterator[DaemonShare]:
    """For each group whose nodes are known, the resource that its DaemonSets surely take the largest part of."""
    groups = node_groups_of(facts)
    agents = [agent for agent in agents_of(facts.inventory, facts.settings) if agent.sure]
    for found in groups.groups:
        if found.unusable is not None or not agents:
            continue
        shape: Shape = found.views.actual(found.group, merged=True)[0]
        bare = Space([shape])
        landing = [
            agent.demand
            for agent in agents
            if node_affinity.accepts(agent.demand, bare).sure & bare.tolerated(agent.demand.tolerations)
        ]
        shares = []
        for resource, unit in RESOURCES.items():
            whole = shape.free.get(resource)
            if whole is not None and whole.high > 0:
                taken = sum(demand.requests.get(resource, 0) for demand in landing)
                # The largest that the node can be: what is said then holds for any.
                shares.append(DaemonShare(found.group, resource, taken * unit, whole.high * unit))
        if shares:
            yield max(shares, key=lambda one: one.share)
