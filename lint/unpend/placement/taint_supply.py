"""The taints that the nodes of all pools have."""

from __future__ import annotations

from unpend.model.inventory import Inventory
from unpend.model.pod import Taint

BUILT_IN = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "karpenter.sh/", "node-role.kubernetes.io/")
"""How the keys of taints begin that controllers or the installer put on nodes, whatever a pool declares."""


def taint_supply(inventory: Inventory) -> tuple[Taint, ...] | None:
    """All taints of all pools, startup taints included; None when there is capacity that cannot be read, or none."""
    groups = inventory.node_groups
    pools = inventory.node_pools
    known = inventory.nodes or groups or pools
    if inventory.unread_capacity or not known or any("taints" in g.hidden for g in groups):
        return None
    of_groups = (taint for group in groups for taint in (*group.all_taints, *group.startup_taints))
    of_pools = (taint for pool in pools for taint in (*pool.taints, *pool.startup_taints))
    return (*(taint for node in inventory.nodes for taint in node.taints), *of_groups, *of_pools)
