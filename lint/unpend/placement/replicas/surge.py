"""Rolling updates: how many pods of both revisions fit at once (S-1603)."""

from __future__ import annotations

from unpend.placement.replicas.bound import most
from unpend.placement.replicas.search import explore
from unpend.placement.replicas.together import only
from unpend.placement.replicas.witness import place
from unpend.placement.replicas.world import Board, Budget, Kind, World
from unpend.records import replace


def together_with_old(world: World, budget: Budget) -> int:
    """The most pods of two kinds at once, the old revision and the new one, which share everything but a label.

    A bound: each revision by itself, and both as one kind that keeps only the rules which do not tell them apart.
    """
    old, new = world.kinds
    limit = old.limit + new.limit
    blurred = World(world.nodes, world.free, (_blurred(old, limit),))
    apart = sum(most(_alone(world, kind), 0, budget).most for kind in (0, 1))
    high = min(limit, apart, most(blurred, 0, budget).most)
    board = Board(world)
    low = place(board, 0, old.limit) + place(board, 1, new.limit)
    if low >= high:
        return low
    seen = explore(world, budget)
    return seen.total if seen.complete else high


def _alone(world: World, kind: int) -> World:
    """One revision as if the other were wherever it helps."""
    what = world.kinds[kind]
    part = only(world, (kind,))
    # The other revision can be a peer, and it can raise a minimum: rules that look at it are left out.
    affinity = part.kinds[0].affinity if what.affinity and what.affinity.peers == (kind,) else None
    spreads = tuple(
        row for row, full in zip(part.kinds[0].spreads, what.spreads, strict=True) if 1 - kind not in full.counted
    )
    return replace(part, kinds=(replace(part.kinds[0], affinity=affinity, spreads=spreads),))


def _blurred(old: Kind, limit: int) -> Kind:
    both = (0, 1)
    affinity = None
    if old.affinity is not None and old.affinity.peers == both:
        affinity = replace(old.affinity, peers=(0,))
    return replace(
        old,
        limit=limit,
        spreads=tuple(replace(row, counted=(0,)) for row in old.spreads if row.counted == both),
        affinity=affinity,
        anti=tuple(replace(row, kinds=(0,)) for row in old.anti if row.kinds == both),
        apart=(0,) if old.apart == both else (),
        exclusive=(0,) if old.exclusive == both else (),
    )
