"""What decides about replicas, in numbers: nodes, kinds of pods that may still come, and what is already there.

A *kind* is one pod template with the number of its pods that may be placed. Labels, selectors and quantities are gone:
topology keys became domain numbers, selectors became "which kinds count", pods that are already bound became base
counts or closed nodes. A *state* says how many pods of each kind sit on each node; it is a flat tuple, kind after kind.
"""

from __future__ import annotations

from collections.abc import Iterable

from unpend.records import dataclass, field

State = tuple[int, ...]
AWAY = -1
"""The domain of a node that lacks the key, or that does not count."""


@dataclass(frozen=True, slots=True)
class SpreadRow:
    """A hard spread constraint of one kind (§8).

    `domain` gives each node its domain or AWAY, `base` each domain its count before any replica is placed, `zero` says
    that there are fewer domains than minDomains so that the minimum is taken as 0 (S-806), `counted` lists the kinds
    whose pods count, `itself` is 1 when the pod counts itself.
    """

    domain: tuple[int, ...]
    base: tuple[int, ...]
    max_skew: int
    zero: bool
    itself: int
    counted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AffinityRow:
    """The required pod affinity of one kind, all terms together (§9.2).

    `domains` has per term the domain of each node; `base` per term the domains where a bound pod satisfies all terms;
    `peers` the kinds that satisfy all terms; `first` is true when the pod itself does (S-913).
    """

    domains: tuple[tuple[int, ...], ...]
    base: tuple[frozenset[int], ...]
    peers: tuple[int, ...]
    first: bool


