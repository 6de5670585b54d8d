"""The verdict of every workload against the Nodes of an inventory: one pod, then all pools, then all replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from unpend.model.admission import admit
from unpend.model.inventory import Autoscaler, Inventory, Workload
from unpend.model.pod import EffectivePod, Refusal
from unpend.placement.claims import Share, VolumeBook
from unpend.placement.counts import Counts, Placing, ReplicaAnswer, count_all, pack
from unpend.placement.demand import DEFAULT_SCHEDULER, Demand, demand_of, with_volumes
from unpend.placement.fixed import FixedNodes, fixed_nodes
from unpend.placement.needed import Replicas, autoscalers_by_target, replicas_of
from unpend.placement.ordinals import is_ordered
from unpend.placement.owned import OwnedPods
from unpend.placement.pools import DAEMONSET_FACT, FACTS, NodePools, facts_of, leaving_fact
from unpend.placement.replicas.update import surge_of
from unpend.placement.scheduler import filters
from unpend.placement.space import Masks, Space
from unpend.placement.verdict import (
    Against,
    Cause,
    Deferred,
    Fact,
    Obstacle,
    ReplicaCounts,
    Rollout,
    Verdict,
    WorkloadVerdict,
)
from unpend.records import replace
from unpend.settings import Settings

if TYPE_CHECKING:
    from unpend.placement.cluster_autoscaler.verdicts import GroupsJoined, GroupsRun
    from unpend.placement.karpenter.joined import Joined
    from unpend.placement.karpenter.verdicts import KarpenterRun

Admit = Callable[[Workload], EffectivePod]

OTHER_POOLS = "other-pools"


def evaluate_inventory(
    inventory: Inventory, settings: Settings, admitted: Admit | None = None
) -> tuple[WorkloadVerdict, ...]:
    """One verdict per workload, in the order of the inventory.

    `admitted` gives the effective pod of a workload, where a caller keeps them already.
    """
    if settings.zone_shift:
        from unpend.placement.zone_shift import shifted

        inventory = shifted(inventory, settings.zone_shift)
    run = _Run(inventory, settings, admitted or (lambda workload: admit(workload, inventory, settings)))
    return tuple(run.verdicts())


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
        self.masks: dict[tuple[object, ...], Masks] = {}
        self.open = is_open(inventory, settings)
        self.autoscalers = autoscalers_by_target(inventory)
        self.book = VolumeBook(inventory, settings)
        self.assumptions = ("A5",) if settings.world.daemonsets == "open" else ()

    @cached_property
    def fixed(self) -> FixedNodes:
        """The Nodes with what runs on them, and the nodes that node groups surely have."""
        standing = self.groups.groups.standing() if self.groups is not None else ()
        return fixed_nodes(self.inventory, self.settings, standing)

    @cached_property
    def owned(self) -> OwnedPods:
        """The bound pods by what may own them."""
        return OwnedPods(self.fixed)

    @cached_property
    def pools(self) -> NodePools:
        """The Nodes as pools."""
        return NodePools(self.fixed)

    @cached_property
    def karpenter(self) -> KarpenterRun | None:
        """The NodePools; None when there are none, so that nothing of theirs is loaded."""
        if not self.inventory.node_pools:
            return None
        from unpend.placement.karpenter.verdicts import KarpenterRun

        return KarpenterRun(self.inventory, self.settings)

    @cached_property
    def groups(self) -> GroupsRun | None:
        """The node groups; None when there are none, so that nothing of theirs is loaded."""
        if not self.inventory.node_groups:
            return None
        from unpend.placement.cluster_autoscaler.verdicts import GroupsRun

        return GroupsRun(self.inventory, self.settings)

    def verdicts(self) -> Iterator[WorkloadVerdict]:
        """The verdict of every workload: first one pod of each, then the replicas of all, then what that says."""
        first = [self._first(workload) for workload in self.inventory.workloads]
        placings = [p for p in first if isinstance(p, Placing)]
        if self.karpenter is not None:
            for placing in placings:
                self.karpenter.ask(placing.workload.id, placing.demand, placing.pod)
        if self.groups is not None:
            for placing in placings:
                self.groups.ask(placing.workload.id, placing.demand, placing.pod)
        counts = count_all(placings, self.fixed, self.inventory, self.settings)
        if self.karpenter is not None:
            on_nodes = {name: answer.at_most for name, answer in counts.answers.items()}
            self.karpenter.count(placings, self.fixed, on_nodes)
        for found in first:
            yield self._placed(found, counts) if isinstance(found, Placing) else found

    def _replicas(self, workload: Workload) -> Replicas:
        return replicas_of(workload, self._autoscaler(workload))

    def _autoscaler(self, workload: Workload) -> Autoscaler | None:
        return self.autoscalers.get((workload.kind, workload.namespace, workload.name))

    def _first(self, workload: Workload) -> Placing | WorkloadVerdict:
        """What can be said without counting, or what has to be counted."""
        if workload.kind == "DaemonSet":
            pod = self.admitted(workload)
            return self._rejected(workload, pod, Replicas(0, 0)) if pod.refusals else self._daemon(workload, pod)
        replicas = self._replicas(workload)
        if replicas.needed <= 0 or (self.inventory.fargate and _on_fargate(workload, self.inventory)):
            return self._result(workload, _Ruling("skipped", None), ReplicaCounts(replicas.wanted, 0, 0, 0))
        pod = self.admitted(workload)
        if pod.refusals:
            return self._rejected(workload, pod, replicas)
        if pod.spec.resource_claims and self.settings.world.claims == "closed":
            from unpend.placement.device_claims import missing_claims

            missing = missing_claims(pod, self.inventory)
            if missing:
                counts = ReplicaCounts(replicas.wanted, replicas.needed, 0, 0)
                return replace(self._result(workload, _Ruling("never", "resources"), counts), conflict=missing)
        return self._placing(workload, pod, replicas.needed)

    def _placing(self, workload: Workload, pod: EffectivePod, needed: int) -> Placing:
        shares = self.book.shares(workload, pod.spec, needed)
        demand = self._first_to_place(workload, demand_of(pod), shares)
        space = self.fixed.space
        accepted = self._ask(demand)
        if self.inventory.bound_pods and pack(demand, space, accepted, needed).low < needed:
            own = self.fixed.without(self.owned.pods_of(workload))
            if own is not None:
                space, accepted = own, filters.ask(demand, own).accepted
        autoscaler = self._autoscaler(workload)
        maximum = autoscaler.maximum if autoscaler and autoscaler.maximum else 0
        surge = surge_of(workload, needed)
        extra = surge.extra if surge else 0
        several = shares if len(shares) > 1 else ()
        return Placing(workload, pod, demand, space, accepted, needed, extra, maximum, several)

    def _first_to_place(self, workload: Workload, demand: Demand, shares: tuple[Share, ...]) -> Demand:
        """The demand of the pod that has to find a node first; where there is no order, of one that does."""
        demands = [with_volumes(demand, share.volumes) for share in shares]
        if len(demands) == 1 or is_ordered(workload.pod_management):
            return demands[0]
        return next((d for d in demands if self._ask(d).possible), demands[0])

    def _ask(self, demand: Demand) -> Masks:
        masks = self.masks.get(demand.key)
        if masks is None:
            masks = self.masks[demand.key] = filters.ask(demand, self.fixed.space).accepted
        return masks

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
        verdict = self._daemon_on_nodes(workload, pod)
        if self.karpenter is not None:
            verdict = self.karpenter.with_daemon(verdict, demand_of(pod))
        return verdict if self.groups is None else self.groups.with_daemon(verdict, demand_of(pod))

    def _daemon_on_nodes(self, workload: Workload, pod: EffectivePod) -> WorkloadVerdict:
        daemon = self.fixed.daemons.get(workload.id)
        if daemon is None:
            ruling = self._settled(_Ruling("skipped", None), pod, demand_of(pod), self.open)
            return self._result(workload, ruling, ReplicaCounts(0, 0, 0, 0))
        from unpend.placement.daemonset import evaluate_daemon

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
            zones=self.pools.zones(outcome.accepted.possible),
        )

    def _placed(self, placing: Placing, counts: Counts) -> WorkloadVerdict:
        demand, space, accepted = placing.demand, placing.space, placing.accepted
        answer = self._answer(placing, counts)
        preempting = 0
        obstacles, repair = answer.obstacles, None
        if not accepted.possible and space.shapes:
            from unpend.placement.conflict import conflict
            from unpend.placement.preemption import after_evictions
            from unpend.placement.repair import nearest

            preempting = after_evictions(demand, self.fixed)
            obstacles, repair = conflict(demand, space), nearest(demand, space)
        elif demand.volumes.blocked and not space.shapes:
            obstacles = tuple(m.blocked for m in demand.volumes.blocked if m.blocked is not None)
        closed = 0
        for number in answer.closed:
            closed |= 1 << number
        accepted = Masks(accepted.sure & ~closed, accepted.possible & ~closed)
        if closed and not accepted.possible:
            obstacles = tuple(dict.fromkeys((*obstacles, *answer.closed.values())))
        groups = tuple(group for group in counts.contention if placing.workload.id in group)
        ruling = self._ruling(placing, preempting, obstacles, answer, bool(groups))
        joined = None
        if self.karpenter is not None:
            joined = self.karpenter.joined(placing, ruling.verdict, answer.at_most, bool(space.shapes))
            if joined.decides:
                ruling = _Ruling(joined.verdict, joined.cause, joined.facts)
        grouped = None
        if self.groups is not None:
            grouped = self.groups.joined(placing, ruling.verdict, answer)
            if grouped.decides:
                ruling = _Ruling(grouped.verdict, grouped.cause, grouped.facts)
        ruling = self._settled(ruling, placing.pod, demand, self.open)
        assumptions = self.assumptions if ruling.verdict == "fits" else ()
        verdict = WorkloadVerdict(
            workload=placing.workload.id,
            cluster=self.settings.cluster,
            verdict=ruling.verdict,
            cause=ruling.cause,
            certainty="assumed" if assumptions else "proved",
            replicas=self._numbers(placing, answer, joined, grouped),
            assumptions=assumptions,
            pools=Deferred(lambda: self.pools.verdicts(demand, space, accepted, preempting, obstacles, answer.closed)),
            conflict=obstacles,
            witness=self.pools.witness(accepted.sure),
            facts=ruling.facts,
            nearest=repair,
            zones=self.pools.zones(accepted.possible | preempting),
            contention=groups,
            place=placing.workload.place,
        )
        if joined is not None:
            verdict = joined.completed(verdict)
        if grouped is not None:
            verdict = grouped.completed(verdict)
        cause = ruling.cause
        # Data does not move: where a volume decides, it stays the cause although the pod is easier to change.
        if ruling.verdict == "never" and verdict.nearest is not None and cause != "volume":
            cause = self._cause_at(verdict.nearest.pool, placing, space) or cause
        return replace(verdict, verdict=ruling.verdict, cause=cause, facts=ruling.facts)

    def _cause_at(self, pool: str, placing: Placing, space: Space) -> Cause | None:
        """Why the pool that is nearest to taking a pod refuses it: cause, finding and repair speak of one pool."""
        number = next((n for n, shape in enumerate(space.shapes) if shape.source.owner == pool), None)
        if number is not None:
            found = filters.obstacles(placing.demand, space, number)
            return found[0].cause if found else None
        return None if self.karpenter is None else self.karpenter.cause_at(pool, placing.workload.id)

    def _answer(self, placing: Placing, counts: Counts) -> ReplicaAnswer:
        """The count on the nodes; where a topology rule looks at a label that nobody knows, all counts are possible."""
        answer = counts.answers.get(placing.workload.id, _NOTHING)
        unclear = self.groups.unclear(placing) if self.groups is not None and placing.accepted.possible else None
        return answer if unclear is None else ReplicaAnswer(0, placing.needed, facts=(unclear,))

    def _numbers(
        self, placing: Placing, answer: ReplicaAnswer, joined: Joined | None, grouped: GroupsJoined | None
    ) -> ReplicaCounts:
        """The counts on the nodes; those of an update and of an autoscaler's maximum with the nodes that may come."""
        wanted, needed = self._replicas(placing.workload).wanted, placing.needed

        def with_more(total: int, bound: int | None) -> Rollout | None:
            if bound is None or (joined is not None and joined.verdict not in ("never", "loop")):
                return None
            more = grouped.most_more(total) if grouped is not None else 0
            return Rollout(total, min(total, bound + more))

        return ReplicaCounts(
            wanted,
            needed,
            answer.at_least,
            answer.at_most,
            with_more(needed + placing.surge, answer.rollout),
            with_more(placing.maximum, answer.maximum),
        )

    @staticmethod
    def _ruling(
        placing: Placing, preempting: int, obstacles: tuple[Obstacle, ...], answer: ReplicaAnswer, contended: bool
    ) -> _Ruling:
        """The verdict for nodes that are all there is, as far as the scheduler is asked."""
        accepted, needed = placing.accepted, placing.needed
        if not accepted.possible and not preempting:
            return _Ruling("never", obstacles[-1].cause if obstacles else "pool-unusable")
        if not accepted.sure:
            facts = facts_of(placing.demand, placing.space, accepted.possible | preempting, preempting)
            return _Ruling("conditional", "unknown-fact", facts)
        if answer.at_most <= 0:
            return _Ruling("never", answer.cause or "unknown-fact", answer.facts)
        if answer.at_most < needed:
            return _Ruling("partial", answer.cause or "resources", answer.facts)
        if answer.at_least < needed or answer.stuck is None:
            return _Ruling("conditional", "unknown-fact", answer.facts or (_gap(placing),))
        if contended:
            return _Ruling("conditional", "contention", answer.facts)
        if answer.stuck:
            return _Ruling("conditional", "placement-order", answer.facts)
        return _Ruling("fits", None, answer.facts)

    @staticmethod
    def _settled(ruling: _Ruling, pod: EffectivePod, demand: Demand, is_open: bool) -> _Ruling:
        """What lies outside the filters: who schedules at all, facts of admission, nodes that nobody described."""
        facts = _not_looked_at(demand)
        if facts:
            return _Ruling("conditional", "not-looked-at", facts)
        if pod.unknown:
            unknown = tuple(Fact("admission", refusal.message, refusal.place) for refusal in pod.unknown)
            return _Ruling("conditional", "unknown-fact", unknown + ruling.facts)
        if is_open and ruling.verdict in ("never", "loop", "partial") and not demand.volumes.blocked:
            place = demand.spec_place
            fact = Fact(OTHER_POOLS, "whether there are nodes or pools that are not among the files", place)
            return _Ruling("conditional", "unknown-fact", (fact, *ruling.facts))
        return ruling


