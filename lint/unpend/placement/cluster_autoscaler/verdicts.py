"""What the node groups say of every workload: one pod against each group, then all groups, then all replicas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from unpend.algebra.selectors import matches
from unpend.algebra.values import ValueSet
from unpend.model.inventory import Inventory
from unpend.model.node_labels import HOSTNAME, INSTANCE_TYPE, ZONE
from unpend.model.pod import EffectivePod, LabelSelector
from unpend.placement.cluster_autoscaler.daemon_verdicts import with_groups
from unpend.placement.cluster_autoscaler.decide import GroupAnswer, answer
from unpend.placement.cluster_autoscaler.groups import MOST_STANDING, Groups
from unpend.placement.cluster_autoscaler.topology import bounds
from unpend.placement.cluster_autoscaler.words import EVENT, not_scaled
from unpend.placement.company import never_starting, stands_alone
from unpend.placement.conflict import conflict
from unpend.placement.counts import Placing, ReplicaAnswer, copies_on, pack
from unpend.placement.demand import Demand
from unpend.placement.peers import Wish
from unpend.placement.pools import witness_of
from unpend.placement.repair import nearest
from unpend.placement.space import Interval, Space
from unpend.placement.verdict import (
    RANKS,
    Against,
    Cause,
    Certainty,
    Deferred,
    Fact,
    Obstacle,
    PoolVerdict,
    Repair,
    ReplicaCounts,
    Verdict,
    Witness,
    WorkloadVerdict,
    worst_certainty,
)
from unpend.records import dataclass, replace
from unpend.settings import Settings


@dataclass(frozen=True)
class GroupsRuling:
    """What all groups together say of the pods of a workload; `counts` are the pods that they add to the nodes."""

    verdict: Verdict
    cause: Cause | None
    facts: tuple[Fact, ...] = ()
    certainty: Certainty = "catalog"
    obstacles: tuple[Obstacle, ...] = ()
    more: Interval = Interval(0, 0)


@dataclass(frozen=True)
class GroupsJoined:
    """The part of the groups in the verdict of one workload. `decides` says that theirs is the verdict."""

    run: GroupsRun
    placing: Placing
    ruling: GroupsRuling
    decides: bool

    @property
    def verdict(self) -> Verdict:
        """The verdict of the groups."""
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
        """A verdict without the groups, except for verdict, cause and facts, with what the groups add to it."""
        run, workload = self.run, self.placing.workload.id
        of_others = verdict.pools
        pools = Deferred(lambda: (*of_others, *run.pool_verdicts(workload)))
        zones = tuple(sorted({*verdict.zones, *run.zones(workload)}))
        if not self.decides:
            return replace(verdict, pools=pools, zones=zones)
        refused = self.verdict in ("never", "loop")
        found, repair = run.explanation(workload) if refused else ((), None)
        witness = verdict.witness or (run.witness(workload) if self.verdict == "fits" else None)
        return replace(
            verdict,
            certainty=worst_certainty((verdict.certainty, self.ruling.certainty)),
            replicas=self._counts(verdict.replicas),
            pools=pools,
            conflict=(verdict.conflict or self.ruling.obstacles or found) if refused else self.ruling.obstacles,
            witness=witness if self.verdict in ("fits", "partial") else None,
            nearest=(verdict.nearest or repair) if refused else None,
            zones=zones,
            contention=(),
        )

    def most_more(self, total: int) -> int:
        """How many of `total` pods the nodes to come can take at most."""
        return self.run.more(self.placing, total).high

    def _counts(self, counts: ReplicaCounts) -> ReplicaCounts:
        if self.verdict in ("never", "loop"):
            return replace(counts, at_least=0, at_most=0)
        more = self.ruling.more
        return replace(
            counts,
            at_least=min(counts.needed, counts.at_least + more.low),
            at_most=min(counts.needed, counts.at_most + more.high),
        )


class GroupsRun:
    """The node groups of one inventory under one set of settings, with the answers to all of its workloads."""

    def __init__(self, inventory: Inventory, settings: Settings) -> None:
        self.inventory = inventory
        self.settings = settings
        self.groups = Groups(inventory, settings)
        self._answers: dict[str, tuple[tuple[GroupAnswer, ...], Demand]] = {}
        self._memo: dict[object, tuple[GroupAnswer, ...]] = {}
        self._room: dict[object, Interval] = {}
        self._zones: dict[int, tuple[str, ...]] = {}

    def ask(self, workload: str, demand: Demand, pod: EffectivePod) -> None:
        """Ask for one pod of a workload."""
        key = (demand.key, not_scaled(demand, pod, self.groups.flags))
        found = self._memo.get(key)
        if found is None:
            flags = self.groups.flags
            found = self._memo[key] = tuple(answer(g, demand, pod, flags) for g in self.groups.groups)
        self._answers[workload] = (found, demand)

    def with_daemon(self, verdict: WorkloadVerdict, demand: Demand) -> WorkloadVerdict:
        """The verdict of a DaemonSet elsewhere, with the groups whose nodes it selects."""
        return with_groups(verdict, demand, self.groups.groups)

    def answers(self, workload: str) -> tuple[GroupAnswer, ...]:
        """The answers of all groups to a pod of a workload, with the places of that workload."""
        found, demand = self._answers.get(workload, ((), None))
        return found if demand is None else tuple(replace(one, demand=demand) for one in found)

    def _alike(self, workload: str) -> tuple[GroupAnswer, ...]:
        """The answers to a pod that every node answers alike: all but the places."""
        return self._answers[workload][0] if workload in self._answers else ()

    # Nodes that are surely there, as nodes among others

    @cached_property
    def unclear_keys(self) -> frozenset[str]:
        """Label keys whose value is not known on some standing node, other than the name of the host."""
        found: set[str] = set()
        for group in self.groups.groups:
            if group.standing:
                found.update(k for k, v in group.node.labels.items() if isinstance(v, ValueSet))
        return frozenset(found - {HOSTNAME})

    def unclear(self, placing: Placing) -> Fact | None:
        """A topology key of the pod that standing nodes have with a value that nobody knows; None without one."""
        key = next((key for key in _topology_keys(placing) if key in self.unclear_keys), None)
        if key is None:
            return None
        what = "in which zones its nodes stand" if key == ZONE else f"which {key} its nodes have"
        group = next(g for g in self.groups.groups if g.standing and isinstance(g.node.labels.get(key), ValueSet))
        return Fact("node-labels", f"{what}: {group.name} does not promise it", group.source.label(key))

    # All groups together

    def joined(self, placing: Placing, others: Verdict, counted: ReplicaAnswer) -> GroupsJoined:
        """The groups beside everything else, whose verdict is `others` and whose count is `counted`."""
        ruling = self._ruling(placing, counted)
        if self.inventory.node_pools and ruling.verdict == "partial" and others != "never":
            fact = Fact(
                "other-pools", "how many of the pods NodePools and node groups take together", placing.demand.spec_place
            )
            ruling = replace(ruling, verdict="conditional", cause="unknown-fact", facts=(fact,), obstacles=())
        # What the standing nodes say has been counted with the others; only nodes to come can do better.
        better = RANKS.index(ruling.verdict) > RANKS.index(others) and not (
            ruling.verdict == "fits" and not ruling.more.low
        )
        decides = others == "never" or better or (others == "partial" and ruling.verdict == "partial")
        return GroupsJoined(self, placing, ruling, decides)

    def _ruling(self, placing: Placing, counted: ReplicaAnswer) -> GroupsRuling:
        answers = self._alike(placing.workload.id)
        if not answers:
            return GroupsRuling("never", "pool-unusable")
        best = max(answers, key=lambda a: (RANKS.index(a.verdict), a.standing, -a.group.number))
        certainty = worst_certainty(a.certainty for a in answers)
        if best.verdict in ("never", "loop"):
            return GroupsRuling(best.verdict, best.why(), (), certainty)
        tied = [a for a in answers if a.verdict == best.verdict]
        facts = tuple(dict.fromkeys(f for a in tied for f in a.facts))
        more = self.more(placing, placing.needed)
        if more.high and _is_tied(placing) and not self.inventory.node_pools:
            return self._tied(placing, answers, counted, GroupsRuling(best.verdict, best.cause, facts, certainty))
        high = counted.at_most + more.high
        if high < placing.needed:
            if high <= 0:
                return GroupsRuling("never", counted.cause or "limits", counted.facts, certainty)
            if not more.high:
                return GroupsRuling("partial", counted.cause or "limits", (), certainty, counted.obstacles, more)
            short = self._at_maximum(placing, answers, high)
            return GroupsRuling("partial", "limits", (), certainty, (short,), more)
        if best.verdict == "conditional":
            return GroupsRuling("conditional", best.cause, facts, certainty, more=more)
        starved = next((a for a in answers if a.verdict == "loop"), None)
        if counted.at_least >= placing.needed:
            return GroupsRuling("fits", None, (), certainty, more=more)
        if starved is not None:
            fact = Fact(
                "starved",
                f"Cluster Autoscaler may choose {starved.group.name}, whose nodes kube-scheduler refuses",
                starved.group.group.place,
            )
            return GroupsRuling("conditional", "starved", (fact,), certainty, more=more)
        if counted.at_least + more.low >= placing.needed:
            return GroupsRuling("fits", None, (), certainty, more=more)
        gap = self._gap(placing, answers)
        return GroupsRuling("conditional", "unknown-fact", gap, certainty, more=more)

    def _tied(
        self, placing: Placing, answers: Sequence[GroupAnswer], counted: ReplicaAnswer, one_pod: GroupsRuling
    ) -> GroupsRuling:
        """The ruling where topology rules decide, on nodes that are there and nodes to come together."""
        needed, certainty = placing.needed, one_pod.certainty
        wish = self.never_starting.get(placing.workload.id)
        if wish is not None:
            place = wish.terms[0].place
            message = "required pod affinity means pods of which none can ever run before this one"
            obstacle = Obstacle("podAffinity", message, "scheduler:S-915", place, None, "affinity")
            return GroupsRuling("never", "affinity", (), "proved", (obstacle,))
        new = self._new(placing, needed)
        on_nodes = pack(placing.demand, placing.space, placing.accepted, needed)
        most = min(needed, on_nodes.high + sum(room.high for room in new.values()))
        found = bounds(placing, answers, new, stands_alone(placing, self.inventory), most)
        low = max(found.low, counted.at_least)
        more = Interval(max(0, low - counted.at_least), max(0, found.high - counted.at_most))
        if found.high < needed:
            if found.obstacle is not None:
                verdict: Verdict = "partial" if found.high > 0 else "never"
                return GroupsRuling(verdict, found.obstacle.cause, (), certainty, (found.obstacle,), more)
            short = self._at_maximum(placing, answers, found.high)
            return GroupsRuling("partial", "limits", (), certainty, (short,), more)
        if one_pod.verdict == "conditional":
            return replace(one_pod, more=more)
        if low >= needed and not any(answer.verdict == "loop" for answer in answers):
            return GroupsRuling("fits", None, (), certainty, more=more)
        return GroupsRuling("conditional", "unknown-fact", self._gap(placing, answers), certainty, more=more)

    @cached_property
    def never_starting(self) -> Mapping[str, Wish]:
        """The workloads that wait for pods that never run; nobody knows that where workloads are open."""
        return never_starting(self.inventory, self.settings) if self.settings.world.workloads == "closed" else {}

    def more(self, placing: Placing, limit: int) -> Interval:
        """How many of `limit` pods nodes to come take: surely where both sides agree, at most by the maximum size."""
        rooms = self._new(placing, limit).values()
        low = 0 if _is_tied(placing) else sum(room.low for room in rooms)
        return Interval(min(low, limit), min(sum(room.high for room in rooms), limit))

    def _new(self, placing: Placing, limit: int) -> dict[int, Interval]:
        """How many of `limit` pods the nodes to come of each group take, by its number, topology rules left out."""
        found: dict[int, Interval] = {}
        answers = self._alike(placing.workload.id)
        apart = _is_apart(placing.pod)
        for one in answers:
            group = one.group
            if not one.accepted.possible or one.verdict in ("never", "loop"):
                continue
            low = high = 0
            if group.grows and one.autoscaler is not None:
                nodes = limit if group.most is None else group.most - group.standing
                most = self._copies(one, placing.demand, limit)
                high = nodes * (min(most.high, 1) if apart else most.high)
                if one.launches and one.verdict == "fits":
                    low = nodes * (min(most.low, 1) if apart else most.low)
            if group.standing > MOST_STANDING:
                high = limit
            if high:
                found[group.number] = Interval(min(low, limit), min(high, limit))
        return found

    def _copies(self, one: GroupAnswer, demand: Demand, limit: int) -> Interval:
        """How many pods one new node takes: the fewest and the most among the nodes that it may be."""
        key = (one.group.number, demand.key, limit)
        found = self._room.get(key)
        if found is None:
            space = one.group.actual
            each = [copies_on(demand, space.shapes[n], limit) for n in space.bits(one.accepted.possible)]
            found = self._room[key] = Interval(min(c.low for c in each), max(c.high for c in each))
        return found

    def _gap(self, placing: Placing, answers: Sequence[GroupAnswer]) -> tuple[Fact, ...]:
        """Why it is not certain that all replicas find a node."""
        unscaled = [a.group.scaling_fact() for a in answers if a.accepted.possible and a.group.scaler == "unknown"]
        if unscaled:
            return tuple(unscaled)
        if _is_tied(placing):
            message = "where new nodes stand: Cluster Autoscaler reckons with one zone for all nodes of a group"
            return (Fact("topology", message, placing.demand.spec_place),)
        refusing = [a for a in answers if a.accepted.possible and a.autoscaler == "no"]
        if refusing:
            names = ", ".join(a.group.name for a in refusing)
            message = f"whether {names} has more nodes: Cluster Autoscaler adds none for these pods"
            return (Fact("existing-node", message, refusing[0].group.group.place),)
        doubts = tuple(fact for a in answers if a.accepted.possible for fact in a.group.doubts())
        return doubts or (Fact("node-size", "how many of the pods a node takes", placing.demand.spec_place),)

    @staticmethod
    def _at_maximum(placing: Placing, answers: Sequence[GroupAnswer], high: int) -> Obstacle:
        group = next(a.group for a in answers if a.accepted.possible)
        place = group.group.size.maximum_place or group.group.place
        message = (
            f"{high} of the {placing.needed} pods find room: {group.name} may have at most {group.most} nodes "
            f"({EVENT}: 1 max node group size reached)"
        )
        where = placing.workload.replicas_place or placing.demand.spec_place
        return Obstacle("limits", message, "autoscaler:C-313", where, Against(group.name, place), "limits")

    # Reasons

    def explanation(self, workload: str) -> tuple[tuple[Obstacle, ...], Repair | None]:
        """The conflict with the group that is nearest to taking the pod, and how it would."""
        answers = self.answers(workload)
        best = max(answers, key=lambda a: (RANKS.index(a.verdict), -a.group.number))
        if best.settled:
            return best.settled, None
        return conflict(best.demand, best.group.actual), nearest(best.demand, best.group.actual)

    def pool_verdicts(self, workload: str) -> tuple[PoolVerdict, ...]:
        """One verdict per group."""
        return tuple(_pool_verdict(one) for one in self.answers(workload))

    def zones(self, workload: str) -> tuple[str, ...]:
        """The zones in which a pod can be: of the groups that take it, else of those that perhaps do."""
        answers = self._alike(workload)
        zones = self._zones.get(id(answers))
        if zones is None:
            taking = [a for a in answers if a.verdict == "fits"] or [a for a in answers if a.verdict == "conditional"]
            zones = self._zones[id(answers)] = tuple(sorted({zone for a in taking for zone in _zones(a)}))
        return zones

    def witness(self, workload: str) -> Witness | None:
        """A node that would take the pod, of the first group that does."""
        one = next((a for a in self._alike(workload) if a.verdict == "fits"), None)
        if one is None:
            return None
        number = (one.accepted.sure & -one.accepted.sure).bit_length() - 1
        return witness_of(one.group.actual.shapes[number], one.group.name)


def _pool_verdict(one: GroupAnswer) -> PoolVerdict:
    mask = one.accepted.possible if one.verdict in ("fits", "conditional") else 0
    shapes = one.group.actual.shapes if mask else ()
    types = {shapes[n].labels.get(INSTANCE_TYPE) for n in one.group.actual.bits(mask)}
    return PoolVerdict(
        pool=one.group.name,
        verdict=one.verdict,
        cause=one.why(),
        types=len({name for name in types if isinstance(name, str)}),
        zones=_zones(one) if mask else (),
        autoscaler="cluster-autoscaler" if one.autoscaler is not None else None,
        autoscaler_says=one.autoscaler,
        scheduler_says=one.scheduler,
        obstacles=one.obstacles(),
        facts=one.facts,
        certainty=one.certainty,
        place=one.group.group.place,
    )


def _zones(one: GroupAnswer) -> tuple[str, ...]:
    space: Space = one.group.actual
    values = {space.shapes[n].labels.get(ZONE) for n in space.bits(one.accepted.possible)}
    return tuple(sorted(zone for zone in values if isinstance(zone, str)))


def _means_itself(selector: LabelSelector | None, pod: EffectivePod) -> bool:
    return selector is not None and matches(selector.expressions, pod.labels)


def _is_apart(pod: EffectivePod) -> bool:
    """Whether no two pods of the workload may be on one node."""
    terms = pod.spec.affinity.anti_required
    return any(term.topology_key == HOSTNAME and _means_itself(term.selector, pod) for term in terms)


def _is_tied(placing: Placing) -> bool:
    """Whether rules about other pods decide where the replicas go, beyond one host each (C-304, C-305)."""
    spec = placing.pod.spec
    hard = [c for c in spec.spread if c.when_unsatisfiable == "DoNotSchedule" and c.topology_key != HOSTNAME]
    apart = [
        t
        for t in spec.affinity.anti_required
        if t.topology_key != HOSTNAME or not _means_itself(t.selector, placing.pod)
    ]
    if spec.affinity.pod_required or apart:
        return True
    return bool(hard) and placing.needed > 1


def _topology_keys(placing: Placing) -> tuple[str, ...]:
    """The keys of topology rules of which the outcome hangs on where nodes stand: one pod is spread anywhere."""
    spec = placing.pod.spec
    hard = [c for c in spec.spread if c.when_unsatisfiable == "DoNotSchedule"] if placing.needed > 1 else []
    keys = [c.topology_key for c in hard]
    keys.extend(t.topology_key for t in (*spec.affinity.pod_required, *spec.affinity.anti_required))
    return tuple(dict.fromkeys(keys))
