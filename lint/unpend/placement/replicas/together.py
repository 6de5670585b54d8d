"""Several workloads at once: the most replicas of each in any reachable state, and whether all can run together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb
from typing import Any

from unpend.placement.replicas.bound import most
from unpend.placement.replicas.search import Explored, explore
from unpend.placement.replicas.single import Count, count_one
from unpend.placement.replicas.witness import place
from unpend.placement.replicas.world import AffinityRow, Board, Budget, Kind, World
from unpend.records import dataclass, replace

MOST_EDGES = 20_000
"""Larger flows of a resource are not tried: what contends then stays undecided."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Counts per kind, and the groups of kinds that each fit but cannot all run at once.

    `undecided` holds the kinds of groups for which the budget ended before that was known.
    """

    counts: tuple[Count, ...]
    contention: tuple[frozenset[int], ...]
    undecided: frozenset[int] = frozenset()


def count_all(world: World, steps: int) -> Joint:
    """Count every kind. Each group of kinds that can influence each other has a budget of its own."""
    counts: dict[int, Count] = {}
    contention: list[frozenset[int]] = []
    undecided: set[int] = set()
    for group in groups(world):
        members = sorted(group)
        part = only(world, members)
        budget = Budget(steps)
        if len(members) == 1:
            counts[members[0]] = count_one(part, budget)
            continue
        joint = _count_group(part, budget)
        counts.update(zip(members, joint.counts, strict=True))
        contention += [frozenset(members[i] for i in fighting) for fighting in joint.contention]
        undecided |= {members[i] for i in joint.undecided}
    return Joint(tuple(counts[i] for i in range(len(world.kinds))), tuple(contention), frozenset(undecided))


Reach = tuple[frozenset[int], ...]
"""Per kind, the nodes on which a pod of it can ever sit."""


def at_most(world: World, kind: int, limit: int, budget: Budget, reach: Reach | None = None) -> int:
    """A bound for one kind with another limit; the others come wherever they help. Exact where they do not matter.

    `reach` is `reachable(world)`, where the caller has it already.
    """
    what = world.kinds[kind]
    changed = replace(what, limit=limit)
    if not looked_at(what) - {kind}:
        alone = only(world, (kind,))
        alone = replace(alone, kinds=(replace(alone.kinds[0], limit=limit),))
        return count_one(alone, budget, order=False).at_most
    if reach is None or not what.limit:
        world = with_kind(world, kind, changed)
        reach = reachable(world)
    return _upper(world, kind, reach, budget, 0, changed)


def with_kind(world: World, kind: int, changed: Kind) -> World:
    """The world with another kind in the place of one."""
    return replace(world, kinds=(*world.kinds[:kind], changed, *world.kinds[kind + 1 :]))


def only(world: World, members: Sequence[int]) -> World:
    """The world with some of its kinds, in the order given."""
    number = {kind: i for i, kind in enumerate(members)}

    def kept(kinds: Iterable[int]) -> tuple[int, ...]:
        return tuple(number[k] for k in kinds if k in number)

    def smaller(kind: Kind) -> Kind:
        affinity = kind.affinity
        return replace(
            kind,
            # A row that no kind left is counted by stays: it may refuse nodes for what it counts already.
            spreads=tuple(replace(row, counted=kept(row.counted)) for row in kind.spreads),
            affinity=None if affinity is None else replace(affinity, peers=kept(affinity.peers)),
            anti=tuple(replace(row, kinds=kept(row.kinds)) for row in kind.anti if kept(row.kinds)),
            apart=kept(kind.apart),
            exclusive=kept(kind.exclusive),
        )

    return World(world.nodes, world.free, tuple(smaller(world.kinds[k]) for k in members))


def groups(world: World) -> tuple[frozenset[int], ...]:
    """Kinds that can influence each other: by pod rules, or because a node that both use can become full."""
    parent = list(range(len(world.kinds)))

    def root(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    def join(kinds: Iterable[int]) -> None:
        first: int | None = None
        for kind in kinds:
            if first is None:
                first = root(kind)
            else:
                parent[root(kind)] = first

    for index, kind in enumerate(world.kinds):
        join((index, *looked_at(kind)))
    for node, free in enumerate(world.free):
        users = [k for k in range(len(world.kinds)) if world.room(k, node)]
        if free is not None and len(users) > 1 and _crowded(world, users, free):
            join(users)
    found: dict[int, set[int]] = {}
    for index in range(len(world.kinds)):
        found.setdefault(root(index), set()).add(index)
    return tuple(frozenset(group) for group in found.values())


def looked_at(kind: Kind) -> frozenset[int]:
    """The kinds that the pod rules of a kind mention."""
    seen = {k for row in kind.spreads for k in row.counted} | {k for anti in kind.anti for k in anti.kinds}
    return frozenset(seen.union(kind.apart, kind.exclusive, kind.affinity.peers if kind.affinity else ()))


def _crowded(world: World, users: Sequence[int], free: Sequence[int]) -> bool:
    return any(
        sum(world.kinds[k].limit * world.kinds[k].requests[r] for k in users) > have for r, have in enumerate(free)
    )


def _count_group(world: World, budget: Budget) -> Joint:
    kinds = range(len(world.kinds))
    limits = tuple(kind.limit for kind in world.kinds)
    reach = reachable(world)
    low = [_alone(world, k, budget).at_least for k in kinds]
    together = False
    for order in _orders(world):
        board = Board(world)
        for kind in order:
            place(board, kind, limits[kind] - board.placed[kind])
        low = [max(a, b) for a, b in zip(low, board.placed, strict=True)]
        together = together or all(p >= n for p, n in zip(board.placed, limits, strict=True))
        if together:
            break
    high = [
        n if a >= n else _upper(world, k, reach, budget, a) for k, (a, n) in enumerate(zip(low, limits, strict=True))
    ]
    fitting = frozenset(k for k in kinds if high[k] >= limits[k])
    fights = () if together or len(fitting) < 2 else _overdrawn_group(world, fitting)
    seen = _look(world, fitting, budget)
    low = [max(a, b) for a, b in zip(low, seen.most, strict=True)]
    if seen.complete:
        high = low
        fitting = frozenset(k for k in kinds if high[k] >= limits[k])
        fights = tuple(group for group in fights if group <= fitting)
    undecided: frozenset[int] = frozenset()
    if not (together or fights or seen.together) and len(fitting) > 1:
        if seen.complete:
            fights = (_smallest(world, fitting, budget),)
        else:
            undecided = fitting
    counts = tuple(
        Count(n, a, b, world.empty, _order(world, k, seen, fights, undecided, budget) if a >= n else False)
        for k, (n, a, b) in enumerate(zip(limits, low, high, strict=True))
    )
    return Joint(counts, fights, undecided)


def _look(world: World, fitting: frozenset[int], budget: Budget) -> Explored:
    """Look at every state, unless there are surely too many to see them all."""
    states = 1
    for index, kind in enumerate(world.kinds):
        usable = sum(1 for node in range(len(world.nodes)) if world.room(index, node))
        states *= comb(kind.limit + usable, usable)
        if states > 20 * budget.steps:
            return Explored(False, (0,) * len(world.kinds), 0, False, frozenset())
    return explore(world, budget, must=fitting)


def _order(
    world: World,
    kind: int,
    seen: Explored,
    fights: Sequence[frozenset[int]],
    undecided: frozenset[int],
    budget: Budget,
) -> bool | None:
    """Whether an unlucky order leaves the kind short; in a group that cannot run at once anyway it is not asked.

    Where there are too many states to look at all of them, only the order of its own pods is asked.
    """
    if any(kind in fight for fight in fights):
        return False
    if kind in seen.short:
        return True
    if seen.complete:
        return False
    if kind in undecided:
        return None
    found = count_one(only(world, (kind,)), Budget(budget.steps // 10))
    return found.stuck if found.at_least >= found.wanted else False


def _alone(world: World, kind: int, budget: Budget) -> Count:
    return count_one(only(world, (kind,)), Budget(min(200, budget.steps)), order=False)


def _orders(world: World) -> tuple[tuple[int, ...], ...]:
    """Orders in which to try all kinds: targets of affinity first, large pods first, as given, and backwards."""
    kinds = tuple(range(len(world.kinds)))
    needy = tuple(sorted(kinds, key=lambda k: (world.kinds[k].affinity is not None, k)))
    large = tuple(sorted(kinds, key=lambda k: (tuple(-r for r in world.kinds[k].requests), k)))
    choice = tuple(sorted(kinds, key=lambda k: (sum(world.kinds[k].accepts), k)))
    # Twice over: what waited for its peers in the first round finds them in the second.
    return tuple(dict.fromkeys(order + order for order in (needy, choice, large, kinds, kinds[::-1])))


def reachable(world: World) -> Reach:
    """The nodes on which pods of each kind can ever sit, peers of required affinity first: a least fixpoint (S-916)."""
    room = [{node for node in range(len(world.nodes)) if world.room(kind, node)} for kind in range(len(world.kinds))]
    reach: list[set[int]] = [set() if kind.affinity else nodes for kind, nodes in zip(world.kinds, room, strict=True)]
    changed = True
    while changed:
        changed = False
        for index, kind in enumerate(world.kinds):
            if kind.affinity is None:
                continue
            for node in room[index] - reach[index]:
                if _peers_can_be(kind.affinity, node, reach):
                    reach[index].add(node)
                    changed = True
    return tuple(map(frozenset, reach))


def _peers_can_be(row: AffinityRow | None, node: int, reach: Sequence[set[int]]) -> bool:
    if row is None:
        return True
    if row.first and not any(row.base):
        return True
    return all(
        domain[node] in base or any(domain[node] == domain[n] for peer in row.peers for n in reach[peer])
        for domain, base in zip(row.domains, row.base, strict=True)
    )


def _upper(
    world: World, kind: int, reach: Sequence[frozenset[int]], budget: Budget, enough: int, changed: Kind | None = None
) -> int:
    """A bound for one kind (or for what stands in its place) while the others come wherever they help it."""
    what = changed or world.kinds[kind]
    counted = {k for row in what.spreads for k in row.counted} - {kind}
    helping = [sum(world.room(k, node) for k in counted if node in reach[k]) for node in range(len(world.nodes))]
    accepts = tuple(node in reach[kind] for node in range(len(world.nodes)))
    affinity = what.affinity
    if affinity is not None and set(affinity.peers) - {kind}:
        affinity = None
    eased = replace(what, accepts=accepts, affinity=affinity)
    return most(with_kind(world, kind, eased), kind, budget, enough, helping).most


def _overdrawn_group(world: World, fitting: frozenset[int]) -> tuple[frozenset[int], ...]:
    """The kinds that together ask for more of some resource than there is, if there are any."""
    for resource in range(len(world.kinds[0].requests)):
        group = _overdrawn(world, fitting, resource)
        if len(group) > 1:
            return (group,)
    return ()


def _smallest(world: World, fitting: frozenset[int], budget: Budget) -> frozenset[int]:
    """Of kinds that cannot all be there, as few as leaving out one after another can tell."""
    group = fitting
    for kind in sorted(fitting):
        fewer = group - {kind}
        if len(fewer) > 1 and _still_fights(world, fewer, budget):
            group = fewer
    return group


def _still_fights(world: World, group: frozenset[int], budget: Budget) -> bool:
    members = sorted(group)
    part = only(world, members)
    seen = explore(part, budget, enough=tuple(kind.limit for kind in part.kinds), together=True)
    reached = all(m >= kind.limit for m, kind in zip(seen.most, part.kinds, strict=True))
    return seen.complete and reached and not seen.together


def _overdrawn(world: World, kinds: frozenset[int], resource: int) -> frozenset[int]:
    """Kinds that together ask more of one resource than the nodes they can use have; empty when that is not so."""
    import networkx as nx

    graph: nx.DiGraph[Any] = nx.DiGraph()
    graph.add_nodes_from(("start", "end"))
    total = edges = 0
    for kind in sorted(kinds):
        each = world.kinds[kind].requests[resource]
        total += each * world.kinds[kind].limit
        graph.add_edge("start", kind, capacity=each * world.kinds[kind].limit)
        for node, free in enumerate(world.free):
            room = world.room(kind, node)
            if not room:
                continue
            edges += 1
            if edges > MOST_EDGES:
                return frozenset()
            graph.add_edge(kind, ("node", node), capacity=room * each)
            if free is not None:
                graph.add_edge(("node", node), "end", capacity=free[resource])
            else:
                graph.add_edge(("node", node), "end")
    if not total:
        return frozenset()
    value, (near, _) = nx.minimum_cut(graph, "start", "end")
    return frozenset(k for k in kinds if k in near) if value < total else frozenset()
