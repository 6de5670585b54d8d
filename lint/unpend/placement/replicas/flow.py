"""How many pods fit into cells when every domain of several partitions has a least and a greatest count.

Partitions that refine each other form a chain and are solved in closed form; two chains that cross are a flow with
lower bounds; with three or more, every pair of chains gives an upper bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from unpend.placement.replicas.world import Budget
from unpend.records import dataclass

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True)
class Partition:
    """Cells by domain, and how many pods each domain has to have (`low`) and may have (`high`)."""

    of: tuple[int, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Filling:
    """The most pods, and how many go into each cell (exact unless three or more chains cross)."""

    total: int
    cells: tuple[int, ...]


def refines(fine: Sequence[int], coarse: Sequence[int]) -> bool:
    """Whether every domain of one partition lies inside one domain of the other."""
    parent: dict[int, int] = {}
    return all(parent.setdefault(f, c) == c for f, c in zip(fine, coarse, strict=True))


def chains(partitions: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Sort partitions (by index) into chains, each from the coarsest to the finest."""
    order = sorted(range(len(partitions)), key=lambda i: (len(set(partitions[i])), i))
    found: list[list[int]] = []
    for index in order:
        for chain in found:
            if refines(partitions[index], partitions[chain[-1]]):
                chain.append(index)
                break
        else:
            found.append([index])
    return tuple(tuple(chain) for chain in found)


def fill(
    room: Sequence[int],
    partitions: Sequence[Partition],
    order: tuple[tuple[int, ...], ...],
    limit: int,
    budget: Budget,
    enough: int = -1,
) -> Filling | None:
    """The most pods in cells with this `room`, at most `limit`; None when the lower bounds cannot be met.

    A total of at most `enough` is of no interest and need not be the best bound. `order` is `chains(…)` of the
    partitions. With three or more chains the total is an upper bound only.
    """
    budget.levels += 1
    bounds = [_Bounds.of(room, [partitions[i] for i in chain], limit) for chain in order]
    if any(bound is None for bound in bounds):
        return None
    tight = [bound for bound in bounds if bound is not None]
    if not tight:
        return _in_order(room, min(limit, sum(room)))
    if len(tight) == 1:
        return tight[0].filling(min(limit, tight[0].high))
    cells = tuple(min(r, *(b.cell_high(i) for b in tight)) for i, r in enumerate(room))
    best: Filling | None = None
    for left, right in combinations(tight, 2):
        filling = _flow(cells, left, right, limit, budget)
        if filling is None:
            return None
        if best is None or filling.total < best.total:
            best = filling
        if best.total <= enough:
            break
    return best


def _in_order(room: Sequence[int], total: int) -> Filling:
    cells = []
    for here in room:
        cells.append(min(here, total))
        total -= cells[-1]
    return Filling(sum(cells), tuple(cells))


@dataclass(frozen=True, slots=True)
class _Bounds:
    """One chain with its bounds made tight from the cells up; `levels` from the coarsest partition to the finest."""

    room: tuple[int, ...]
    levels: tuple[tuple[tuple[int, ...], Mapping[int, tuple[int, int]]], ...]
    low: int
    high: int

    @classmethod
    def of(cls, room: Sequence[int], chain: Sequence[Partition], limit: int) -> _Bounds | None:
        below = [(0, r) for r in room]
        groups: list[tuple[tuple[int, ...], Mapping[int, tuple[int, int]]]] = []
        inside: dict[int, tuple[int, int]] = dict(enumerate(below))
        parts: Sequence[int] = range(len(room))
        for partition in reversed(chain):
            parent = dict(zip(parts, partition.of, strict=True))
            sums: dict[int, list[int]] = {d: [0, 0] for d in range(len(partition.low))}
            for part, (low, high) in inside.items():
                sums[parent[part]][0] += low
                sums[parent[part]][1] += high
            inside = {}
            for domain, (low, high) in sums.items():
                inside[domain] = (max(low, partition.low[domain]), min(high, partition.high[domain]))
                if inside[domain][0] > inside[domain][1]:
                    return None
            parts = partition.of
            # A domain without cells can only hold nothing; it has been checked and is of no further use.
            inside = {d: inside[d] for d in sorted(set(parts))}
            groups.append((partition.of, inside))
        low = sum(b[0] for b in inside.values())
        if low > limit:
            return None
        return cls(tuple(room), tuple(reversed(groups)), low, sum(b[1] for b in inside.values()))

    def cell_high(self, cell: int) -> int:
        return min(bounds[of[cell]][1] for of, bounds in self.levels)

    def filling(self, total: int) -> Filling:
        """Share out `total` from the top down; always possible within tight bounds."""
        amounts: Mapping[int, int] = {AT_TOP: total}
        parts: Sequence[int] = [AT_TOP] * len(self.room)
        levels: list[tuple[Sequence[int], Mapping[int, tuple[int, int]]]] = [*self.levels]
        levels.append((range(len(self.room)), {i: (0, r) for i, r in enumerate(self.room)}))
        for of, bounds in levels:
            children: dict[int, list[int]] = {}
            for part, child in sorted(set(zip(parts, of, strict=True))):
                children.setdefault(part, []).append(child)
            shared: dict[int, int] = {}
            for part, inside in children.items():
                rest = amounts[part] - sum(bounds[c][0] for c in inside)
                for child in inside:
                    more = min(rest, bounds[child][1] - bounds[child][0])
                    shared[child] = bounds[child][0] + more
                    rest -= more
            amounts, parts = shared, of
        return Filling(total, tuple(amounts[i] for i in range(len(self.room))))


