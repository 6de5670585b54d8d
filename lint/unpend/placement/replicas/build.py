"""From pods, nodes and placed pods to a `World` in numbers.

Whoever supplies the nodes (Node objects, or the cells of a pool) says for each kind of pod which nodes accept it;
topology spread, inter-pod affinity, host ports and exclusive claims are worked out here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from unpend.model.pod import ContainerPort, EffectivePod, Expression
from unpend.placement.replicas.world import AWAY, AffinityRow, AntiRow, Kind, SpreadRow, World
from unpend.placement.scheduler.inter_pod_affinity import Namespaces, PodTerms, affinity_state
from unpend.placement.scheduler.topology_spread import (
    HardConstraint,
    eligible,
    hard_constraints,
    has_all_keys,
    over_skew,
    spread_state,
)
from unpend.placement.space import ports_clash
from unpend.placement.volumes import Disk
from unpend.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Spot:
    """A node, or a class of nodes that nothing in play tells apart. `free` per resource; None: without bound."""

    name: str
    labels: Mapping[str, str]
    free: Mapping[str, int] | None


@dataclass(frozen=True, slots=True)
class Sitting:
    """A pod that is already on a node; `claims` are those it uses that only one pod may use (namespace, name).

    `leaving` is set when it may be evicted: it keeps nobody away, but it may still be somebody's peer.
    """

    node: str
    namespace: str
    labels: Mapping[str, str]
    terminating: bool
    terms: PodTerms
    claims: frozenset[tuple[str, str]] = frozenset()
    leaving: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pod template of which `limit` pods are to be placed.

    `accepts`, `affinity_accepts` and `taints_accept` say per spot: whether the node takes the pod beside what it holds
    already, whether nodeSelector and node affinity match, whether all filtering taints are tolerated (S-804).
    `requests` includes `pods: 1`. `labels` includes what a controller adds.
    """

    name: str
    pod: EffectivePod
    labels: Mapping[str, str]
    limit: int
    requests: Mapping[str, int]
    accepts: tuple[bool, ...]
    affinity_accepts: tuple[bool, ...]
    taints_accept: tuple[bool, ...]
    claims: frozenset[tuple[str, str]] = frozenset()
    disks: tuple[Disk, ...] = ()
    spread: tuple[HardConstraint, ...] = field(init=False)
    terms: PodTerms = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spread", hard_constraints(self.pod.spec, self.labels))
        object.__setattr__(self, "terms", PodTerms.of(self.pod.spec.affinity, self.pod.namespace, self.labels))

    @property
    def ports(self) -> tuple[ContainerPort, ...]:
        """The host ports that the pod opens."""
        return tuple(port for port in self.pod.host_ports if port.host_port > 0)

    @property
    def held(self) -> set[tuple[str, object]]:
        """What one pod of a node can have: host ports and disks, by what they may clash in."""
        return {(p.protocol, p.host_port) for p in self.ports} | {(d.kind, d.names[0]) for d in self.disks}


def build(
    spots: Sequence[Spot], candidates: Sequence[Candidate], sitting: Sequence[Sitting], namespaces: Namespaces
) -> World:
    """The world of these candidates."""
    resources = tuple(dict.fromkeys(r for c in candidates for r, amount in c.requests.items() if amount > 0))
    free = tuple(None if s.free is None else tuple(s.free.get(r, 0) for r in resources) for s in spots)
    maker = _Maker(spots, candidates, sitting, namespaces, resources)
    kinds = tuple(maker.kind(index) for index in range(len(candidates)))
    return World(tuple(s.name for s in spots), free, kinds)