@dataclass(frozen=True, slots=True)
class AntiRow:
    """Kinds that keep this one out of their domain, by its own term or by theirs (S-921, S-922)."""

    domain: tuple[int, ...]
    kinds: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """One pod template: at most `limit` pods of it.

    `accepts` says per node whether nothing fixed keeps the pod away: the node's own rules, missing topology keys, and
    the bound pods by their ports, claims and anti-affinity. `requests` are in the order of the world's resources.
    `apart` are kinds that cannot share a node (host ports, S-602), `exclusive` kinds of which no pod may be anywhere
    (ReadWriteOncePod, S-1031).
    """

    name: str
    limit: int
    accepts: tuple[bool, ...]
    requests: tuple[int, ...]
    spreads: tuple[SpreadRow, ...] = ()
    affinity: AffinityRow | None = None
    anti: tuple[AntiRow, ...] = ()
    apart: tuple[int, ...] = ()
    exclusive: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class World:
    """Nodes by name, what is free on each (per resource; None: without bound), and the kinds."""

    nodes: tuple[str, ...]
    free: tuple[tuple[int, ...] | None, ...]
    kinds: tuple[Kind, ...]

    @property
    def empty(self) -> State:
        """The state before any replica is placed."""
        return (0,) * (len(self.nodes) * len(self.kinds))

    def room(self, kind: int, node: int) -> int:
        """How many pods of a kind fit on a node when nothing else comes, by resources and ports; at most its limit."""
        limit = self.kinds[kind].limit
        if not self.kinds[kind].accepts[node]:
            return 0
        if kind in self.kinds[kind].apart or kind in self.kinds[kind].exclusive:
            limit = min(limit, 1)
        free = self.free[node]
        if free is not None:
            for have, want in zip(free, self.kinds[kind].requests, strict=True):
                if want > 0:
                    limit = min(limit, max(0, have) // want)
        return limit


@dataclass(slots=True)
class Board:
    """A state that can be changed one pod at a time and asked whether the scheduler would take the next one."""

    world: World
    counts: list[list[int]] = field(init=False)
    placed: list[int] = field(init=False)
    left: list[list[int] | None] = field(init=False)
    spread: list[list[list[int]]] = field(init=False)
    peers: list[list[list[int]]] = field(init=False)
    anti: list[list[list[int]]] = field(init=False)
    watchers: list[list[tuple[tuple[int, ...], list[int]]]] = field(init=False)
    """Per kind, the domains and the counts of every row that its pods change."""

    def __post_init__(self) -> None:
        world = self.world
        self.counts = [[0] * len(world.nodes) for _ in world.kinds]
        self.placed = [0] * len(world.kinds)
        self.left = [None if free is None else list(free) for free in world.free]
        self.spread = [[list(row.base) for row in kind.spreads] for kind in world.kinds]
        self.peers = [
            [[0] * (max(d, default=AWAY) + 1) for d in kind.affinity.domains] if kind.affinity else []
            for kind in world.kinds
        ]
        self.anti = [[[0] * (max(row.domain, default=AWAY) + 1) for row in kind.anti] for kind in world.kinds]

        self.watchers = [[] for _ in world.kinds]
        for index, kind in enumerate(world.kinds):
            for row, counts in zip(kind.spreads, self.spread[index], strict=True):
                self._watch(row.counted, row.domain, counts)
            if kind.affinity is not None:
                for domain, counts in zip(kind.affinity.domains, self.peers[index], strict=True):
                    self._watch(kind.affinity.peers, domain, counts)
            for anti, counts in zip(kind.anti, self.anti[index], strict=True):
                self._watch(anti.kinds, anti.domain, counts)

    def _watch(self, kinds: tuple[int, ...], domain: tuple[int, ...], counts: list[int]) -> None:
        for kind in kinds:
            self.watchers[kind].append((domain, counts))

    @classmethod
    def at(cls, world: World, state: State) -> Board:
        """The board in a given state."""
        board = cls(world)
        width = len(world.nodes)
        for index, count in enumerate(state):
            if count:
                board.add(index // width, index % width, count)
        return board

    @property
    def state(self) -> State:
        """The counts as a flat tuple."""
        return tuple(count for row in self.counts for count in row)

    def add(self, kind: int, node: int, times: int = 1) -> None:
        """Put pods of a kind on a node (negative: take them away) without asking."""
        self.counts[kind][node] += times
        self.placed[kind] += times
        left = self.left[node]
        if left is not None:
            for index, want in enumerate(self.world.kinds[kind].requests):
                left[index] -= want * times
        for domain, counts in self.watchers[kind]:
            if domain[node] >= 0:
                counts[domain[node]] += times

    def allows(self, kind: int, node: int) -> bool:
        """Whether the scheduler would put one more pod of the kind on the node now."""
        return node in self.open_to(kind, (node,))

    def open_to(self, kind: int, nodes: Iterable[int]) -> list[int]:
        """Those of some nodes on which the scheduler would put one more pod of the kind now."""
        what = self.world.kinds[kind]
        if self.placed[kind] >= what.limit or any(self.placed[other] for other in what.exclusive):
            return []
        # A domain that already holds this many pods takes no more.
        spreads = [
            (row.domain, counts, (0 if row.zero else min(counts, default=0)) + row.max_skew - row.itself)
            for row, counts in zip(what.spreads, self.spread[kind], strict=True)
        ]
        antis = [(row.domain, counts) for row, counts in zip(what.anti, self.anti[kind], strict=True)]
        terms = self._terms(kind)
        wants = [(index, want) for index, want in enumerate(what.requests) if want > 0]
        found = []
        for node in nodes:
            if not what.accepts[node]:
                continue
            left = self.left[node]
            if left is not None and any(left[index] < want for index, want in wants):
                continue
            if any(self.counts[other][node] for other in what.apart):
                continue
            if any(counts[domain[node]] > most for domain, counts, most in spreads):
                continue
            if any(domain[node] not in base and not counts[domain[node]] for domain, base, counts in terms):
                continue
            if any(domain[node] >= 0 and counts[domain[node]] for domain, counts in antis):
                continue
            found.append(node)
        return found

    def _terms(self, kind: int) -> list[tuple[tuple[int, ...], frozenset[int], list[int]]]:
        """The affinity terms that bind now: none for the first pod of a kind that is its own peer (S-913)."""
        row = self.world.kinds[kind].affinity
        if row is None:
            return []
        nobody = not any(row.base) and not any(any(counts) for counts in self.peers[kind])
        return [] if nobody and row.first else list(zip(row.domains, row.base, self.peers[kind], strict=True))


@dataclass(slots=True)
class Budget:
    """Steps that may still be made; a step is one state looked at on about sixteen nodes, never a measure of time."""

    steps: int
    used: int = 0
    levels: int = 0
    flows: int = 0
    states: int = 0

    def take(self, steps: int = 1) -> bool:
        """Use up steps; False when there were none left."""
        if self.used >= self.steps:
            return False
        self.used += steps
        return True