_NOTHING = ReplicaAnswer(0, 0)


def _on_fargate(workload: Workload, inventory: Inventory) -> bool:
    """Whether a Fargate profile takes the pods of a workload: they need no node."""
    from fnmatch import fnmatchcase

    labels = {key: label.value for key, label in workload.template.labels.items()}
    return any(
        fnmatchcase(workload.namespace, one.namespace)
        and all(key in labels and fnmatchcase(labels[key], value) for key, value in one.labels)
        for one in inventory.fargate
    )


def _gap(placing: Placing) -> Fact:
    """Why a count stays open when nothing else is named."""
    low_only = placing.accepted.sure != placing.accepted.possible
    left = leaving_fact(placing.demand, placing.space, placing.accepted.possible)
    if left is not None:
        return left
    if low_only or any(i.low != i.high for shape in placing.space.shapes for i in shape.free.values()):
        return Fact(DAEMONSET_FACT, FACTS[DAEMONSET_FACT], placing.demand.spec_place)
    return Fact("step-budget", "how many replicas fit: the search was given up", placing.demand.spec_place)


def _refused(refusal: Refusal) -> Obstacle:
    against = None
    if refusal.related:
        place = refusal.related[0][1]
        data = place.object.data
        kind = data.get("kind") if isinstance(data, dict) else None
        metadata = data.get("metadata") if isinstance(data, dict) else None
        name = metadata.get("name") if isinstance(metadata, dict) else None
        against = Against("/".join(str(part) for part in (kind, name) if part), place)
    return Obstacle("api", refusal.message, refusal.semantics, refusal.place, against, "rejected")


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
