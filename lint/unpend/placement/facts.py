"""What rules and analyses share of one run: pools, groups and their labels, each made ready once.

The modules of an autoscaler are imported when somebody asks: a run without NodePools loads nothing of Karpenter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from unpend.model.inventory import Inventory, Workload
from unpend.model.pod import EffectivePod
from unpend.placement.label_supply import LabelSupply, label_supply
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import Settings

if TYPE_CHECKING:
    from unpend.placement.cluster_autoscaler.groups import Groups
    from unpend.placement.karpenter.managed import ManagedPools


class FactsLike(Protocol):
    """What a rule is given (`unpend.rule.Facts`), as far as analyses need it."""

    @property
    def inventory(self) -> Inventory:
        """The objects."""

    @property
    def settings(self) -> Settings:
        """The settings of the cluster."""

    @property
    def verdicts(self) -> Mapping[str, WorkloadVerdict]:
        """The verdict of every workload by its id."""

    def effective(self, workload: Workload, /) -> EffectivePod:
        """The pod of a workload after API defaulting and admission."""

    def memo(self, name: Any, compute: Callable[[], Any], /) -> Any:
        """The value kept under a name, computed on first use."""


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
