"""A pod as Karpenter sees it: requirements in the order in which it gives them up, and why it may refuse it unseen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal

from unpend.model.karpenter_labels import (
    HOSTNAME,
    KNOWN_VALUES,
    NODE_POOL,
    Version,
    is_restricted,
    normalized,
)
from unpend.model.pod import ContainerPort, EffectivePod, PodAffinityTerm, PreferredNodeTerm, Toleration
from unpend.placement.demand import Alternative, Demand, Written, is_counted
from unpend.placement.karpenter.requirement import Requirement, requirement
from unpend.placement.karpenter.requirements import Requirements
from unpend.placement.karpenter.volumes import NO_WAYS, Ways
from unpend.placement.verdict import Obstacle
from unpend.records import dataclass, field
from unpend.source.place import Place

Held = Literal["yes", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Soft:
    """A constraint that Karpenter holds until it has to give it up (`karpenter.md` §3.5).

    `requirements` are those of a preferred node affinity term, None for topology, where `held` says whether a first pod
    meets it on a new node.
    """

    requirements: tuple[Requirement, ...] | None
    held: Held
    place: Place = field(compare=False, repr=False)
    what: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try: what the pod asks for in it.

    `tolerates_preferred` says that taints of the effect PreferNoSchedule do not count any more. `held` says whether the
    topology rules that are still there are met.
    """

    index: int
    term: int
    requirements: Requirements
    tolerates_preferred: bool
    held: Held


@dataclass(frozen=True)
class Asked:
    """What one pod asks of Karpenter. `requests` are thousandths and have one pod slot in them.

    `refused` says that Karpenter never looks at it (`P-1` to `P-6`). `hard` are topology rules and other facts that are
    not decided here.
    """

    selector: tuple[Requirement, ...]
    terms: tuple[tuple[Requirement, ...], ...]
    soft: tuple[Soft, ...]
    tolerations: tuple[Toleration, ...]
    possible_tolerations: tuple[Toleration, ...]
    requests: Mapping[str, int]
    ports: tuple[ContainerPort, ...]
    priority: int
    preempts: bool
    refused: Obstacle | None
    hard: Held
    relaxes_taints: bool
    volumes: Ways = NO_WAYS

    @cached_property
    def attempts(self) -> tuple[Attempt, ...]:
        """Every try in order: required terms are used up before any preference is (`X-1`)."""
        return tuple(self._attempts())

    def _attempts(self) -> Iterator[Attempt]:
        terms = self.terms or ((),)
        index = 0
        for number in range(len(terms)):
            yield self._attempt(index, number, terms[number], self.soft, False)
            index += 1
        for dropped in range(1, len(self.soft) + 1):
            yield self._attempt(index, len(terms) - 1, terms[-1], self.soft[dropped:], False)
            index += 1
        if self.relaxes_taints:
            yield self._attempt(index, len(terms) - 1, terms[-1], (), True)

    def _attempt(
        self, index: int, number: int, term: tuple[Requirement, ...], soft: Sequence[Soft], tolerates: bool
    ) -> Attempt:
        preferred = next((s.requirements for s in soft if s.requirements is not None), ())
        held: Held = self.hard
        for one in soft:
            if one.held != "yes":
                held = "no" if "no" in (one.held, held) else "unknown"
        return Attempt(index, number, Requirements.of((*self.selector, *preferred, *term)), tolerates, held)


def asked_of(
    demand: Demand,
    pod: EffectivePod,
    *,
    well_known: frozenset[str],
    version: Version,
    respects: bool,
    relaxes_taints: bool,
    hard: Held,
    volumes: Ways = NO_WAYS,
    ignores_claims: bool = True,
    dropped: frozenset[int] = frozenset(),
    nobody: Callable[[PodAffinityTerm], bool] = lambda term: False,
) -> Asked:
    """What a pod asks. `demand` may be a changed one; `dropped` are preferences (by number) that are left out.

    `nobody` says of a pod affinity term that surely no pod matches it: it cannot hold anywhere (`T-33`).
    """
    alternatives = demand.alternatives
    selector = tuple(_requirement(w) for w in _selector(alternatives))
    terms: tuple[tuple[Requirement, ...], ...] = ()
    if demand.affinity is not None:
        terms = tuple(tuple(_requirement(w) for w in a.written if w.kind == "nodeAffinity") for a in alternatives)
    soft = tuple(s for n, s in enumerate(soft_constraints(pod, nobody)) if n not in dropped) if respects else ()
    heaviest = next((s.requirements for s in _preferred_terms(pod) if s.requirements is not None), ())
    if dropped or not pod.spec.affinity.preferred:
        heaviest = next((s.requirements for s in soft if s.requirements is not None), ())
    requests = {
        name: _exact(milli, demand.requests[name]) if name in demand.requests and name != "cpu" else milli
        for name, milli in pod.requests.items()
        if name in demand.requests or not is_counted(name)
    }
    if "cpu" in demand.requests:
        requests["cpu"] = demand.requests["cpu"]
    requests["pods"] = 1000
    refused = _refused(demand, pod, selector, terms, heaviest, well_known, version)
    if refused is None and demand.claims and ignores_claims:
        refused = _obstacle(
            "api",
            "Karpenter does not plan pods with resource claims (dynamic resource allocation)",
            "§3.2",
            demand.spec_place.at("resourceClaims"),
        )
    return Asked(
        selector,
        terms,
        soft,
        demand.tolerations,
        demand.possible_tolerations,
        requests,
        demand.ports,
        demand.priority,
        demand.preempts,
        refused or volumes.refused,
        hard,
        relaxes_taints,
        volumes,
    )


