"""Placements that prove a lower bound: one pod after another, each step asked of the exact checker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from unpend.placement.replicas.world import Board, State, World

Manner = Literal["lowest", "highest", "roomy", "tight"]


def place(
    board: Board, kind: int, times: int, manner: Manner = "lowest", target: Mapping[int, list[int]] | None = None
) -> int:
    """Put up to `times` pods of a kind on the board, greedily; returns how many went on.

    `lowest` counts first, or the opposite, which is how a scheduler gets stuck; `roomy` and `tight` go by what is left.
    With a `target`, each node belongs to a list with one number: how many more its cell may take.
    """
    done = 0
    nodes = [n for n, accepted in enumerate(board.world.kinds[kind].accepts) if accepted]
    while done < times:
        within = nodes if target is None else [n for n in nodes if target.get(n, _NONE)[0] > 0]
        possible = board.open_to(kind, within)
        if not possible:
            break
        rank = _ranking(board, kind, manner)
        chosen = min(possible, key=rank)
        board.add(kind, chosen)
        if target is not None:
            target[chosen][0] -= 1
        done += 1
    return done


_NONE = [0]


def _ranking(board: Board, kind: int, manner: Manner) -> Callable[[int], tuple[int, ...]]:
    """How early a node comes, from the smallest value up."""
    what = board.world.kinds[kind]
    rows = [
        (row.domain, counts, min(counts, default=0))
        for row, counts in zip(what.spreads, board.spread[kind], strict=True)
        if row.counted
    ]
    wants = [(index, want) for index, want in enumerate(what.requests) if want]

    def fits(node: int) -> int:
        left = board.left[node]
        if left is None:
            return what.limit
        return min((left[index] // want for index, want in wants), default=what.limit)

    def rank(node: int) -> tuple[int, ...]:
        above = [counts[domain[node]] - minimum for domain, counts, minimum in rows]
        if manner == "lowest":
            return (max(above, default=0), sum(above), board.counts[kind][node], -fits(node), node)
        if manner == "highest":
            return (-sum(above), -board.counts[kind][node], fits(node), node)
        return (-fits(node) if manner == "roomy" else fits(node), sum(above), node)

    return rank


def witness(
    world: World, kind: int, target: Sequence[tuple[tuple[int, ...], int]] = (), within: Sequence[int] | None = None
) -> tuple[int, State]:
    """The best placement found for one kind alone, with the state; `within` limits it to some nodes (one case)."""
    board = Board(world)
    left: dict[int, list[int]] | None = None
    if target:
        left = {}
        for nodes, amount in target:
            shared = [amount]
            left.update(dict.fromkeys(nodes, shared))
    elif within is not None:
        left = {node: [world.kinds[kind].limit] for node in within}
    done = place(board, kind, world.kinds[kind].limit, "lowest", left)
    # What the target did not foresee may still fit.
    done += place(board, kind, world.kinds[kind].limit - done)
    return done, board.state
