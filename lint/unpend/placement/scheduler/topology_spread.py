"""PodTopologySpread, exactly: which nodes the scheduler refuses a pod because of its hard spread constraints (§8).

Everything here is a function of values: a pod, nodes, and the pods that are already placed on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from unpend.algebra.selectors import matches
from unpend.model.pod import Expression, PodSpec, SpreadConstraint
from unpend.records import dataclass, field


class Placed(Protocol):
    """A pod that sits on a node, as far as spreading looks at it."""

    @property
    def node(self) -> str:
        """The name of its node."""

    @property
    def namespace(self) -> str:
        """Its namespace."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""

    @property
    def terminating(self) -> bool:
        """Whether it is being deleted."""


class SeenNode(Protocol):
    """A node, as far as spreading looks at it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""


@dataclass(frozen=True, slots=True)
class HardConstraint:
    """A DoNotSchedule constraint of one pod, with `matchLabelKeys` merged into the selector (S-817).

    `selector` is None when the constraint counts no pod at all: no selector was given, or an empty one (S-810).
    `itself` is 1 when the pod's own labels match, else 0.
    """

    key: str
    max_skew: int
    min_domains: int
    selector: tuple[Expression, ...] | None
    itself: int
    honor_affinity: bool
    honor_taints: bool
    written: SpreadConstraint = field(compare=False, repr=False)

    def counts(self, labels: Mapping[str, str]) -> bool:
        """Whether a pod of the same namespace with these labels is counted (S-803)."""
        return self.selector is not None and matches(self.selector, labels)


def hard_constraints(spec: PodSpec, labels: Mapping[str, str]) -> tuple[HardConstraint, ...]:
    """The constraints of a pod that can refuse a node; ScheduleAnyway never does (S-801)."""
    return tuple(_hard(written, labels) for written in spec.spread if written.when_unsatisfiable == "DoNotSchedule")


def _hard(written: SpreadConstraint, labels: Mapping[str, str]) -> HardConstraint:
    selector: tuple[Expression, ...] | None = None
    itself = 0
    if written.selector is not None:
        own = tuple(
            Expression(key, "In", (labels[key],), written.place) for key in written.match_label_keys if key in labels
        )
        merged = written.selector.expressions + own
        itself = int(matches(merged, labels))
        # v1.34 counts no pod for an empty selector, although the pod itself matches it (kubernetes issue 141339).
        selector = merged or None
    return HardConstraint(
        key=written.topology_key,
        max_skew=written.max_skew,
        min_domains=written.min_domains or 1,
        selector=selector,
        itself=itself,
        honor_affinity=written.node_affinity_policy != "Ignore",
        honor_taints=written.node_taints_policy == "Honor",
        written=written,
    )


def has_all_keys(constraints: Iterable[HardConstraint], labels: Mapping[str, str]) -> bool:
    """Whether a node carries the key of every constraint; one without counts for none of them (S-804)."""
    return all(constraint.key in labels for constraint in constraints)


def over_skew(constraint: HardConstraint, counts: Mapping[str, int], value: str) -> bool:
    """Whether one more pod in domain `value` breaks the skew; `counts` has every eligible domain (S-805 to S-807)."""
    minimum = 0 if len(counts) < constraint.min_domains else min(counts.values(), default=0)
    return counts.get(value, 0) + constraint.itself - minimum > constraint.max_skew


@dataclass(frozen=True, slots=True)
class SpreadState:
    """The counts that the scheduler holds for one pod: per hard constraint, pods per eligible domain."""

    constraints: tuple[HardConstraint, ...]
    counts: tuple[Mapping[str, int], ...]

    def refuses(self, labels: Mapping[str, str]) -> HardConstraint | None:
        """The first constraint that refuses a node with these labels, for its key or its skew, if any."""
        for constraint, counts in zip(self.constraints, self.counts, strict=True):
            if constraint.key not in labels or over_skew(constraint, counts, labels[constraint.key]):
                return constraint
        return None


def spread_state(
    constraints: tuple[HardConstraint, ...],
    namespace: str,
    nodes: Sequence[SeenNode],
    affinity_accepts: Sequence[bool],
    taints_accept: Sequence[bool],
    placed: Iterable[Placed],
) -> SpreadState:
    """Count the placed pods for every hard constraint of a pod in `namespace`.

    `affinity_accepts` says per node whether the pod's nodeSelector and required node affinity match,
    `taints_accept` whether it tolerates every NoSchedule and NoExecute taint: the two inclusion policies (S-804).
    Free resources, ports and cordons play no part.
    """
    by_node: dict[str, list[Placed]] = {}
    for pod in placed:
        # Other namespaces and terminating pods are not counted (S-803).
        if pod.namespace == namespace and not pod.terminating:
            by_node.setdefault(pod.node, []).append(pod)
    keyed = [has_all_keys(constraints, node.labels) for node in nodes]
    all_counts: list[Mapping[str, int]] = []
    for constraint in constraints:
        counts: dict[str, int] = {}
        for index, node in enumerate(nodes):
            if not keyed[index] or not eligible(constraint, affinity_accepts[index], taints_accept[index]):
                continue
            value = node.labels[constraint.key]
            here = sum(1 for pod in by_node.get(node.name, ()) if constraint.counts(pod.labels))
            counts[value] = counts.get(value, 0) + here
        all_counts.append(counts)
    return SpreadState(constraints, tuple(all_counts))


def eligible(constraint: HardConstraint, affinity_accepts: bool, taints_accept: bool) -> bool:
    """Whether the inclusion policies let a node that has all keys count (S-804)."""
    return (affinity_accepts or not constraint.honor_affinity) and (taints_accept or not constraint.honor_taints)
