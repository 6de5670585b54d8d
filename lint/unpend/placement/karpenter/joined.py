"""The part of the NodePools in the verdict of one workload: their ruling, and what it adds to that on the Nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpend.placement.counts import Placing
from unpend.placement.karpenter.topology import Tally
from unpend.placement.verdict import (
    Cause,
    Certainty,
    Deferred,
    Fact,
    ReplicaCounts,
    Rollout,
    Verdict,
    WorkloadVerdict,
    worst_certainty,
)
from unpend.records import dataclass, replace

if TYPE_CHECKING:
    from unpend.placement.karpenter.verdicts import KarpenterRun


@dataclass(frozen=True, slots=True)
class PoolsRuling:
    """What all NodePools together say of one pod, or (with `tally`) of all pods of a workload.

    `rollout` and `maximum` are bounds for those numbers of pods, None where nothing bounds them.
    """

    verdict: Verdict
    cause: Cause | None
    facts: tuple[Fact, ...] = ()
    assumptions: tuple[str, ...] = ()
    certainty: Certainty = "proved"
    pool: str = ""
    at_most: int = 0
    tally: Tally | None = None
    rollout: int | None = None
    maximum: int | None = None
    contention: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Joined:
    """The part of the NodePools in the verdict of one workload. `decides` says that theirs is the verdict."""

    run: KarpenterRun
    placing: Placing
    ruling: PoolsRuling
    decides: bool

    @property
    def verdict(self) -> Verdict:
        """The verdict of the NodePools."""
        return self.ruling.verdict

    @property
    def cause(self) -> Cause | None:
        """Its cause."""
        return self.ruling.cause

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What it depends on."""
        return self.ruling.facts

    def completed(self, verdict: WorkloadVerdict) -> WorkloadVerdict:
        """A verdict on the Nodes alone, except for verdict, cause and facts, with what the NodePools add to it."""
        run, workload = self.run, self.placing.workload.id
        of_nodes = verdict.pools
        pools = Deferred(lambda: (*of_nodes, *run.pool_verdicts(workload)))
        zones = tuple(sorted({*verdict.zones, *run.zones(workload)}))
        if not self.decides:
            return replace(verdict, pools=pools, zones=zones)
        tally = self.ruling.tally
        refused = self.verdict in ("never", "loop")
        found, repair = run.explanation(workload) if refused else ((), None)
        nearest, conflict = verdict.nearest, verdict.conflict
        if tally is not None and self.verdict in ("never", "partial") and tally.obstacles:
            found, conflict = tally.obstacles, ()
            repair = nearest = None
        elif repair is not None and (nearest is None or len(repair.changes) <= len(nearest.changes)):
            nearest, conflict = repair, ()
        return replace(
            verdict,
            certainty=worst_certainty((verdict.certainty, self.ruling.certainty)),
            assumptions=tuple(sorted({*verdict.assumptions, *self.ruling.assumptions})),
            replicas=self._counts(verdict.replicas),
            pools=pools,
            conflict=(conflict or found) if refused or self.verdict == "partial" else (),
            witness=verdict.witness or (run.witness(workload) if self.verdict == "fits" else None),
            nearest=nearest if refused else None,
            zones=zones,
            spot=run.spot(workload),
            contention=self.ruling.contention,
        )

    def _counts(self, counts: ReplicaCounts) -> ReplicaCounts:
        """The counts on Nodes and NodePools together."""
        tally = self.ruling.tally
        if self.verdict in ("fits", "conditional"):
            counts = replace(counts, at_most=counts.needed)
        if self.verdict == "fits" or self.cause == "contention":
            counts = replace(counts, at_least=counts.needed)
        if self.verdict == "partial":
            most = self.ruling.at_most
            least = counts.at_least if tally is None else max(counts.at_least, tally.at_least)
            counts = replace(counts, at_most=most, at_least=min(least, most))
        if self.verdict in ("never", "loop", "partial"):
            return counts
        if self.verdict == "conditional" and tally is not None:
            counts = replace(counts, at_least=min(counts.needed, max(counts.at_least, tally.at_least)))
        placing, ruling = self.placing, self.ruling
        if ruling.rollout is not None:
            counts = replace(counts, rollout=Rollout(placing.needed + placing.surge, ruling.rollout))
        if ruling.maximum is not None:
            counts = replace(counts, maximum=Rollout(placing.maximum, ruling.maximum))
        return counts
