"""`minValues`: how many different values the instance types that are left have to have (`karpenter.md` §2.8)."""

from __future__ import annotations

from unpend.placement.karpenter.grid import Grid
from unpend.placement.karpenter.pool import ManagedPool
from unpend.placement.verdict import Against, Obstacle


def short_of_min_values(found: ManagedPool, grid: Grid, mask: int) -> Obstacle | None:
    """Which `minValues` of the pool the types of a mask cannot meet, None when all are met (`karpenter.md` §2.8)."""
    types = grid.collapse(mask)
    for one in found.requirements:
        wanted = one.min_values
        if wanted is None:
            continue
        count = count_values(grid, one.key, types, mask)
        if count < wanted:
            place = next((r.place for r in found.pool.requirements if r.min_values == wanted), found.pool.place)
            return Obstacle(
                "pool",
                f"{found.name} wants at least {wanted} values of {one.key}, and the types that are left "
                f"have {count} (minValues requirement is not met for label(s))",
                "karpenter:§2.8",
                place.at("minValues"),
                Against(found.name, place),
                "pool-unusable",
            )
    return None


def count_values(grid: Grid, key: str, types: int, mask: int) -> int:
    """How many distinct values of a label the types have, those of offerings that they have elsewhere included."""
    count = sum(1 for having in grid.shapes.values(key).values() if having & types)
    if grid.shapes.unsaid(key):
        # Zones whose names are not known are as many as there are groups in different places.
        places = {(group.zone, group.zone_id) for group, _ in grid.groups_of(grid.spread(types))}
        count = max(count, len(places))
    return count
