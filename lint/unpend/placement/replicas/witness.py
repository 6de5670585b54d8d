"""Placements that prove a lower bound: one pod after another, each step asked of the exact checker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from unpend.placement.replicas.world import Board, State, World

Manner = Literal["lowest", "highest", "roomy", "tight"]


def rank(board: Board, kind: int, node: int, manner: Manner) -> tuple[int, ...]:
    """How early a node comes: `lowest` counts first, or the opposite, which is how a scheduler gets stuck."""
    above = [
        counts[row.domain[node]] - min(counts, default=0)
        for row, counts in zip(board.world.kinds[kind].spreads, board.spread[kind], strict=True)
        if row.counted
    ]
    left = board.left[node]
    wants = board.world.kinds[kind].requests
    fits = board.world.kinds[kind].limit
    if left is not None:
        fits = min((have // want for have, want in zip(left, wants, strict=True) if want), default=fits)
    if manner == "lowest":
        return (max(above, default=0), sum(above), board.counts[kind][node], -fits, node)
    if manner == "highest":
        return (-sum(above), -board.counts[kind][node], fits, node)
    if manner == "roomy":
        return (-fits, sum(above), node)
    return (fits, sum(above), node)


def place(
    board: Board, kind: int, times: int, manner: Manner = "lowest", target: Mapping[int, list[int]] | None = None
) -> int:
    """Put up to `times` pods of a kind on the board, greedily; returns how many went on.

    With a `target`, each node belongs to a list with one number: how many more its cell may take.
    """
    done = 0
    nodes = [n for n in range(len(board.world.nodes)) if board.world.kinds[kind].accepts[n]]
    while done < times:
        best: tuple[int, ...] | None = None
        chosen = -1
        for node in nodes:
            if (target is None or target.get(node, [0])[0] > 0) and board.allows(kind, node):
                value = rank(board, kind, node, manner)
                if best is None or value < best:
                    best, chosen = value, node
        if best is None:
            break
        board.add(kind, chosen)
        if target is not None:
            target[chosen][0] -= 1
        done += 1
    return done


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
