"""What the NodePools say of every workload: answers of all pods together, then verdicts with their reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unpend.catalog.load import catalogs_of
from unpend.model.inventory import Inventory
from unpend.model.karpenter_labels import NODE_POOL
from unpend.model.pod import EffectivePod
from unpend.placement.conflict import conflict
from unpend.placement.counts import Placing, pack
from unpend.placement.demand import Demand
from unpend.placement.fixed import FixedNodes
from unpend.placement.karpenter.contention import contending
from unpend.placement.karpenter.daemon_verdicts import daemon_on_pool, together
from unpend.placement.karpenter.daemons import daemons_of
from unpend.placement.karpenter.decide import (
    Decider,
    Others,
    PoolAnswer,
)
from unpend.placement.karpenter.devices import locked_out
from unpend.placement.karpenter.joined import Joined, PoolsRuling
from unpend.placement.karpenter.limits import most_pods
from unpend.placement.karpenter.managed import ManagedPool, ManagedPools, belongs
from unpend.placement.karpenter.repair import nearest_pool
from unpend.placement.karpenter.together import best_first, choosing, hangs_on_memory, spot_pools, starving, zones_of
from unpend.placement.karpenter.topology import Tally, Topology, has_rules
from unpend.placement.karpenter.words import refusals
from unpend.placement.scheduler import filters
from unpend.placement.verdict import (
    RANKS,
    Answer,
    Cause,
    Certainty,
    Fact,
    Obstacle,
    PoolVerdict,
    Repair,
    SpotBreadth,
    Verdict,
    Witness,
    WorkloadVerdict,
    worst_certainty,
)
from unpend.records import dataclass, field, replace
from unpend.settings import Settings


@dataclass(slots=True)
class KarpenterRun:
    """The NodePools of one inventory under one set of settings, with the answers to all of its workloads."""

    inventory: Inventory
    settings: Settings
    decider: Decider = field(init=False)
    topology: Topology = field(init=False)
    _answers: dict[str, tuple[PoolAnswer, ...]] = field(default_factory=dict)
    _final: dict[str, tuple[PoolAnswer, ...]] = field(default_factory=dict)
    _pods: dict[str, tuple[Demand, EffectivePod]] = field(default_factory=dict)
    _reached: dict[int, tuple[set[str], set[str]]] = field(default_factory=dict)
    _tallies: Mapping[str, Tally] = field(default_factory=dict)
    _contention: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        daemons = daemons_of(self.inventory, self.settings)
        catalogs = catalogs_of(self.settings)
        self.decider = Decider(ManagedPools(self.inventory, self.settings, daemons, catalogs))
        self.topology = Topology(self.decider.pools, self.inventory, self.settings)

    def ask(self, workload: str, demand: Demand, pod: EffectivePod) -> None:
        """Ask for one pod of a workload; all have to be asked before the first verdict is read."""
        answers = self.decider.answers(demand, pod)
        if has_rules(pod):
            answers = tuple(self.topology.first(answer, demand, pod) for answer in answers)
        self._answers[workload] = answers
        self._pods[workload] = (demand, pod)
        best = best_first(answers)
        earlier = [a for a in answers if best is not None and a.pool.number < best.pool.number]
        for answer in answers:
            sure, possible = self._reached.setdefault(answer.pool.number, (set(), set()))
            if best is not None and answer is best and all(a.verdict == "never" for a in earlier):
                sure.add(workload)
            elif answer.plan.possible and not answer.needs_others:
                possible.add(workload)

    def count(self, placings: Sequence[Placing], fixed: FixedNodes, on_nodes: Mapping[str, int]) -> None:
        """Count the replicas of all workloads by their topology rules; `on_nodes` pods of each find room on Nodes."""
        known = {p.workload.id: self.answers(p.workload.id) for p in placings} if self.decider.pools.pools else {}
        most = {p.workload.id: self._on_nodes(p, on_nodes.get(p.workload.id, 0)) for p in placings}
        self._tallies = self.topology.count(placings, fixed, known, most)
        alone = {p.workload.id: self._most(p, p.needed) is None for p in placings if not p.accepted.possible}
        self._contention = contending(placings, known, alone)

    def others(self, workload: str, pool: ManagedPool) -> Others:
        """Whether a pool has nodes for another reason than a pod of this workload (F)."""
        if pool.pool.is_static:
            return "yes"
        sure, possible = self._reached.get(pool.number, (set(), set()))
        if sure - {workload}:
            return "yes"
        if self.settings.world.workloads == "open" or possible - {workload}:
            return "possible"
        if self.inventory.bound_pods and any(belongs(node, pool.pool) for node in self.inventory.nodes):
            return "possible"
        return "no"

    def answers(self, workload: str) -> tuple[PoolAnswer, ...]:
        """The final answers of all pools to a pod of a workload."""
        found = self._final.get(workload)
        if found is None:
            found = self._final[workload] = tuple(
                a.with_others(self.others(workload, a.pool)) if a.needs_others else a
                for a in self._answers.pop(workload, ())
            )
        return found

    def ruling(self, workload: str) -> PoolsRuling:
        """All pools together: the best of them, unless nodes of a pool that is tried before are refused."""
        answers = self.answers(workload)
        if not answers:
            return PoolsRuling("never", "pool-unusable")
        best = best_first(answers) or max(answers, key=lambda a: (RANKS.index(a.verdict), -a.pool.number))
        if best.verdict == "fits":
            starved = starving(answers, best)
            if starved is not None:
                fact = Fact(
                    "starved",
                    f"{starved.pool.name} is tried before {best.pool.name}, and kube-scheduler refuses its nodes",
                    starved.pool.pool.place,
                )
                return PoolsRuling("conditional", "starved", (fact,), best.assumptions, best.certainty, best.pool.name)
            before = choosing(answers, best)
            if before is not None:
                best = before
        tied = [a for a in answers if a.verdict == best.verdict]
        facts = tuple(dict.fromkeys(f for a in tied for f in a.facts)) if best.verdict == "conditional" else ()
        certainty = best.certainty
        assumptions = best.assumptions
        if best.verdict in ("never", "loop"):
            certainty = worst_certainty(a.certainty for a in answers)
            if any(hangs_on_memory(a) for a in answers):
                assumptions = (*assumptions, "A7")
        cause = best.cause or (self.refusing(best) if best.verdict == "never" else None)
        return PoolsRuling(best.verdict, cause, facts, assumptions, certainty, best.pool.name)

    def with_daemon(self, verdict: WorkloadVerdict, demand: Demand) -> WorkloadVerdict:
        """The verdict of a DaemonSet on the Nodes, with the NodePools whose nodes it selects."""
        found = tuple(v for p in self.decider.pools.pools if (v := daemon_on_pool(p, demand)) is not None)
        if not found or verdict.cause in ("rejected", "not-looked-at"):
            return verdict
        joined = together((verdict.verdict, *(one.verdict for one in found)))
        worst = next((one for one in found if one.verdict == joined), found[0])
        cause = verdict.cause if joined == verdict.verdict else worst.cause
        if joined == "conditional" and cause is None:
            cause = next((one.cause for one in found if one.cause is not None), "unknown-fact")
        return replace(
            verdict,
            verdict=joined,
            cause=None if joined == "fits" else cause,
            certainty=worst_certainty((verdict.certainty, *(one.certainty for one in found))),
            pools=(*verdict.pools, *found),
            conflict=verdict.conflict or tuple(dict.fromkeys(o for one in found for o in one.obstacles)),
            zones=tuple(sorted({*verdict.zones, *(zone for one in found for zone in one.zones)})),
            facts=verdict.facts if joined == "conditional" else (),
        )

    def demands_bootstrap_nodes(self, workload: str) -> bool:
        """Whether a pod asks for nodes that Karpenter did not make, while there is none but those it runs on."""
        demand, _ = self._pods[workload]
        names = [pool.pool.name for pool in self.decider.pools.pools]
        for alternative in demand.alternatives:
            wanted = alternative.folded.get(NODE_POOL)
            if wanted is None or alternative.broken or not wanted.admits_absent:
                continue
            if not any(wanted.admits(name) for name in names):
                return True
        return False

    def joined(self, placing: Placing, nodes: Verdict, on_nodes: int, any_nodes: bool) -> Joined:
        """The NodePools beside the Nodes, whose own verdict is `nodes` and which take `on_nodes` pods at most."""
        workload = placing.workload.id
        ruling = self.ruling(workload)
        if not any_nodes and ruling.verdict != "fits" and self.demands_bootstrap_nodes(workload):
            fact = Fact(
                "bootstrap-nodes", "whether a node that Karpenter did not make takes the pod", placing.demand.spec_place
            )
            ruling = PoolsRuling("conditional", "bootstrap-nodes", (fact,), pool=ruling.pool)
        if ruling.verdict in ("fits", "conditional") and nodes != "fits":
            ruling = self._tallied(placing, ruling)
        if ruling.verdict == "fits" and nodes != "fits":
            ruling = self._limited(placing, ruling, self._on_nodes(placing, on_nodes))
            ruling = self._contended(placing, ruling)
        if ruling.verdict in ("fits", "conditional"):
            ruling = self._bounded(placing, ruling, any_nodes)
        better = RANKS.index(ruling.verdict) > RANKS.index(nodes)
        # What limits and topology rules leave has been counted on Nodes and NodePools together.
        decides = nodes == "never" or better or nodes == ruling.verdict == "partial"
        return Joined(self, placing, ruling, decides)

    def _tallied(self, placing: Placing, ruling: PoolsRuling) -> PoolsRuling:
        """The verdict for all replicas by their topology rules, Nodes and NodePools taken together."""
        tally = self._tallies.get(placing.workload.id)
        if tally is None:
            return ruling
        # Rules that were read from code alone are assumed, whatever else an answer rests on.
        certainty: Certainty = "assumed" if tally.derived else ruling.certainty
        ruling = replace(ruling, tally=tally, certainty=certainty)
        most, needed = tally.at_most, placing.needed
        if most is not None and most < needed:
            verdict: Verdict = "partial" if most > 0 else "never"
            return replace(ruling, verdict=verdict, cause=tally.cause or "topology", facts=(), at_most=most)
        if ruling.verdict == "conditional":
            return replace(ruling, facts=tuple(dict.fromkeys((*ruling.facts, *tally.facts))))
        if tally.at_least < needed:
            named = [f.name for f in tally.facts if f.name in ("existing-node", "launch-choice")]
            cause: Cause = "unknown-fact"
            if named:
                cause = "existing-node" if named[0] == "existing-node" else "launch-choice"
            return replace(ruling, verdict="conditional", cause=cause, facts=tally.facts)
        if tally.contention:
            return _in_contention(placing, ruling, tally.contention)
        if tally.stuck is None:
            return replace(ruling, verdict="conditional", cause="unknown-fact", facts=tally.facts)
        if tally.stuck:
            order = Fact("placement-order", "in which order the pods are placed", placing.demand.spec_place)
            return replace(ruling, verdict="conditional", cause="placement-order", facts=(*tally.facts, order))
        return ruling

    @staticmethod
    def _on_nodes(placing: Placing, counted: int) -> int:
        """How many pods the Nodes take at most: nodes that come can lift what topology rules leave there."""
        if not placing.space.shapes or not placing.pod.spec.spread:
            return counted
        return pack(placing.demand, placing.space, placing.accepted, placing.needed).high

    def _bounded(self, placing: Placing, ruling: PoolsRuling, any_nodes: bool) -> PoolsRuling:
        """The ruling with bounds for the pods of an update and for an autoscaler's maximum: topology and limits."""
        tally = ruling.tally
        found = []
        totals = (placing.needed + placing.surge if placing.surge else 0, placing.maximum)
        counted = (None, None) if tally is None else (tally.rollout, tally.maximum)
        for total, known in zip(totals, counted, strict=True):
            bounds = [] if known is None else [known]
            by_limits = self._most(placing, total) if total > placing.needed and not any_nodes else None
            if by_limits is not None:
                bounds.append(by_limits)
            found.append(min(bounds, default=None))
        return replace(ruling, rollout=found[0], maximum=found[1])

    def _most(self, placing: Placing, total: int) -> int | None:
        """How many of `total` pods the limits of all pools that take the pod leave room for; None for all of them."""
        taking = [a for a in self.answers(placing.workload.id) if a.verdict not in ("never", "loop")]
        most = 0
        for answer in taking:
            bound = most_pods(answer, placing.demand, placing.pod, total)
            if bound is None:
                return None
            most += bound
        return most if taking and most < total else None

    def _limited(self, placing: Placing, ruling: PoolsRuling, on_nodes: int) -> PoolsRuling:
        """A verdict for all replicas: `partial` where the limits of all pools that take the pod are too small."""
        most = self._most(placing, placing.needed)
        if most is None or most + on_nodes >= placing.needed:
            return ruling
        return replace(ruling, verdict="partial", cause="limits", facts=(), at_most=most + on_nodes)

    def _contended(self, placing: Placing, ruling: PoolsRuling) -> PoolsRuling:
        """A verdict beside the other workloads: not all can run where limits leave too little for them together."""
        groups = tuple(group for group in self._contention if placing.workload.id in group)
        if not groups or ruling.verdict != "fits":
            return ruling
        return _in_contention(placing, ruling, groups)

    # Reasons

    def explanation(self, workload: str) -> tuple[tuple[Obstacle, ...], Repair | None]:
        """What stands between the pod and the pool that is nearest to taking it, and how it would."""
        answers = self.answers(workload)
        repair = nearest_pool(self.decider, answers, self._pods[workload][1])
        chosen = next((a for a in answers if repair is not None and a.pool.name == repair.pool), None)
        if chosen is None:
            chosen = max(answers, key=lambda a: (RANKS.index(a.verdict), -a.pool.number))
        return self.obstacles(workload, chosen), repair

    def cause_at(self, pool: str, workload: str) -> Cause | None:
        """Why a NodePool refuses a pod; None for one that does not, or is none."""
        answer = next((a for a in self.answers(workload) if a.pool.name == pool), None)
        if answer is None or answer.verdict != "never":
            return None
        return answer.cause or self.refusing(answer)

    def refusing(self, answer: PoolAnswer) -> Cause:
        """The rule by which kube-scheduler refuses all nodes of a pool (P5)."""
        found = self.scheduler_conflict(answer)
        if found:
            return found[-1].cause
        # Where no constraint is to blame although there are nodes, they have no slot left for any pod.
        full = answer.pool.space is not None and answer.pool.base.possible and not answer.accepted.possible
        return "resources" if full else "labels"

    def scheduler_conflict(self, answer: PoolAnswer) -> tuple[Obstacle, ...]:
        """A minimal set of constraints that no node of the pool meets for kube-scheduler."""
        if answer.settled:
            return answer.settled
        space = answer.pool.space
        if space is None or not space.everything or answer.accepted.possible:
            return ()
        return locked_out(conflict(answer.demand, space), space.devices, answer.pool.name, self.inventory)

    def obstacles(self, workload: str, answer: PoolAnswer) -> tuple[Obstacle, ...]:
        """Everything that stands between a pod and a pool: what the scheduler says, then what Karpenter does."""
        if answer.settled or answer.verdict == "fits":
            return answer.settled
        demand, pod = self._pods[workload]
        found = list(self.scheduler_conflict(answer))
        if answer.verdict == "loop" and not found and answer.pool.space is not None and answer.plan.possible:
            space = answer.pool.space
            number = (answer.plan.possible & -answer.plan.possible).bit_length() - 1
            found.extend(filters.obstacles(demand, space, number))
        plan = answer.plan
        if answer.cause == "taint" and not plan.launches and not plan.refusals:
            # Both deciders go by taints: Karpenter was not asked before.
            plan = self.decider.planner.plan(answer.pool, answer.asked)
        found.extend(refusals(answer.pool, plan, answer.asked, demand, pod))
        return tuple(found)

    def pool_verdicts(self, workload: str) -> tuple[PoolVerdict, ...]:
        """One verdict per pool."""
        return tuple(self._verdict(workload, answer) for answer in self.answers(workload))

    def _verdict(self, workload: str, answer: PoolAnswer) -> PoolVerdict:
        grid = answer.pool.grid
        mask = answer.taken or answer.accepted.possible
        if answer.verdict in ("never", "loop"):
            mask = 0
        autoscaler, scheduler = _says(answer)
        return PoolVerdict(
            pool=answer.pool.name,
            verdict=answer.verdict,
            cause=answer.cause or (self.refusing(answer) if answer.verdict == "never" else None),
            types=None if grid is None else grid.collapse(mask).bit_count(),
            zones=zones_of(answer, mask),
            autoscaler="karpenter",
            autoscaler_says=autoscaler,
            scheduler_says=scheduler,
            obstacles=self.obstacles(workload, answer),
            facts=answer.facts,
            assumptions=answer.assumptions,
            certainty=answer.certainty,
            place=answer.pool.pool.place,
        )

    def zones(self, workload: str) -> tuple[str, ...]:
        """The zones in which a pod can be: of the pools that take it, else of those that perhaps do."""
        answers = self.answers(workload)
        taking = [a for a in answers if a.verdict == "fits"] or [a for a in answers if a.verdict == "conditional"]
        return tuple(sorted({zone for a in taking for zone in zones_of(a, a.taken or a.accepted.possible)}))

    def spot(self, workload: str) -> SpotBreadth | None:
        """How much spot capacity is left to a pod; None when no pool takes it."""
        answers = self.answers(workload)
        if not any(answer.verdict == "fits" for answer in answers):
            return None
        return SpotBreadth(*spot_pools(answers))

    def witness(self, workload: str) -> Witness | None:
        """A node that would be launched: the cheapest known of the pool that is tried first."""
        best = best_first(self.answers(workload))
        if best is None or best.pool.grid is None:
            return None
        grid = best.pool.grid
        bit = grid.cheapest(best.taken)
        if bit is None:
            return None
        group = grid.group(bit)
        return Witness(
            best.pool.name,
            grid.shapes.names[bit % grid.width],
            group.zone or group.zone_id or None,
            group.capacity_type,
        )


def _in_contention(placing: Placing, ruling: PoolsRuling, groups: tuple[tuple[str, ...], ...]) -> PoolsRuling:
    workload = placing.workload.id
    others = sorted({name for group in groups for name in group if name != workload})
    named = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
    fact = Fact("contention", f"whether its pods come before those of {named}", placing.demand.spec_place)
    return replace(ruling, verdict="conditional", cause="contention", facts=(fact,), contention=groups)


def _says(answer: PoolAnswer) -> tuple[Answer, Answer]:
    plan = answer.plan
    if answer.pool.space is None:
        no = answer.verdict == "never"
        return ("no" if no else "unknown"), ("no" if no else "unknown")
    autoscaler: Answer = "unknown"
    if answer.first is not None:
        autoscaler = "yes"
    elif (not plan.possible and not answer.facts) or (answer.cause == "existing-node" and not plan.possible):
        autoscaler = "no"
    scheduler: Answer = "unknown"
    if answer.verdict in ("fits",) or answer.accepted.sure:
        scheduler = "yes"
    if not answer.accepted.possible or answer.verdict == "loop":
        scheduler = "no"
    return autoscaler, scheduler
