"""Hard topology spread of whole workloads against the domains that their pods reach: what rules about spread ask."""

from __future__ import annotations

from collections.abc import Iterator

from unpend.model.inventory import Workload
from unpend.model.pod import SpreadConstraint
from unpend.placement.domains import Domains, shortfall, topology_of
from unpend.placement.given import FactsLike
from unpend.placement.peers import counts_itself
from unpend.placement.verdict import Cause, WorkloadVerdict
from unpend.records import dataclass


@dataclass(frozen=True, slots=True)
class Spreading:
    """One spread constraint of a workload with the domains that are there for it.

    `itself`: the constraint counts the pods of the workload. `needed` pods have to find a place; `short` is why some
    surely find none, None where they may.
    """

    workload: Workload
    constraint: SpreadConstraint
    verdict: WorkloadVerdict
    domains: Domains
    itself: bool
    short: Cause | None

    @property
    def needed(self) -> int:
        """The replicas in the steady state."""
        return self.verdict.replicas.needed

    @property
    def is_hard(self) -> bool:
        """Whether the scheduler holds it."""
        return self.constraint.when_unsatisfiable == "DoNotSchedule"

    @property
    def stuck_at(self) -> int:
        """How many pods there can be while some domain that counts stays empty (S-812)."""
        return max(self.constraint.max_skew, 1) * len(self.domains.reachable)


def spreadings(facts: FactsLike) -> Iterator[Spreading]:
    """Every spread constraint of workloads with something to place, in reading order."""
    topology = topology_of(facts)
    for workload in facts.inventory.workloads:
        spec = workload.template.spec
        if not spec.spread or workload.kind == "DaemonSet":
            continue
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or verdict.verdict == "skipped" or verdict.cause == "rejected":
            continue
        pod = facts.effective(workload)
        short = shortfall(verdict)
        for constraint in spec.spread:
            domains = topology.of(
                workload, constraint.topology_key, constraint.node_affinity_policy, constraint.node_taints_policy
            )
            itself = counts_itself(pod, constraint.selector)
            yield Spreading(workload, constraint, verdict, domains, itself, short)