class _Domains:
    """Domain numbers per topology key, the same for every row that uses the key."""

    def __init__(self, spots: Sequence[Spot]) -> None:
        self._spots = spots
        self._known: dict[str, tuple[Mapping[str, int], tuple[int, ...]]] = {}

    def of(self, key: str) -> tuple[Mapping[str, int], tuple[int, ...]]:
        """Value → number, and per spot the number or AWAY."""
        if key not in self._known:
            numbers: dict[str, int] = {}
            for spot in self._spots:
                if key in spot.labels:
                    numbers.setdefault(spot.labels[key], len(numbers))
            self._known[key] = (
                numbers,
                tuple(numbers[s.labels[key]] if key in s.labels else AWAY for s in self._spots),
            )
        return self._known[key]


class _Labels:
    """Which candidates a selector can mean: those with one of the values of its first `In`, instead of all."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._all = range(len(candidates))
        self._by_label: dict[tuple[str, str], list[int]] = {}
        for index, candidate in enumerate(candidates):
            for pair in candidate.labels.items():
                self._by_label.setdefault(pair, []).append(index)

    def possible(self, selector: Sequence[Expression] | None) -> Sequence[int]:
        """A superset of the candidates that the selector matches, ascending."""
        if selector is None:
            return ()
        for expression in selector:
            if expression.operator == "In":
                found = {i for v in expression.values for i in self._by_label.get((expression.key, v), ())}
                return sorted(found)
        return self._all


class _Maker:
    """Turns candidates into kinds, each looked at from all sides."""

    def __init__(
        self,
        spots: Sequence[Spot],
        candidates: Sequence[Candidate],
        sitting: Sequence[Sitting],
        namespaces: Namespaces,
        resources: Sequence[str],
    ) -> None:
        self.spots = spots
        self.candidates = candidates
        self.sitting = sitting
        self.staying = tuple(pod for pod in sitting if not pod.leaving)
        self.leaving = tuple(pod for pod in sitting if pod.leaving)
        self.namespaces = namespaces
        self.resources = resources
        self.domains = _Domains(spots)
        self.labels = _Labels(candidates)
        self.anti = self._anti()
        self.apart = _sharing([c.held for c in candidates])
        self.exclusive = _sharing([set(c.claims) for c in candidates])

    def kind(self, index: int) -> Kind:
        """One candidate as a kind."""
        me = self.candidates[index]
        spreads, accepts = self._spreads(me, self._accepts(me))
        return Kind(
            name=me.name,
            limit=me.limit,
            accepts=accepts,
            requests=tuple(me.requests.get(r, 0) for r in self.resources),
            spreads=spreads,
            affinity=self._affinity(me),
            anti=tuple(
                AntiRow(self.domains.of(key)[1], tuple(sorted(kinds))) for key, kinds in self.anti[index].items()
            ),
            apart=tuple(i for i in self.apart[index] if _clash(me, self.candidates[i])),
            exclusive=self.exclusive[index],
        )

    def _accepts(self, me: Candidate) -> tuple[bool, ...]:
        state = affinity_state(me.terms, self.spots, self.staying, self.namespaces)
        closed = set(state.foreign)
        for term, values in zip(me.terms.anti, state.own, strict=True):
            closed |= {(term.key, value) for value in values}
        keys = {c.key for c in me.spread} | {t.key for t in me.terms.affinity}
        if any(me.claims & other.claims for other in self.staying):
            return (False,) * len(self.spots)
        return tuple(
            accepted and keys <= spot.labels.keys() and not any(spot.labels.get(key) == value for key, value in closed)
            for accepted, spot in zip(me.accepts, self.spots, strict=True)
        )

    def _affinity(self, me: Candidate) -> AffinityRow | None:
        terms = me.terms.affinity
        if not terms:
            return None
        state = affinity_state(me.terms, self.spots, self.sitting, self.namespaces)
        peers = tuple(
            i
            for i in self.labels.possible(terms[0].selector)
            if me.terms.meant_by_all(self.candidates[i].terms, self.namespaces)
        )
        return AffinityRow(
            tuple(self.domains.of(term.key)[1] for term in terms),
            tuple(
                frozenset(self.domains.of(term.key)[0][value] for value in values)
                for term, values in zip(terms, state.peers, strict=True)
            ),
            peers,
            me.terms.meant_by_all(me.terms, self.namespaces),
        )

    def _spreads(self, me: Candidate, accepts: tuple[bool, ...]) -> tuple[tuple[SpreadRow, ...], tuple[bool, ...]]:
        """The rows that can change as pods come; those that cannot are decided here and now (S-811)."""
        if not me.spread:
            return (), accepts
        state = spread_state(
            me.spread, me.pod.namespace, self.spots, me.affinity_accepts, me.taints_accept, self.sitting
        )
        rows: list[SpreadRow] = []
        for constraint, counts in zip(me.spread, state.counts, strict=True):
            if any(p.namespace == me.pod.namespace and constraint.counts(p.labels) for p in self.leaving):
                # Who may be evicted can hold a minimum up and a count down: nothing is certain any more.
                continue
            counted = tuple(
                i
                for i in self.labels.possible(constraint.selector)
                if self.candidates[i].pod.namespace == me.pod.namespace and constraint.counts(self.candidates[i].labels)
            )
            if counted:
                rows.append(_row(constraint, counts, counted, me, self.spots, accepts))
                continue
            accepts = tuple(
                accepted and not over_skew(constraint, counts, spot.labels[constraint.key])
                for accepted, spot in zip(accepts, self.spots, strict=True)
            )
        return tuple(rows), accepts

    def _anti(self) -> list[dict[str, set[int]]]:
        """Per candidate and topology key the kinds that keep it away: own terms, and those of the others (S-922)."""
        found: list[dict[str, set[int]]] = [{} for _ in self.candidates]
        for index, me in enumerate(self.candidates):
            for term in me.terms.anti:
                for i in self.labels.possible(term.selector):
                    other = self.candidates[i]
                    if term.matches_placed(other.pod.namespace, other.labels, self.namespaces):
                        found[index].setdefault(term.key, set()).add(i)
                    if term.matches_newcomer(other.pod.namespace, other.labels, self.namespaces):
                        found[i].setdefault(term.key, set()).add(index)
        return found


def _row(
    constraint: HardConstraint,
    counts: Mapping[str, int],
    counted: tuple[int, ...],
    me: Candidate,
    spots: Sequence[Spot],
    accepts: Sequence[bool],
) -> SpreadRow:
    place = {value: number for number, value in enumerate(counts)}
    domain: list[int] = []
    for i, spot in enumerate(spots):
        # A node that takes the pod matches both policies; where that is only known in part, it is given a domain too.
        seen = has_all_keys(me.spread, spot.labels) and (
            accepts[i] or eligible(constraint, me.affinity_accepts[i], me.taints_accept[i])
        )
        domain.append(place.setdefault(spot.labels[constraint.key], len(place)) if seen else AWAY)
    base = tuple(counts.get(value, 0) for value in place)
    zero = len(counts) < constraint.min_domains
    return SpreadRow(tuple(domain), base, constraint.max_skew, zero, constraint.itself, counted)


Thing = TypeVar("Thing")


def _sharing(things: Sequence[set[Thing]]) -> list[tuple[int, ...]]:
    """Per entry, the entries (itself too) with which it has something in common."""
    users: dict[Thing, list[int]] = {}
    for index, own in enumerate(things):
        for thing in own:
            users.setdefault(thing, []).append(index)
    return [tuple(sorted({i for thing in own for i in users[thing]})) for own in things]


def _clash(left: Candidate, right: Candidate) -> bool:
    if any(ports_clash(a, b) for a in left.ports for b in right.ports):
        return True
    return any(a.clashes(b) for a in left.disks for b in right.disks)


def accepts_from_mask(mask: int, count: int) -> tuple[bool, ...]:
    """The bits of a mask over spots as booleans."""
    return tuple(bool(mask >> i & 1) for i in range(count))
