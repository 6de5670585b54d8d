"""Anti-affinity of others as Karpenter counts it: only over the domains that its holder tolerates (`T-2b`, `T-46`).

Derived from the code of Karpenter; no report states it. It makes an answer depend on a fact, and refuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unpend.model.karpenter_labels import HOSTNAME
from unpend.placement.counts import Placing
from unpend.placement.karpenter.decide import PoolAnswer
from unpend.placement.karpenter.universe import Universe, launched, tolerates
from unpend.placement.replicas.scenes import controller_labels
from unpend.placement.scheduler.inter_pod_affinity import Namespaces, RequiredTerm, required_terms
from unpend.placement.verdict import Fact


def held_off(
    placings: Sequence[Placing],
    answers: Mapping[str, Sequence[PoolAnswer]],
    universe: Universe,
    namespaces: Namespaces,
) -> Iterator[tuple[str, Fact]]:
    """Workloads that Karpenter may launch nothing for while pods with anti-affinity against them run, and why."""
    holders = [
        (placing, term)
        for placing in placings
        for term in _terms(placing)
        if any(not tolerates(placing.demand.tolerations, giver.pool) for giver in universe.givers(term.key))
    ]
    for holder, term in holders:
        known: set[str] = set()
        for giver in universe.givers(term.key):
            if tolerates(holder.demand.tolerations, giver.pool):
                known |= giver.values
        for placing in placings:
            labels = controller_labels(placing.workload)
            if placing is holder or not term.matches_placed(placing.pod.namespace, labels, namespaces):
                continue
            reached: set[str] = set()
            for answer in answers[placing.workload.id]:
                if answer.verdict == "fits" and answer.pool.grid is not None:
                    reached.update(launched(answer.pool, term.key, answer.taken, frozenset(known))[0])
            if reached - known and holder.needed >= len(known & reached):
                message = (
                    f"whether Karpenter launches nodes beside {holder.workload.id}: for its anti-affinity over "
                    f"{term.key} it counts only domains of NodePools that those pods tolerate"
                )
                yield placing.workload.id, Fact("topology", message, placing.demand.spec_place)


def _terms(placing: Placing) -> Iterator[RequiredTerm]:
    anti = placing.pod.spec.affinity.anti_required
    if anti:
        labels = controller_labels(placing.workload)
        for term in required_terms(anti, placing.pod.namespace, labels):
            if term.key != HOSTNAME:
                yield term
