"""InterPodAffinity, exactly: required affinity, own anti-affinity, and that of pods already placed (§9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol

from unpend.algebra.selectors import matches
from unpend.model.pod import Affinity, Expression, PodAffinityTerm
from unpend.records import dataclass, field

Namespaces = Mapping[str, Mapping[str, str]]
"""Labels of every known namespace by its name."""

NAME_LABEL = "kubernetes.io/metadata.name"


@dataclass(frozen=True, slots=True)
class RequiredTerm:
    """A required term of one pod, with (mis)matchLabelKeys merged into the selector (S-904).

    `selector` None matches no pod, an empty one every pod (S-902). `namespaces` already holds the pod's own namespace
    when neither a list nor a namespace selector was written (S-901).
    """

    key: str
    selector: tuple[Expression, ...] | None
    namespaces: frozenset[str]
    namespace_selector: tuple[Expression, ...] | None
    written: PodAffinityTerm = field(compare=False, repr=False)

    def selects(self, labels: Mapping[str, str]) -> bool:
        """Whether the label selector alone takes a pod with these labels."""
        return self.selector is not None and matches(self.selector, labels)

    def matches_placed(self, namespace: str, labels: Mapping[str, str], known: Namespaces) -> bool:
        """Whether this term, on the pod that is being placed, means a pod of `namespace` with `labels`.

        v1.34 takes a namespace selector that a namespace without labels would satisfy as *every* namespace
        (kubernetes issue 141526); this is answered as that version does.
        """
        if not self.selects(labels):
            return False
        if namespace in self.namespaces:
            return True
        if self.namespace_selector is None:
            return False
        return matches(self.namespace_selector, {}) or matches(self.namespace_selector, labels_of(namespace, known))

    def matches_newcomer(self, namespace: str, labels: Mapping[str, str], known: Namespaces) -> bool:
        """Whether this term, on a pod already placed, means a newcomer of `namespace` with `labels` (S-922)."""
        if not self.selects(labels):
            return False
        return namespace in self.namespaces or (
            self.namespace_selector is not None and matches(self.namespace_selector, labels_of(namespace, known))
        )


def labels_of(namespace: str, known: Namespaces) -> Mapping[str, str]:
    """The labels of a namespace; one that was not given has only the label that every namespace gets."""
    return known.get(namespace) or {NAME_LABEL: namespace}


def required_terms(
    terms: Iterable[PodAffinityTerm], namespace: str, labels: Mapping[str, str]
) -> tuple[RequiredTerm, ...]:
    """The required terms of a pod in `namespace` with `labels`, ready to be asked."""
    return tuple(_term(term, namespace, labels) for term in terms)


def _term(written: PodAffinityTerm, namespace: str, labels: Mapping[str, str]) -> RequiredTerm:
    selector: tuple[Expression, ...] | None = None
    if written.selector is not None:
        same = tuple(Expression(k, "In", (labels[k],), written.place) for k in written.match_label_keys if k in labels)
        other = tuple(
            Expression(k, "NotIn", (labels[k],), written.place) for k in written.mismatch_label_keys if k in labels
        )
        selector = written.selector.expressions + same + other
    own = not written.namespaces and written.namespace_selector is None
    return RequiredTerm(
        key=written.topology_key,
        selector=selector,
        namespaces=frozenset((namespace,) if own else written.namespaces),
        namespace_selector=None if written.namespace_selector is None else written.namespace_selector.expressions,
        written=written,
    )


@dataclass(frozen=True, slots=True)
class PodTerms:
    """A pod as inter-pod affinity sees it: where it lives, its labels and its required terms."""

    namespace: str
    labels: Mapping[str, str]
    affinity: tuple[RequiredTerm, ...] = ()
    anti: tuple[RequiredTerm, ...] = ()

    @classmethod
    def of(cls, affinity: Affinity, namespace: str, labels: Mapping[str, str]) -> PodTerms:
        """Read the required terms of `spec.affinity`; preferred ones never refuse a node (S-905)."""
        return cls(
            namespace,
            labels,
            required_terms(affinity.pod_required, namespace, labels),
            required_terms(affinity.anti_required, namespace, labels),
        )

    def meant_by_all(self, other: PodTerms, known: Namespaces) -> bool:
        """Whether a placed pod `other` satisfies every required affinity term of this one (S-911)."""
        return all(term.matches_placed(other.namespace, other.labels, known) for term in self.affinity)


class SittingPod(Protocol):
    """A pod that sits on a node; a terminating one still counts here (S-903)."""

    @property
    def node(self) -> str:
        """The name of its node."""

    @property
    def terms(self) -> PodTerms:
        """What it asks of other pods."""


class SeenNode(Protocol):
    """A node, as far as inter-pod affinity looks at it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""


