"""An upper bound on the replicas of one kind that needs no order of placement (§8, §9, §10.3).

In a reachable state every domain of a spread constraint that got a replica holds at most `minimum + maxSkew` pods, and
every eligible domain holds at least the minimum: counts never fall, so the minimum at the end is no smaller than at any
earlier placement. Fix the minimum (the *level*) of every constraint and each domain has an interval; fill the cells
within them; take the best level. A dead domain pins its level to what it already holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count

from unpend.placement.replicas.flow import Filling, Partition, chains, fill
from unpend.placement.replicas.world import AWAY, Budget, Kind, World
from unpend.records import dataclass


@dataclass(frozen=True, slots=True)
class Level:
    """A spread constraint over cells: domains, counts before, what other kinds may add, the range of its minimum."""

    of: tuple[int, ...]
    base: tuple[int, ...]
    lift: tuple[int, ...]
    max_skew: int
    lowest: int
    highest: int

    def partition(self, low: int, high: int) -> Partition:
        """The widest count intervals of replicas when the minimum lies between `low` and `high`."""
        least = tuple(max(0, low - b - more) for b, more in zip(self.base, self.lift, strict=True))
        return Partition(self.of, least, tuple(max(0, high + self.max_skew - b) for b in self.base))


@dataclass(frozen=True, slots=True)
class Cells:
    """One case: nodes grouped into cells, with everything that limits how many replicas they hold together."""

    nodes: tuple[tuple[int, ...], ...]
    room: tuple[int, ...]
    levels: tuple[Level, ...]
    caps: tuple[Partition, ...]
    limit: int

    @property
    def keys(self) -> int:
        """How many different partitions bite; with at most one, every maximal placement has the same size."""
        return len({_canonical(level.of) for level in self.levels} | {_canonical(cap.of) for cap in self.caps})


@dataclass(frozen=True, slots=True)
class Bound:
    """At most `most` replicas. `target` is a filling that would reach it; `exact` is False when steps ran out."""

    most: int
    target: tuple[tuple[tuple[int, ...], int], ...] = ()
    exact: bool = True


def _canonical(of: Sequence[int]) -> tuple[int, ...]:
    names: dict[int, int] = {}
    return tuple(names.setdefault(d, len(names)) for d in of)


def cases(world: World, kind: int, help_from: Sequence[int] = ()) -> tuple[Cells, ...]:
    """Split into the cases of required self-affinity: one per set of domains that the first replica can open (S-913).

    `help_from` gives per node how many pods of *other* kinds may come to sit there: they can raise a minimum but are
    not counted in the bound. Nodes that other kinds have to open first must already be accepted by the caller.
    """
    what = world.kinds[kind]
    nodes = [n for n in range(len(world.nodes)) if world.room(kind, n)]
    limit = min(what.limit, 1) if kind in what.exclusive else what.limit
    row = what.affinity
    if row is None:
        return (_cells(world, kind, nodes, limit, help_from),)
    if any(row.base):
        inside = [n for n in nodes if all(d[n] in base for d, base in zip(row.domains, row.base, strict=True))]
        return (_cells(world, kind, inside, limit, help_from),)
    if set(row.peers) - {kind}:
        return (_cells(world, kind, nodes, limit, help_from),)
    if not row.first:
        return (_cells(world, kind, [], limit, help_from),)
    openings: dict[tuple[int, ...], list[int]] = {}
    for node in nodes:
        openings.setdefault(tuple(domain[node] for domain in row.domains), []).append(node)
    if not openings:
        return (_cells(world, kind, [], limit, help_from),)
    return tuple(_cells(world, kind, inside, limit, help_from) for inside in openings.values())


def _cells(world: World, kind: int, nodes: Sequence[int], limit: int, help_from: Sequence[int]) -> Cells:
    what = world.kinds[kind]
    usable = [n for n in nodes if _static_spread(what, n)]
    spreads = [row for row in what.spreads if row.itself and row.counted]
    antis = [row for row in what.anti if kind in row.kinds]
    groups: dict[tuple[int, ...], list[int]] = {}
    for node in usable:
        key = tuple(row.domain[node] for row in spreads) + tuple(row.domain[node] for row in antis)
        groups.setdefault(key, []).append(node)
    keys = list(groups)
    room = tuple(min(limit, sum(world.room(kind, n) for n in groups[key])) for key in keys)
    levels = []
    for index, row in enumerate(spreads):
        of = tuple(key[index] for key in keys)
        lift = [0] * len(row.base)
        if set(row.counted) - {kind}:
            for node, more in enumerate(help_from):
                if row.domain[node] != AWAY:
                    lift[row.domain[node]] += more
        levels.append(_level(row.base, of, room, lift, row.max_skew, row.zero, limit))
    caps = tuple(_cap(tuple(key[len(spreads) + index] for key in keys), limit) for index in range(len(antis)))
    return Cells(tuple(tuple(groups[key]) for key in keys), room, tuple(levels), caps, limit)


def _static_spread(what: Kind, node: int) -> bool:
    """A constraint that no future pod is counted by decides about a node once and for all (S-811)."""
    for row in what.spreads:
        if not row.counted:
            minimum = 0 if row.zero else min(row.base, default=0)
            if row.base[row.domain[node]] + row.itself - minimum > row.max_skew:
                return False
    return True


def _level(
    base: Sequence[int],
    of: Sequence[int],
    room: Sequence[int],
    lift: Sequence[int],
    max_skew: int,
    zero: bool,
    limit: int,
) -> Level:
    if zero:
        return Level(tuple(of), tuple(base), tuple(lift), max_skew, 0, 0)
    most = [b + more for b, more in zip(base, lift, strict=True)]
    for domain, here in zip(of, room, strict=True):
        most[domain] += here
    lowest = min(base, default=0)
    # The mean can never fall below the minimum.
    mean = (sum(base) + sum(lift) + limit) // max(1, len(base))
    return Level(tuple(of), tuple(base), tuple(lift), max_skew, lowest, max(lowest, min(min(most, default=0), mean)))


def _cap(of: tuple[int, ...], limit: int) -> Partition:
    """At most one replica in a domain; nodes without the key are not restricted at all (S-923)."""
    size = max(of, default=AWAY) + 2
    return Partition(tuple(size - 1 if d == AWAY else d for d in of), (0,) * size, (1,) * (size - 1) + (limit,))


def bound(cells: Cells, budget: Budget, enough: int) -> Bound:
    """The most replicas of one case over all levels; `enough` is a number that is known to be reached.

    Boxes of levels are halved, the most promising first: a box gives each domain the widest interval of its levels, so
    its filling is never below that of any level inside. When the steps run out the best box left is still a bound.
    """
    if not cells.room:
        return Bound(0)
    order = chains([level.of for level in cells.levels] + [cap.of for cap in cells.caps])
    tick = count()
    heap: list[tuple[int, int, tuple[tuple[int, int], ...], Filling]] = []

    def look(box: tuple[tuple[int, int], ...]) -> None:
        partitions = [level.partition(low, high) for level, (low, high) in zip(cells.levels, box, strict=True)]
        filling = fill(cells.room, [*partitions, *cells.caps], order, cells.limit, budget, enough)
        if filling is not None:
            heappush(heap, (-filling.total, next(tick), box, filling))

    look(tuple((level.lowest, level.highest) for level in cells.levels))
    while heap:
        total, _, box, filling = heap[0]
        wide = max(range(len(box)), key=lambda i: box[i][1] - box[i][0], default=-1)
        if -total <= enough or wide < 0 or box[wide][0] == box[wide][1]:
            return Bound(-total, tuple(zip(cells.nodes, filling.cells, strict=True)), exact=True)
        if not budget.take():
            return Bound(-total, (), exact=False)
        heappop(heap)
        for half in _halves(box, wide):
            look(half)
    return Bound(0)


def _halves(box: tuple[tuple[int, int], ...], wide: int) -> Iterator[tuple[tuple[int, int], ...]]:
    low, high = box[wide]
    middle = (low + high) // 2
    for part in ((low, middle), (middle + 1, high)):
        yield (*box[:wide], part, *box[wide + 1 :])


def most(world: World, kind: int, budget: Budget, enough: int = 0, help_from: Sequence[int] = ()) -> Bound:
    """The bound over all cases of the kind."""
    best = Bound(0)
    for cells in cases(world, kind, help_from):
        found = bound(cells, budget, max(enough, best.most))
        if found.most > best.most or not found.exact:
            best = found if found.most >= best.most else best
    return best
