"""The instance types that a NodePool could launch, where a catalogue knows them: how many, how small."""

from __future__ import annotations

from collections.abc import Mapping

from unpend.catalog.index import bits
from unpend.model.karpenter import NodePool
from unpend.placement.facts import managed_pools_of
from unpend.placement.given import FactsLike
from unpend.placement.karpenter.managed import ManagedPool
from unpend.placement.karpenter.pool_facts import grid_of
from unpend.records import dataclass


@dataclass(frozen=True, slots=True)
class PoolTypes:
    """The types left by the requirements of a pool. `smallest` is the one with the least memory.

    `capacity` has for each resource the different amounts of those types, in thousandths, as Karpenter reckons them.
    `allocatable` is what pods get on the smallest one at the most.
    """

    names: tuple[str, ...]
    smallest: str
    allocatable: Mapping[str, int]
    capacity: Mapping[str, tuple[int, ...]]


def pool_types(facts: FactsLike, pool: NodePool) -> PoolTypes | None:
    """The types of a pool; None when no catalogue knows them, or none is left."""
    found: PoolTypes | None = facts.memo(("pool-types", pool.name), lambda: _types(facts, pool))
    return found


def _types(facts: FactsLike, pool: NodePool) -> PoolTypes | None:
    pools = managed_pools_of(facts)
    managed: ManagedPool | None = next((m for m in pools.pools if m.pool is pool), None)
    grid = grid_of(managed, pools) if managed is not None else None
    if managed is None or grid is None or managed.unknown:
        return None
    mask = grid.all
    for requirement in managed.requirements:
        mask &= grid.planned(requirement).possible
    numbers = tuple(bits(grid.collapse(mask)))
    if not numbers:
        return None
    shapes = grid.shapes
    smallest = min(numbers, key=lambda number: (shapes.resources.amount("memory", number)[1], shapes.names[number]))
    return PoolTypes(
        tuple(sorted(shapes.names[number] for number in numbers)),
        shapes.names[smallest],
        {name: shapes.resources.amount(name, smallest)[1] for name in shapes.resources.names},
        {
            name: tuple(sorted({shapes.capacity.amount(name, number)[0] for number in numbers}))
            for name in ("cpu", "memory")
        },
    )
