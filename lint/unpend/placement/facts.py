"""What rules and analyses share of one run: pools, groups and their labels, each made ready once.

The modules of an autoscaler are imported when somebody asks: a run without NodePools loads nothing of Karpenter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpend.placement.given import FactsLike
from unpend.placement.label_supply import LabelSupply, label_supply

if TYPE_CHECKING:
    from unpend.placement.cluster_autoscaler.groups import Groups
    from unpend.placement.karpenter.managed import ManagedPools


def managed_pools_of(facts: FactsLike) -> ManagedPools:
    """The NodePools with the nodes that they could make."""
    from unpend.placement.karpenter.pool_facts import managed_pools

    found: ManagedPools = facts.memo("managed-pools", lambda: managed_pools(facts.inventory, facts.settings))
    return found


def node_groups_of(facts: FactsLike) -> Groups:
    """The node groups, made ready."""
    from unpend.placement.cluster_autoscaler.group_facts import groups_of

    found: Groups = facts.memo("node-groups", lambda: groups_of(facts.inventory, facts.settings))
    return found


def label_supply_of(facts: FactsLike) -> LabelSupply:
    """The labels of all pools."""
    found: LabelSupply = facts.memo("label-supply", lambda: label_supply(facts.inventory, facts.settings))
    return found
