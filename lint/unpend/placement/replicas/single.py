"""One workload: bound, witness, and a search only for the gap between them."""

from __future__ import annotations

from unpend.placement.replicas.bound import Cells, bound, cases
from unpend.placement.replicas.order import can_get_stuck
from unpend.placement.replicas.search import explore
from unpend.placement.replicas.witness import witness
from unpend.placement.replicas.world import Budget, State, World
from unpend.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Count:
    """Between `at_least` and `at_most` of `wanted` pods can run at once; `state` is a placement of `at_least`.

    `stuck` says whether a scheduler that places one pod after another, each where it may, can end with fewer than
    `wanted` although `wanted` is possible; None: not known within the budget.
    """

    wanted: int
    at_least: int
    at_most: int
    state: State
    stuck: bool | None = False

    @property
    def known(self) -> bool:
        """Whether the two bounds meet."""
        return self.at_least == self.at_most


def count_one(world: World, budget: Budget, *, order: bool = True) -> Count:
    """Count the only kind of the world; `order` also asks whether an unlucky order gets stuck."""
    wanted = world.kinds[0].limit
    if wanted == 0:
        return Count(0, 0, 0, world.empty)
    low, state = witness(world, 0)
    split = cases(world, 0)
    high = low
    if low < wanted:
        low, high, state = _close(world, split, low, state, budget)
    found = Count(wanted, low, high, state)
    if order and low >= wanted:
        return replace(found, stuck=can_get_stuck(world, split, budget))
    return found


def _close(world: World, split: tuple[Cells, ...], low: int, state: State, budget: Budget) -> tuple[int, int, State]:
    """Bound and witness for every case, then the search if they do not meet."""
    high = 0
    for cells in split:
        if sum(cells.room) <= low and len(split) > 1:
            high = max(high, min(sum(cells.room), low))
            continue
        found = bound(cells, budget, low)
        if found.most > low:
            for attempt in (
                witness(world, 0, found.target),
                witness(world, 0, within=[n for nodes in cells.nodes for n in nodes]),
            ):
                if attempt[0] > low:
                    low, state = attempt
        high = max(high, found.most)
    high = max(high, low)
    if low < high:
        seen = explore(world, budget, enough=(high,))
        low = max(low, seen.most[0])
        if seen.complete:
            high = low
    return low, high, state
