"""Which NodePools could make the same node for the same pod, chosen by accident of name (`karpenter.md` §1.7)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from unpend.model.inventory import Inventory
from unpend.model.karpenter import NodePool
from unpend.model.karpenter_labels import CORE_WELL_KNOWN, aws_well_known, release
from unpend.placement.karpenter.overlap import can_meet, taints_of
from unpend.placement.karpenter.template import template_requirements
from unpend.settings import Settings


class Overlap(NamedTuple):
    """Two pools of one weight; `first` is the one that Karpenter tries first: names fall."""

    first: NodePool
    second: NodePool


def overlaps(inventory: Inventory, settings: Settings) -> Iterator[Overlap]:
    """Pairs of pools that share weight, taints and possible nodes.

    A label of one's own that only one of them has, or that has no value in common, is a deliberate split.
    """
    well_known = CORE_WELL_KNOWN | aws_well_known(release(settings.karpenter.version))
    pools = [p for p in inventory.node_pools if not (p.is_static or p.refusals or p.faults or p.terminating)]
    folded = {p.name: template_requirements(p) for p in pools}
    for one, other in combinations(sorted(pools, key=lambda p: p.order), 2):
        if one.weight != other.weight or one.name == other.name or taints_of(one) != taints_of(other):
            continue
        if can_meet(folded[one.name], folded[other.name], well_known, (one, other)):
            yield Overlap(one, other)
