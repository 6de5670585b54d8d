"""Whether an unlucky order of placement can leave a workload short although all of it fits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from unpend.placement.replicas.bound import Cells, bound
from unpend.placement.replicas.search import stuck
from unpend.placement.replicas.witness import Manner, place
from unpend.placement.replicas.world import AWAY, Board, Budget, World

MOST_COMBINATIONS = 5_000
SHARE = 25
"""One part in so many of the steps is spent on the order."""


def can_get_stuck(world: World, split: tuple[Cells, ...], budget: Budget) -> bool | None:
    """The answer for the only kind of a world in which all its pods fit; None: not known within the budget.

    With one partition in each case, all maximal placements of a case have the same size: a domain at the minimum that
    is not full takes one more. Otherwise count what a dead end would take, try the orders that tend to fail, and look
    at every future.
    """
    wanted = world.kinds[0].limit
    alone = split if len(split) == 1 else tuple(cells for cells in split if sum(cells.room))
    if all(cells.keys <= 1 for cells in alone):
        # A case in which not even the first replica finds a node is never entered.
        return any(0 < bound(cells, budget, wanted).most < wanted for cells in alone)
    if all(_dead_end(world, cells) >= wanted for cells in alone):
        return False
    manners: tuple[Manner, ...] = ("highest", "tight", "roomy")
    for manner in manners:
        if place(Board(world), 0, wanted, manner) < wanted:
            return True
    share = Budget(max(0, min(budget.steps - budget.used, budget.steps // SHARE)))
    answer = stuck(world, share)
    budget.used += share.used
    budget.states += share.states
    return answer


def _dead_end(world: World, cells: Cells) -> int:
    """At least so many replicas are placed in any dead end of a case.

    Every constraint has a domain that could take one more by itself: the one at the minimum, or, where the number per
    domain is fixed, any that is not full. Where each combination of such domains has nodes in common, a dead end needs
    them all full. The domain at the minimum then holds what they hold, and every other domain at least as many.
    """
    kind = world.kinds[0]
    nodes = [node for group in cells.nodes for node in group]
    most = {node: world.room(0, node) for node in nodes}
    coarse: list[tuple[tuple[int, ...], Sequence[int], int]] = []
    for row in kind.spreads:
        if not row.counted:
            continue
        lowest = 0 if row.zero else min(row.base)
        if _own_domain(row.domain):
            for node in nodes:
                most[node] = min(most[node], max(0, row.max_skew + lowest - row.base[row.domain[node]]))
            continue
        if row.zero and sum(max(0, row.max_skew - b) for b in row.base) < kind.limit:
            return 0
        factor = 1 if row.zero or any(row.base) else len(row.base)
        coarse.append((row.domain, range(len(row.base)), factor))
    for anti in kind.anti:
        if _own_domain(anti.domain):
            most.update((node, min(most[node], 1)) for node in nodes if anti.domain[node] != AWAY)
            continue
        domains = sorted({anti.domain[node] for node in nodes})
        if AWAY not in domains and len(domains) < kind.limit:
            return 0
        coarse.append((anti.domain, domains, 1))
    if prod(len(domains) for _, domains, _ in coarse) > MOST_COMBINATIONS:
        return 0
    held: dict[tuple[int, ...], int] = {}
    for node in nodes:
        key = tuple(domain[node] for domain, _, _ in coarse)
        held[key] = held.get(key, 0) + most[node]
    least = min(held.get(key, 0) for key in product(*(domains for _, domains, _ in coarse)))
    return least * max((factor for _, _, factor in coarse), default=1)


def _own_domain(domain: Sequence[int]) -> bool:
    """Whether no two nodes share a domain."""
    known = [d for d in domain if d != AWAY]
    return len(known) == len(set(known))