Direction = Literal["affinity", "anti-affinity", "anti-affinity of others"]


@dataclass(frozen=True, slots=True)
class AffinityRefusal:
    """Why a node is refused: which of the three checks, and the term that says so (of the other pod for the third)."""

    direction: Direction
    term: RequiredTerm


@dataclass(frozen=True, slots=True)
class AffinityState:
    """What the scheduler holds for one pod: where its peers are, and which domains are closed to it.

    `peers` has per affinity term the values of its key where a pod sits that satisfies *all* terms; `foreign` maps
    (key, value) to the term of a placed pod that keeps this one out.
    """

    pod: PodTerms
    peers: tuple[frozenset[str], ...]
    first: bool
    own: tuple[frozenset[str], ...]
    foreign: Mapping[tuple[str, str], RequiredTerm]

    def refuses(self, labels: Mapping[str, str]) -> AffinityRefusal | None:
        """The reason to refuse a node with these labels, in the order in which the scheduler asks, or None."""
        for term, values in zip(self.pod.affinity, self.peers, strict=True):
            # The first-pod exception waives the peer, not the key (S-912, S-913).
            if term.key not in labels or (not self.first and labels[term.key] not in values):
                return AffinityRefusal("affinity", term)
        for term, values in zip(self.pod.anti, self.own, strict=True):
            if labels.get(term.key) in values:
                return AffinityRefusal("anti-affinity", term)
        for key, value in self.foreign:
            if labels.get(key) == value:
                return AffinityRefusal("anti-affinity of others", self.foreign[key, value])
        return None


def affinity_state(
    pod: PodTerms, nodes: Sequence[SeenNode], placed: Iterable[SittingPod], known: Namespaces
) -> AffinityState:
    """Look at every placed pod once, from both sides."""
    labels_by_node = {node.name: node.labels for node in nodes}
    peers: list[set[str]] = [set() for _ in pod.affinity]
    own: list[set[str]] = [set() for _ in pod.anti]
    foreign: dict[tuple[str, str], RequiredTerm] = {}
    for sitting in placed:
        labels = labels_by_node.get(sitting.node)
        if labels is None:
            continue
        other = sitting.terms
        if pod.affinity and pod.meant_by_all(other, known):
            _note(peers, pod.affinity, labels)
        for values, term in zip(own, pod.anti, strict=True):
            if term.key in labels and term.matches_placed(other.namespace, other.labels, known):
                values.add(labels[term.key])
        for term in other.anti:
            if term.key in labels and term.matches_newcomer(pod.namespace, pod.labels, known):
                foreign.setdefault((term.key, labels[term.key]), term)
    # A peer on a node that has none of the keys is not counted, so the exception stays open.
    first = bool(pod.affinity) and not any(peers) and pod.meant_by_all(pod, known)
    return AffinityState(pod, tuple(map(frozenset, peers)), first, tuple(map(frozenset, own)), foreign)


def _note(peers: Sequence[set[str]], terms: Sequence[RequiredTerm], labels: Mapping[str, str]) -> None:
    # The pairs of several keys are kept apart: a node can get its rack from one peer and its zone from another.
    for values, term in zip(peers, terms, strict=True):
        if term.key in labels:
            values.add(labels[term.key])
