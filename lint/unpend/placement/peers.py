"""Who means whom by pod affinity: targets that are missing, workloads none of which can start first (S-911 to S-917).

A pod may go first when it satisfies its own terms (S-913); otherwise one of its targets has to run already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from unpend.algebra.selectors import matches
from unpend.model.inventory import BoundPod, Workload
from unpend.model.pod import EffectivePod, LabelSelector, PodAffinityTerm
from unpend.placement.given import FactsLike
from unpend.placement.needed import autoscalers_by_target, replicas_of
from unpend.placement.replicas.scenes import controller_labels
from unpend.placement.scheduler.inter_pod_affinity import PodTerms

if TYPE_CHECKING:
    import networkx as nx


class Wish(NamedTuple):
    """A workload with required pod affinity, and whose pods satisfy all of its terms.

    `itself`: its own pods do, so that it may start first. `running`: pods that are on nodes already do. `elsewhere`:
    namespaces are chosen by labels that are not known, so that other pods may.
    """

    workload: Workload
    terms: tuple[PodAffinityTerm, ...]
    targets: tuple[Workload, ...]
    itself: bool
    running: bool
    elsewhere: bool


class Peers:
    """The required pod affinity of all workloads."""

    def __init__(self, facts: FactsLike) -> None:
        inventory = facts.inventory
        autoscalers = autoscalers_by_target(inventory)
        self.known = {name: namespace.labels for name, namespace in inventory.namespaces.items()}
        self.namespaces_open = facts.settings.world.namespaces == "open"
        self.workloads = tuple(
            w
            for w in inventory.workloads
            if w.kind == "DaemonSet"
            or replicas_of(w, autoscalers.get((w.kind, w.namespace, w.name))).needed > 0
            or (w.kind in ("Job", "CronJob") and not w.suspended)
        )
        asking = [w for w in self.workloads if w.template.spec.affinity.pod_required]
        self.wishes: tuple[Wish, ...] = ()
        if asking:
            terms = {id(w): self._terms(w, facts.effective(w)) for w in self.workloads}
            bound = [_bound_terms(pod) for pod in inventory.bound_pods]
            self.wishes = tuple(self._wish(w, terms, bound) for w in asking)

    @staticmethod
    def _terms(workload: Workload, pod: EffectivePod) -> PodTerms:
        return PodTerms.of(pod.spec.affinity, pod.namespace, controller_labels(workload))

    def _wish(self, workload: Workload, terms: dict[int, PodTerms], bound: Iterable[PodTerms]) -> Wish:
        own = terms[id(workload)]
        written = workload.template.spec.affinity.pod_required
        return Wish(
            workload,
            written,
            tuple(w for w in self.workloads if own.meant_by_all(terms[id(w)], self.known)),
            own.meant_by_all(own, self.known),
            any(own.meant_by_all(one, self.known) for one in bound),
            self.namespaces_open
            and any(t.namespace_selector is not None and t.namespace_selector.expressions for t in written),
        )

    @property
    def missing(self) -> Iterator[Wish]:
        """The wishes that no pod satisfies."""
        for wish in self.wishes:
            if not (wish.targets or wish.running or wish.elsewhere):
                yield wish

    @property
    def stuck(self) -> tuple[tuple[Wish, ...], ...]:
        """Groups that wait for each other, and those that wait for such a group: none of them can start.

        Each group is a strongly connected component of who waits for whom, with more than one member first.
        """
        by_id = {wish.workload.id: wish for wish in self.wishes}
        ready = {w.id for w in self.workloads if w.id not in by_id}
        ready |= {wish.workload.id for wish in self.wishes if wish.itself or wish.running or wish.elsewhere}
        grown = True
        while grown:
            more = {
                wish.workload.id
                for wish in self.wishes
                if wish.workload.id not in ready and any(t.id in ready for t in wish.targets)
            }
            ready |= more
            grown = bool(more)
        waiting = [wish for wish in self.wishes if wish.workload.id not in ready and wish.targets]
        if not waiting:
            return ()
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(wish.workload.id for wish in waiting)
        graph.add_edges_from(
            (wish.workload.id, t.id) for wish in waiting for t in wish.targets if t.id in by_id and t.id in graph
        )
        order = {wish.workload.id: number for number, wish in enumerate(waiting)}
        groups = [sorted(group, key=order.__getitem__) for group in nx.strongly_connected_components(graph)]
        groups.sort(key=lambda group: (len(group) == 1, order[group[0]]))
        return tuple(tuple(by_id[name] for name in group) for group in groups)


def _bound_terms(pod: BoundPod) -> PodTerms:
    labels = {key: label.value for key, label in pod.template.labels.items()}
    return PodTerms.of(pod.template.spec.affinity, pod.template.namespace, labels)


def peers_of(facts: FactsLike) -> Peers:
    """The pod affinity of all workloads, shared by the rules of a run."""
    found: Peers = facts.memo("peers", lambda: Peers(facts))
    return found


def means_itself(pod: EffectivePod, selector: LabelSelector | None) -> bool:
    """Whether a selector takes in the pods of the workload itself; an absent one takes in none."""
    return selector is not None and matches(selector.expressions, pod.labels)


def counts_itself(pod: EffectivePod, selector: LabelSelector | None) -> bool:
    """Whether a spread with this selector counts the pods of the workload: an empty one counts none (S-810)."""
    return selector is not None and bool(selector.expressions) and means_itself(pod, selector)


def apart_from_itself(pod: EffectivePod, *keys: str) -> Iterator[PodAffinityTerm]:
    """The required anti-affinity terms by which two pods of the workload never share a domain (S-923).

    `keys` are the topology keys that are asked for, none for all. Terms that tell revisions apart (matchLabelKeys) and
    other namespaces are judged by what they say of the pod itself.
    """
    for term in pod.spec.affinity.anti_required:
        if keys and term.topology_key not in keys:
            continue
        own = not term.namespaces and term.namespace_selector is None
        here = (own or pod.namespace in term.namespaces) and not term.mismatch_label_keys
        if here and means_itself(pod, term.selector):
            yield term
