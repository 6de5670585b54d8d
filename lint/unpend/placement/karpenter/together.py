"""The answers of all NodePools to one pod, put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unpend.placement.karpenter.decide import PoolAnswer
from unpend.placement.karpenter.grid import Grid


def best_first(answers: Sequence[PoolAnswer]) -> PoolAnswer | None:
    """The first pool in Karpenter's order that takes the pod in the earliest attempt."""
    fitting = [a for a in answers if a.verdict == "fits" and a.first is not None]
    return min(fitting, key=lambda a: (a.first, a.pool.number), default=None)


def starving(answers: Sequence[PoolAnswer], best: PoolAnswer) -> PoolAnswer | None:
    """A pool in a loop that Karpenter tries before the best one, or with it."""
    return next((a for a in _tried_before(answers, best) if a.verdict == "loop"), None)


def choosing(answers: Sequence[PoolAnswer], best: PoolAnswer) -> PoolAnswer | None:
    """A pool that Karpenter tries before the best one, and of whose nodes kube-scheduler refuses some (P11)."""
    return next((a for a in _tried_before(answers, best) if a.cause == "launch-choice"), None)


def _tried_before(answers: Sequence[PoolAnswer], best: PoolAnswer) -> Iterator[PoolAnswer]:
    """The pools that surely launch a node, and that Karpenter asks before the best one."""
    if best.first is None:
        return
    place = (best.first, best.pool.number)
    yield from (a for a in answers if a.first is not None and (a.first, a.pool.number) < place)


def spot_pools(answers: Sequence[PoolAnswer]) -> tuple[int, int]:
    """How many instance types, and pairs of type and zone, are left to the pod as spot capacity."""
    grids: dict[int, tuple[Grid, int]] = {}
    for answer in answers:
        grid = answer.pool.grid
        if answer.verdict == "fits" and grid is not None:
            before = grids.get(id(grid), (grid, 0))[1]
            grids[id(grid)] = (grid, before | answer.taken)
    # Types have the same numbers wherever they are named in the same order.
    found: dict[tuple[tuple[str, ...], str], int] = {}
    for grid, mask in grids.values():
        for group, types in grid.groups_of(mask):
            if group.capacity_type == "spot":
                key = (grid.shapes.names, group.zone or group.zone_id)
                found[key] = found.get(key, 0) | types
    by_names: dict[tuple[str, ...], int] = {}
    for (names, _), types in found.items():
        by_names[names] = by_names.get(names, 0) | types
    return sum(t.bit_count() for t in by_names.values()), sum(t.bit_count() for t in found.values())


def zones_of(answer: PoolAnswer, mask: int) -> tuple[str, ...]:
    """The zones of some pairs, by name where it is known, else by ID; sorted."""
    grid = answer.pool.grid
    if grid is None:
        return ()
    return tuple(sorted({z for g, _ in grid.groups_of(mask) if (z := g.zone or g.zone_id)}))


def hangs_on_memory(answer: PoolAnswer) -> bool:
    """Whether a refusal could turn out otherwise where nodes have more memory than the configured overhead leaves (A7).

    Karpenter learns the memory of a type from the first node of it.
    """
    resources, grid = answer.pool.planned, answer.pool.grid
    if resources is None or grid is None or answer.verdict not in ("never", "loop"):
        return False
    types = grid.collapse(answer.pool.base.possible)
    memory = answer.asked.requests.get("memory", 0)
    low, high = (resources.levels("memory", memory)) if "memory" in resources.names else (0, 0)
    fits = types & ~low & high
    return bool(fits and resources.takes(answer.asked.requests).possible & fits)
