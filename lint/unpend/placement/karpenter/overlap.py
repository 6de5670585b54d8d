"""Which NodePools could make a node for the same pod, and whether that is decided by weight or by the name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from unpend.algebra.taints import FILTERING_EFFECTS
from unpend.model.karpenter import NodePool
from unpend.model.karpenter_labels import NODE_POOL
from unpend.placement.karpenter.grid import admitted
from unpend.placement.karpenter.managed import ManagedPool
from unpend.placement.karpenter.requirements import Requirements
from unpend.placement.karpenter.template import node_class_key
from unpend.placement.pool_summary import Overlap

if TYPE_CHECKING:
    import networkx as nx


def overlap_graph(pools: Iterable[ManagedPool]) -> nx.Graph[str]:
    """Pools as nodes, an edge with its `Overlap` (attribute `overlap`) between two that take the same pods.

    That is: the same taints, requirements that meet in every key, and instance types in common. A label of one's own
    that only one of them has, or that has no value in common, is a deliberate split.
    """
    import networkx as nx

    graph: nx.Graph[str] = nx.Graph()
    usable = [p for p in pools if p.unusable is None and not p.pool.is_static]
    graph.add_nodes_from(pool.name for pool in usable)
    for number, one in enumerate(usable):
        for other in usable[number + 1 :]:
            if one.name == other.name or taints_of(one.pool) != taints_of(other.pool):
                continue
            if not can_meet(
                one.requirements, other.requirements, one.well_known & other.well_known, (one.pool, other.pool)
            ):
                continue
            types = _shared(one, other)
            if types != 0:
                graph.add_edge(
                    one.name,
                    other.name,
                    overlap=Overlap(one.name, other.name, types, one.pool.weight != other.pool.weight),
                )
    return graph


def _shared(one: ManagedPool, other: ManagedPool) -> int | None:
    if one.grid is None or other.grid is None:
        return None
    if one.grid is other.grid:
        return one.grid.collapse(one.base.possible & other.base.possible).bit_count()
    if one.grid.shapes.names != other.grid.shapes.names:
        return None
    return (one.grid.collapse(one.base.possible) & other.grid.collapse(other.base.possible)).bit_count()


def taints_of(pool: NodePool) -> frozenset[tuple[str, str, str]]:
    """The taints that keep pods away."""
    return frozenset((t.key, t.value, t.effect) for t in pool.taints if t.effect in FILTERING_EFFECTS)


def can_meet(
    left: Requirements, right: Requirements, well_known: frozenset[str], pools: tuple[NodePool, NodePool]
) -> bool:
    """Whether a pod without labels of its own may land in either: no key keeps the two apart."""
    own = {node_class_key(p.node_class.group, p.node_class.kind) for p in pools} | {NODE_POOL}
    for key in {r.key for r in left} | {r.key for r in right}:
        if key in own:
            continue
        if not (key in left and key in right):
            if key not in well_known:
                return False
            continue
        if not admitted(left.get(key)).overlaps(admitted(right.get(key))):
            return False
    return True