AT_TOP = -2
_SOURCE, _SINK, _MORE, _LESS = ("source",), ("sink",), ("more",), ("less",)


def _flow(cells: Sequence[int], left: _Bounds, right: _Bounds, limit: int, budget: Budget) -> Filling | None:
    """Maximum flow with lower bounds from the top of one chain through the cells to the top of the other."""
    edges: dict[tuple[Any, Any], tuple[int, int]] = {}
    start, end = ("left", 0, AT_TOP), ("right", 0, AT_TOP)
    edges[_SOURCE, start] = (0, limit)
    edges[end, _SINK] = (0, limit)
    bottoms: list[list[Any]] = []
    for side, chain in (("left", left), ("right", right)):
        above: list[Any] = [(side, 0, AT_TOP)] * len(cells)
        for depth, (of, bounds) in enumerate(chain.levels, start=1):
            here = [(side, depth, domain) for domain in of]
            for upper, lower, domain in zip(above, here, of, strict=True):
                edges[(upper, lower) if side == "left" else (lower, upper)] = bounds[domain]
            above = here
        bottoms.append(above)
    for index, (a, b) in enumerate(zip(*bottoms, strict=True)):
        edges[a, ("cell", index)] = (0, cells[index])
        edges[("cell", index), b] = (0, cells[index])
    flow = _bounded_flow(edges, budget)
    if flow is None:
        return None
    amounts = tuple(flow[a, ("cell", index)] for index, a in enumerate(bottoms[0]))
    return Filling(sum(amounts), amounts)


def _bounded_flow(
    edges: Mapping[tuple[Any, Any], tuple[int, int]], budget: Budget
) -> dict[tuple[Any, Any], int] | None:
    """First a circulation that meets every lower bound, then as much more as the residual network takes."""
    import networkx as nx

    flow = {edge: low for edge, (low, _) in edges.items()}
    if any(flow.values()):
        graph: nx.DiGraph[Any] = nx.DiGraph()
        needed = 0
        for (a, b), (low, high) in edges.items():
            graph.add_edge(a, b, capacity=high - low)
            if low:
                needed += low
                _widen(graph, _MORE, b, low)
                _widen(graph, a, _LESS, low)
        graph.add_edge(_SINK, _SOURCE)
        value, found = _maximum(graph, _MORE, _LESS, budget)
        if value < needed:
            return None
        for edge in flow:
            flow[edge] += found[edge[0]].get(edge[1], 0)
    rest: nx.DiGraph[Any] = nx.DiGraph()
    for (a, b), (low, high) in edges.items():
        _widen(rest, a, b, high - flow[a, b])
        _widen(rest, b, a, flow[a, b] - low)
    _, found = _maximum(rest, _SOURCE, _SINK, budget)
    for a, b in flow:
        flow[a, b] += found[a].get(b, 0) - found[b].get(a, 0)
    return flow


def _maximum(graph: nx.DiGraph[Any], source: Any, sink: Any, budget: Budget) -> tuple[int, dict[Any, dict[Any, int]]]:
    import networkx as nx

    budget.flows += 1
    budget.take()
    value, flow = nx.maximum_flow(graph, source, sink)
    return int(value), flow


def _widen(graph: nx.DiGraph[Any], a: Any, b: Any, more: int) -> None:
    if graph.has_edge(a, b):
        graph[a][b]["capacity"] += more
    else:
        graph.add_edge(a, b, capacity=more)
