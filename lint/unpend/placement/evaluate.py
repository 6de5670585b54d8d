"""The verdict of every workload against the Nodes of an inventory: one pod, then all pools, then all replicas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from unpend.model.admission import admit
from unpend.model.inventory import Inventory, Workload
from unpend.model.pod import EffectivePod, Refusal
from unpend.placement.conflict import conflict
from unpend.placement.counts import ReplicaAnswer, ReplicaQuestion, replica_counts
from unpend.placement.daemonset import evaluate_daemon
from unpend.placement.demand import DEFAULT_SCHEDULER, Demand, demand_of
from unpend.placement.fixed import FixedNodes, fixed_nodes
from unpend.placement.needed import Replicas, autoscalers_by_target, replicas_of
from unpend.placement.owned import OwnedPods
from unpend.placement.pools import NodePools, facts_of, witness_of, zones_of
from unpend.placement.preemption import after_evictions
from unpend.placement.repair import nearest
from unpend.placement.scheduler import filters
from unpend.placement.space import Masks, Space
from unpend.placement.verdict import (
    Against,
    Cause,
    Fact,
    Obstacle,
    Repair,
    ReplicaCounts,
    Verdict,
    WorkloadVerdict,
)
from unpend.settings import Settings

Admit = Callable[[Workload], EffectivePod]

OTHER_POOLS = "other-pools"


def evaluate_inventory(
    inventory: Inventory, settings: Settings, admitted: Admit | None = None
) -> tuple[WorkloadVerdict, ...]:
    """One verdict per workload, in the order of the inventory.

    `admitted` gives the effective pod of a workload, where a caller keeps them already.
    """
    run = _Run(inventory, settings, admitted or (lambda workload: admit(workload, inventory, settings)))
    return tuple(run.verdict(workload) for workload in inventory.workloads)


def is_open(inventory: Inventory, settings: Settings) -> bool:
    """Whether nodes that nobody described may exist."""
    world = settings.world
    return "open" in (world.pools, world.nodes) or bool(inventory.unread_capacity)


class _Ruling(NamedTuple):
    verdict: Verdict
    cause: Cause | None
    facts: tuple[Fact, ...] = ()


class _Run:
    """One inventory under one set of settings: spaces are built once, answers kept per distinct demand."""

    def __init__(self, inventory: Inventory, settings: Settings, admitted: Admit) -> None:
        self.inventory = inventory
        self.settings = settings
        self.admitted = admitted
        self.answers: dict[tuple[object, ...], Masks] = {}
        self.open = is_open(inventory, settings)
        self.autoscalers = autoscalers_by_target(inventory)
        self.assumptions = ("A5",) if settings.world.daemonsets == "open" else ()

    @cached_property
    def fixed(self) -> FixedNodes:
        """The Nodes with what runs on them."""
        return fixed_nodes(self.inventory, self.settings)

    @cached_property
    def owned(self) -> OwnedPods:
        """The bound pods by what may own them."""
        return OwnedPods(self.fixed)

    @cached_property
    def pools(self) -> NodePools:
        """The Nodes as pools."""
        return NodePools(self.fixed)

    def verdict(self, workload: Workload) -> WorkloadVerdict:
        """The verdict of one workload."""
        if workload.kind == "DaemonSet":
            pod = self.admitted(workload)
            return self._rejected(workload, pod, Replicas(0, 0)) if pod.refusals else self._daemon(workload, pod)
        replicas = replicas_of(workload, self.autoscalers.get((workload.kind, workload.namespace, workload.name)))
        if replicas.needed <= 0:
            return self._result(workload, _Ruling("skipped", None), ReplicaCounts(replicas.wanted, 0, 0, 0))
        pod = self.admitted(workload)
        if pod.refusals:
            return self._rejected(workload, pod, replicas)
        return self._placed(workload, pod, replicas)

    def _result(self, workload: Workload, ruling: _Ruling, counts: ReplicaCounts) -> WorkloadVerdict:
        return WorkloadVerdict(
            workload=workload.id,
            cluster=self.settings.cluster,
            verdict=ruling.verdict,
            cause=ruling.cause,
            certainty="proved",
            replicas=counts,
            facts=ruling.facts,
            place=workload.place,
        )

    def _rejected(self, workload: Workload, pod: EffectivePod, replicas: Replicas) -> WorkloadVerdict:
        counts = ReplicaCounts(replicas.wanted, replicas.needed, 0, 0)
        result = self._result(workload, _Ruling("never", "rejected"), counts)
        return replace(result, conflict=tuple(_refused(refusal) for refusal in pod.refusals))

    def _daemon(self, workload: Workload, pod: EffectivePod) -> WorkloadVerdict:
        daemon = self.fixed.daemons.get(workload.id)
        if daemon is None:
            ruling = self._settled(_Ruling("skipped", None), pod, demand_of(pod), self.open)
            return self._result(workload, ruling, ReplicaCounts(0, 0, 0, 0))
        outcome = evaluate_daemon(daemon, self.fixed)
        ruling = _Ruling(outcome.verdict, outcome.cause)
        if outcome.verdict != "skipped":
            # Further nodes would not help the ones that are given: the world need not be closed.
            ruling = self._settled(ruling, pod, daemon.demand, False)
        counts = ReplicaCounts(outcome.selected, outcome.selected, outcome.sure, outcome.possible)
        return replace(
            self._result(workload, ruling, counts),
            pools=outcome.pools,
            conflict=outcome.conflict,
            zones=zones_of(self.fixed.space, outcome.accepted.possible),
        )

    def _placed(self, workload: Workload, pod: EffectivePod, replicas: Replicas) -> WorkloadVerdict:
        demand = demand_of(pod)
        space = self.fixed.space
        accepted = self._ask(demand)
        answer = self._count(workload, pod, demand, space, accepted, replicas.needed)
        if answer.at_least < replicas.needed and self.inventory.bound_pods:
            own = self.fixed.without(self.owned.pods_of(workload))
            if own is not None:
                space, accepted = own, filters.ask(demand, own).accepted
                answer = self._count(workload, pod, demand, space, accepted, replicas.needed)
        preempting = 0 if accepted.possible or not space.shapes else after_evictions(demand, self.fixed)
        obstacles: tuple[Obstacle, ...] = ()
        repair: Repair | None = None
        if not accepted.possible and space.shapes:
            obstacles, repair = conflict(demand, space), nearest(demand, space)
        ruling = self._ruling(demand, space, accepted, preempting, obstacles, answer, replicas.needed)
        ruling = self._settled(ruling, pod, demand, self.open)
        assumptions = self.assumptions if ruling.verdict == "fits" else ()
        witness = (
            witness_of(space.shapes[_lowest(accepted.sure)], self._owner(accepted.sure)) if accepted.sure else None
        )
        return WorkloadVerdict(
            workload=workload.id,
            cluster=self.settings.cluster,
            verdict=ruling.verdict,
            cause=ruling.cause,
            certainty="assumed" if assumptions else "proved",
            replicas=ReplicaCounts(replicas.wanted, replicas.needed, answer.at_least, answer.at_most),
            assumptions=assumptions,
            pools=self.pools.verdicts(demand, space, accepted, preempting, obstacles),
            conflict=obstacles,
            witness=witness,
            facts=ruling.facts,
            nearest=repair,
            zones=zones_of(space, accepted.possible | preempting),
            place=workload.place,
        )

    def _owner(self, mask: int) -> str:
        return self.fixed.space.shapes[_lowest(mask)].source.owner

    def _ask(self, demand: Demand) -> Masks:
        masks = self.answers.get(demand.key)
        if masks is None:
            masks = self.answers[demand.key] = filters.ask(demand, self.fixed.space).accepted
        return masks

    def _count(
        self, workload: Workload, pod: EffectivePod, demand: Demand, space: Space, accepted: Masks, needed: int
    ) -> ReplicaAnswer:
        if not accepted.possible:
            return ReplicaAnswer(0, 0)
        return replica_counts(
            ReplicaQuestion(workload, pod, demand, self.fixed, space, accepted, needed, self.inventory, self.settings)
        )

    def _ruling(
        self,
        demand: Demand,
        space: Space,
        accepted: Masks,
        preempting: int,
        obstacles: tuple[Obstacle, ...],
        answer: ReplicaAnswer,
        needed: int,
    ) -> _Ruling:
        """The verdict for nodes that are all there is, as far as the scheduler is asked."""
        if not accepted.possible and not preempting:
            return _Ruling("never", obstacles[-1].cause if obstacles else "pool-unusable")
        if not accepted.sure:
            facts = facts_of(demand, space, accepted.possible | preempting, preempting)
            return _Ruling("conditional", "unknown-fact", facts)
        if answer.at_most <= 0:
            return _Ruling("never", answer.cause or "unknown-fact", answer.facts)
        if answer.at_most < needed:
            return _Ruling("partial", answer.cause, answer.facts)
        if answer.at_least < needed or answer.stuck is None:
            return _Ruling("conditional", "unknown-fact", answer.facts)
        if answer.stuck:
            return _Ruling("conditional", "placement-order", answer.facts)
        return _Ruling("fits", None, answer.facts)

    def _settled(self, ruling: _Ruling, pod: EffectivePod, demand: Demand, is_open: bool) -> _Ruling:
        """What lies outside the filters: who schedules at all, facts of admission, nodes that nobody described."""
        facts = _not_looked_at(demand)
        if facts:
            return _Ruling("conditional", "not-looked-at", facts)
        if pod.unknown:
            unknown = tuple(Fact("admission", refusal.message, refusal.place) for refusal in pod.unknown)
            return _Ruling("conditional", "unknown-fact", unknown + ruling.facts)
        if is_open and ruling.verdict in ("never", "partial"):
            place = demand.spec_place
            fact = Fact(OTHER_POOLS, "whether there are nodes or pools that are not among the files", place)
            return _Ruling("conditional", "unknown-fact", (fact, *ruling.facts))
        return ruling


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _refused(refusal: Refusal) -> Obstacle:
    against = None
    if refusal.related:
        place = refusal.related[0][1]
        data = place.object.data
        kind = data.get("kind") if isinstance(data, dict) else None
        metadata = data.get("metadata") if isinstance(data, dict) else None
        name = metadata.get("name") if isinstance(metadata, dict) else None
        against = Against("/".join(str(part) for part in (kind, name) if part), place)
    semantics = refusal.semantics
    if semantics and ":" not in semantics:
        semantics = f"scheduler:{semantics}"
    return Obstacle("api", refusal.message, semantics, refusal.place, against, "rejected")


def _not_looked_at(demand: Demand) -> tuple[Fact, ...]:
    """Reasons for which kube-scheduler's default profile does not look at the pod (A-1201, A-303, §1, §11)."""
    place = demand.spec_place
    found = []
    if demand.gates:
        names = ", ".join(demand.gates)
        found.append(Fact("scheduling-gate", f"who removes the scheduling gates {names}", place.at("schedulingGates")))
    if demand.scheduler_name != DEFAULT_SCHEDULER:
        message = f"whether the scheduler {demand.scheduler_name!r} runs, and what it decides"
        found.append(Fact("scheduler-name", message, place.at("schedulerName")))
    if demand.node_name:
        message = f"what the kubelet of {demand.node_name!r} says: nodeName goes past the scheduler"
        found.append(Fact("node-name", message, place.at("nodeName")))
    if demand.claims:
        message = "whether its resource claims can be allocated (dynamic resource allocation)"
        found.append(Fact("resource-claims", message, place.at("resourceClaims")))
    return tuple(found)