def _exact(milli: int, units: int) -> int:
    """Thousandths as written, where the amount was not changed; else of the whole units."""
    return milli if -(-milli // 1000) == units else units * 1000


def _selector(alternatives: Sequence[Alternative]) -> tuple[Written, ...]:
    return tuple(w for w in alternatives[0].written if w.kind == "nodeSelector") if alternatives else ()


def _requirement(written: Written) -> Requirement:
    return requirement(written.key, written.operator, written.texts)


def preferred_in_order(pod: EffectivePod) -> tuple[PreferredNodeTerm, ...]:
    """Preferred node affinity terms, the heaviest first; of equal ones the first written."""
    return tuple(sorted(pod.spec.affinity.preferred, key=lambda term: -term.weight))


def _preferred_terms(pod: EffectivePod) -> Iterator[Soft]:
    for preferred in preferred_in_order(pod):
        expressions = tuple(requirement(e.key, e.operator, e.values) for e in preferred.term.expressions)
        yield Soft(expressions, "yes", preferred.place, "the preferred node affinity term")


def soft_constraints(
    pod: EffectivePod, nobody: Callable[[PodAffinityTerm], bool] = lambda term: False
) -> Iterator[Soft]:
    """The soft constraints in the order in which they are given up (`karpenter.md` §3.5)."""
    affinity = pod.spec.affinity
    for term in sorted(affinity.pod_preferred, key=lambda t: -(t.weight or 0)):
        held: Held = "no" if nobody(term) else "unknown"
        yield Soft(None, held, term.place, "the preferred pod affinity term")
    for term in sorted(affinity.anti_preferred, key=lambda t: -(t.weight or 0)):
        held = "yes" if term.topology_key == HOSTNAME else "unknown"
        yield Soft(None, held, term.place, "the preferred pod anti-affinity term")
    yield from _preferred_terms(pod)
    for constraint in pod.spec.spread:
        if constraint.when_unsatisfiable != "DoNotSchedule":
            held = "yes" if constraint.topology_key == HOSTNAME else "unknown"
            yield Soft(None, held, constraint.place, "the ScheduleAnyway spread")


def _refused(
    demand: Demand,
    pod: EffectivePod,
    selector: tuple[Requirement, ...],
    terms: tuple[tuple[Requirement, ...], ...],
    preferred: Sequence[Requirement],
    well_known: frozenset[str],
    version: Version,
) -> Obstacle | None:
    """Why Karpenter refuses a pod before it tries any pool (`karpenter.md` §3.2)."""
    first = terms[0] if terms else ()
    managed = Requirements.of((*selector, *preferred, *first))
    if NODE_POOL in managed and managed.get(NODE_POOL).operator == "DoesNotExist":
        return _ignored(demand, pod)
    for alternative in demand.alternatives:
        for written in alternative.written:
            found = _faulty(written, well_known, version)
            if found is not None:
                return found
        if alternative.names or "matchFields" in alternative.broken or "no field" in alternative.broken:
            return _obstacle(
                "nodeAffinity",
                "a required node affinity term has matchFields, which Karpenter does not support",
                "P-3",
                alternative.names[0].place if alternative.names else alternative.term,
            )
        if alternative.broken and any(w.kind == "nodeAffinity" for w in alternative.written):
            return _obstacle(
                "nodeAffinity",
                f"a required node affinity term is not valid: {alternative.broken}",
                "P-5",
                alternative.term,
            )
    return None


def _faulty(written: Written, well_known: frozenset[str], version: Version) -> Obstacle | None:
    key = normalized(written.key)
    if is_restricted(key, well_known, version):
        return _obstacle(
            written.kind,
            f"{written.kind} names {written.key}, a label that Karpenter does not let pods ask for: "
            f'it ignores the pod (label "{written.key}" is restricted)',
            "P-2",
            written.place,
        )
    known = KNOWN_VALUES.get(key)
    if known is not None and written.operator == "In" and written.texts and not known.intersection(written.texts):
        return _obstacle(
            written.kind,
            f"{written.text} has no value that Karpenter knows for {key} ({', '.join(sorted(known))})",
            "P-4",
            written.place,
        )
    if written.operator in ("Gt", "Lt") and written.texts and written.texts[0].startswith("-"):
        return _obstacle(
            written.kind, f"{written.text} needs a whole number that is not negative", "P-5", written.place
        )
    return None


def _ignored(demand: Demand, pod: EffectivePod) -> Obstacle:
    place: Place | None = None
    for written in demand.alternatives[0].written if demand.alternatives else ():
        if written.key == NODE_POOL:
            place = written.place
    for term in preferred_in_order(pod)[:1]:
        place = next((e.place for e in term.term.expressions if e.key == NODE_POOL), place)
    return _obstacle(
        "nodeAffinity",
        f"the pod keeps away from nodes that Karpenter makes ({NODE_POOL} DoesNotExist in what it requires first or "
        "prefers most): Karpenter ignores it without an event",
        "P-1",
        place or demand.spec_place,
    )


def _obstacle(constraint: str, message: str, rule: str, place: Place | None) -> Obstacle:
    return Obstacle(constraint, message, f"karpenter:{rule}", place, None, "autoscaler-refuses")
