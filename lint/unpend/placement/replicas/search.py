"""Looking at every reachable state within a budget of steps: closes the gap of bound and witness, finds dead ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from unpend.placement.replicas.world import Board, Budget, State, World
from unpend.records import dataclass


@dataclass(frozen=True, slots=True)
class Explored:
    """What was seen. `complete`: every reachable state was looked at, up to states that nothing can tell apart.

    `most` is per kind the largest number ever placed, `total` the largest sum, `together` whether all limits were
    reached at once, `short` the kinds that fell short of their limit in a state where nothing more could be placed.
    """

    complete: bool
    most: tuple[int, ...]
    total: int
    together: bool
    short: frozenset[int]


def explore(
    world: World,
    budget: Budget,
    *,
    enough: Sequence[int] | None = None,
    together: bool = False,
    must: frozenset[int] | None = None,
) -> Explored:
    """Visit reachable states, fullest first. Stops early once every kind reached `enough` (and all at once, if asked).

    `must` limits the question of `together` to some kinds; the others may still come and help.
    """
    width = len(world.nodes)
    kinds = range(len(world.kinds))
    limits = tuple(kind.limit for kind in world.kinds)
    alike = _alike(world)
    size = len(world.kinds) * width
    # Each state has up to so many successors, and each of them is as large.
    cost = 1 + size // 16 + size * size // 20_000
    most = [0] * len(world.kinds)
    wanted = tuple(limit if must is None or k in must else 0 for k, limit in enumerate(limits))
    total, all_at_once, short = 0, not any(wanted), set[int]()
    start = world.empty
    seen = {start}
    stack = [start]
    complete = True
    while stack:
        if (
            enough is not None
            and all(m >= e for m, e in zip(most, enough, strict=True))
            and (all_at_once or not together)
        ):
            complete = False
            break
        if not budget.take(cost):
            complete = False
            break
        budget.states += 1
        state = stack.pop()
        board = Board.at(world, state)
        most = [max(a, b) for a, b in zip(most, board.placed, strict=True)]
        total = max(total, sum(board.placed))
        all_at_once = all_at_once or all(p >= limit for p, limit in zip(board.placed, wanted, strict=True))
        moves = [(k, n) for k in kinds for n in board.open_to(k, range(width))]
        if not moves:
            short |= {k for k in kinds if board.placed[k] < limits[k]}
        for kind, node in reversed(moves):
            following = list(state)
            following[kind * width + node] += 1
            child = _canonical(following, alike, width)
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return Explored(complete, tuple(most), total, all_at_once, frozenset(short))


def stuck(world: World, budget: Budget) -> bool | None:
    """Whether some order leaves fewer pods placed than the limit of the (only) kind; None when the budget ended first.

    States are compared by what can still happen: spread counts relative to their minimum, and what is left on nodes
    that could become full. With ample nodes there are few, however many replicas come.
    """
    kind = world.kinds[0]
    width = len(world.nodes)
    ample = [
        free is None or all(want * kind.limit <= have for want, have in zip(kind.requests, free, strict=True))
        for free in world.free
    ]
    alike = _alike(world)
    cost = 1 + width // 16
    seen = set[tuple[object, ...]]()
    queue: deque[tuple[int, State]] = deque([(0, world.empty)])
    while queue:
        if not budget.take(cost):
            return None
        budget.states += 1
        depth, state = queue.popleft()
        if depth >= kind.limit:
            continue
        board = Board.at(world, state)
        moves = board.open_to(0, range(width))
        if not moves:
            return True
        for node in _different(moves, state, alike):
            following = list(state)
            following[node] += 1
            child = _canonical(following, alike, width)
            board.add(0, node)
            key = _future(board, ample)
            board.add(0, node, -1)
            if key not in seen:
                seen.add(key)
                queue.append((depth + 1, child))
    return False


def _different(nodes: Sequence[int], state: State, alike: Sequence[Sequence[int]]) -> Sequence[int]:
    """One node of those that can be swapped and hold equally many, for a single kind."""
    group = {node: number for number, members in enumerate(alike) for node in members}
    seen = set[tuple[int, int]]()
    found = []
    for node in nodes:
        if node in group:
            key = (group[node], state[node])
            if key in seen:
                continue
            seen.add(key)
        found.append(node)
    return found


def _future(board: Board, ample: Sequence[bool]) -> tuple[object, ...]:
    """Everything that later answers can depend on, for a single kind; breadth first keeps the smallest depth."""
    kind = board.world.kinds[0]
    spreads = tuple(
        tuple(c - (0 if row.zero else min(counts, default=0)) for c in counts)
        for row, counts in zip(kind.spreads, board.spread[0], strict=True)
    )
    peers = tuple(tuple(c > 0 for c in counts) for counts in board.peers[0])
    anti = tuple(tuple(c > 0 for c in counts) for counts in board.anti[0])
    scarce = tuple(
        (count if not plenty else count > 0 and bool(kind.apart))
        for count, plenty in zip(board.counts[0], ample, strict=True)
    )
    return spreads, peers, anti, scarce, bool(kind.exclusive and board.placed[0])


def _alike(world: World) -> tuple[tuple[int, ...], ...]:
    """Groups of nodes that can be swapped without changing anything: same answers, same domains but for their own."""
    groups: dict[tuple[object, ...], list[int]] = {}
    rows: list[tuple[tuple[int, ...], tuple[object, ...]]] = []
    for kind in world.kinds:
        rows += [(row.domain, row.base) for row in kind.spreads]
        rows += [(row.domain, ()) for row in kind.anti]
        if kind.affinity is not None:
            for domain, known in zip(kind.affinity.domains, kind.affinity.base, strict=True):
                rows.append((domain, tuple(d in known for d in range(max(domain, default=-1) + 1))))
    sizes = [_sizes(domain) for domain, _ in rows]
    for node in range(len(world.nodes)):
        signature: list[object] = [world.free[node], *(kind.accepts[node] for kind in world.kinds)]
        for (domain, base), size in zip(rows, sizes, strict=True):
            here = domain[node]
            own = here >= 0 and size[here] == 1
            signature.append(("own", base[here] if base else 0) if own else here)
        groups.setdefault(tuple(signature), []).append(node)
    return tuple(tuple(nodes) for nodes in groups.values() if len(nodes) > 1)


def _sizes(domain: Sequence[int]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for here in domain:
        sizes[here] = sizes.get(here, 0) + 1
    return sizes


def _canonical(state: list[int], alike: Sequence[Sequence[int]], width: int) -> State:
    for nodes in alike:
        columns = sorted(
            (tuple(state[start + n] for start in range(0, len(state), width)) for n in nodes), reverse=True
        )
        for node, column in zip(nodes, columns, strict=True):
            for row, count in enumerate(column):
                state[row * width + node] = count
    return tuple(state)
