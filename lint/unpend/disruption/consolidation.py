"""What keeps Karpenter from consolidating: policies of pools, soft wishes of pods (`karpenter.md` §9.5, §9.6).

Karpenter treats preferences as requirements until a pod fails, and a new node counts as success: "keep the preference
on a new node" beats "give it up and fit on an old one".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple

from unpend.algebra.selectors import matches
from unpend.disruption.budgets import budgets_of
from unpend.disruption.do_not_disrupt import DO_NOT_DISRUPT
from unpend.disruption.drain import is_finite
from unpend.disruption.landing import landing_of
from unpend.model.inventory import Autoscaler, Workload
from unpend.model.karpenter import NodePool
from unpend.model.karpenter_labels import HOSTNAME
from unpend.model.pod import LabelSelector
from unpend.placement.given import FactsLike
from unpend.placement.needed import autoscalers_by_target, replicas_of
from unpend.records import dataclass
from unpend.settings import Settings
from unpend.source.place import Place

SoftKind = Literal["anti-affinity", "spread", "affinity", "node-affinity"]


@dataclass(frozen=True, slots=True)
class SoftWish:
    """A preference of a pod that Karpenter holds as required; `key` is its topology key, empty for node affinity."""

    kind: SoftKind
    key: str
    place: Place

    @property
    def per_node(self) -> bool:
        """Whether it asks for a node of its own for each pod."""
        return self.key == HOSTNAME


def honoured(settings: Settings) -> bool:
    """Whether preferences count at all: `preferencePolicy: Ignore` takes them out of every simulation (§3.4)."""
    return settings.karpenter.preference_policy != "Ignore"


def soft_wishes(workload: Workload) -> Iterator[SoftWish]:
    """The preferences of a pod: those about other pods only where they are about pods of its own workload."""
    spec = workload.template.spec
    affinity = spec.affinity
    for term in affinity.anti_preferred:
        if matches_itself(workload, term.selector):
            yield SoftWish("anti-affinity", term.topology_key, term.place.parent or term.place)
    for constraint in spec.spread:
        if constraint.when_unsatisfiable == "ScheduleAnyway" and matches_itself(workload, constraint.selector):
            yield SoftWish("spread", constraint.topology_key, constraint.place)
    for term in affinity.pod_preferred:
        yield SoftWish("affinity", term.topology_key, term.place.parent or term.place)
    for node_term in affinity.preferred:
        yield SoftWish("node-affinity", "", node_term.place)


def matches_itself(workload: Workload, selector: LabelSelector | None) -> bool:
    """Whether a selector takes in the pods of the workload itself; an absent one takes in none."""
    if selector is None:
        return False
    return matches(selector.expressions, {key: label.value for key, label in workload.template.labels.items()})


def most_replicas(workload: Workload, autoscaler: Autoscaler | None) -> int:
    """How many pods there may be at the same time: the maximum of an autoscaler, else the replicas."""
    replicas = replicas_of(workload, autoscaler)
    if autoscaler is not None and replicas.wanted > 0 and autoscaler.maximum is not None:
        return autoscaler.maximum
    return replicas.wanted


class Wished(NamedTuple):
    """A soft wish that Karpenter holds against consolidation: whose, for how many pods, in which pools."""

    workload: Workload
    wish: SoftWish
    replicas: int
    pools: tuple[NodePool, ...]


def wishes_held(facts: FactsLike, kinds: tuple[SoftKind, ...], exempt: Collection[str] = ()) -> Iterator[Wished]:
    """The soft wishes of some kinds among workloads that may land in a pool whose nodes are consolidated.

    Nothing under `preferencePolicy: Ignore`. A wish about pods of the same workload needs at least two of them.
    """
    if not honoured(facts.settings):
        return
    landing = landing_of(facts)
    autoscalers = autoscalers_by_target(facts.inventory)
    for workload in facts.inventory.workloads:
        if workload.kind == "DaemonSet" or workload.name in exempt or is_finite(workload):
            continue
        wishes = [wish for wish in soft_wishes(workload) if wish.kind in kinds]
        if not wishes:
            continue
        replicas = most_replicas(workload, autoscalers.get((workload.kind, workload.namespace, workload.name)))
        pools = consolidating(facts, landing.pools(workload)) if replicas else ()
        for wish in wishes if pools else ():
            if replicas > 1 or wish.kind in ("affinity", "node-affinity"):
                yield Wished(workload, wish, replicas, pools)


def why_not_consolidated(pool: NodePool) -> tuple[str, Place] | None:
    """Why nodes with pods on them are never consolidated in a pool, with the place that says so; None when they are."""
    disruption = pool.disruption
    where = disruption.place or pool.place.at("spec")
    if pool.is_static:
        return "it keeps a fixed number of nodes", pool.place.at("spec", "replicas")
    if disruption.consolidate_after.seconds is None:
        return "consolidateAfter is Never", disruption.consolidate_after.place or where
    if disruption.policy == "WhenEmpty":
        return "its policy is WhenEmpty", where.at("consolidationPolicy")
    mark = pool.template_annotations.get(DO_NOT_DISRUPT)
    if mark is not None and mark.value == "true":
        return f"its nodes carry {DO_NOT_DISRUPT}", mark.place
    if budgets_of(pool).always_zero("Underutilized"):
        return "its budgets never allow it", where.at("budgets")
    return None


def consolidating(facts: FactsLike, pools: tuple[NodePool, ...]) -> tuple[NodePool, ...]:
    """The pools among these whose nodes are merged and replaced while pods run on them."""
    names: frozenset[str] = facts.memo(
        "consolidated-pools",
        lambda: frozenset(p.name for p in facts.inventory.node_pools if why_not_consolidated(p) is None),
    )
    return tuple(pool for pool in pools if pool.name in names)


def named(pools: tuple[NodePool, ...]) -> str:
    """Pools as a message names them: `NodePool general`, `NodePools a and b`, `NodePools a, b and 3 more`."""
    names = [pool.name for pool in pools]
    if len(names) == 1:
        return f"NodePool {names[0]}"
    if len(names) > 3:
        return f"NodePools {names[0]}, {names[1]} and {len(names) - 2} more"
    return f"NodePools {', '.join(names[:-1])} and {names[-1]}"
