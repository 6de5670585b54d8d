"""Which NodePools could make the same node for the same pod, chosen by accident of name (`karpenter.md` §1.7)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from unpend.algebra.taints import FILTERING_EFFECTS
from unpend.model.inventory import Inventory
from unpend.model.karpenter import NodePool
from unpend.model.karpenter_labels import CORE_WELL_KNOWN, NODE_POOL, aws_well_known, release
from unpend.placement.karpenter.grid import admitted
from unpend.placement.karpenter.requirements import Requirements
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
        if one.weight != other.weight or one.name == other.name or _taints(one) != _taints(other):
            continue
        if _meet(folded[one.name], folded[other.name], well_known, (one, other)):
            yield Overlap(one, other)


def _taints(pool: NodePool) -> frozenset[tuple[str, str, str]]:
    return frozenset((t.key, t.value, t.effect) for t in pool.taints if t.effect in FILTERING_EFFECTS)


def _meet(
    left: Requirements, right: Requirements, well_known: frozenset[str], pools: tuple[NodePool, NodePool]
) -> bool:
    own = {f"{p.node_class.group}/{p.node_class.kind.lower()}" for p in pools} | {NODE_POOL}
    for key in {r.key for r in left} | {r.key for r in right}:
        if key in own:
            continue
        both = key in left and key in right
        if not both:
            if key not in well_known:
                return False
            continue
        if not admitted(left.get(key)).overlaps(admitted(right.get(key))):
            return False
    return True
