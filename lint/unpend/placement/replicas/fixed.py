"""Replicas on fixed nodes: the workloads of an inventory, all of them together, against its Node objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from unpend.model.inventory import Inventory
from unpend.placement.fixed import FixedNodes
from unpend.placement.pools import FACTS, PREEMPTION_FACT
from unpend.placement.replicas.blame import blame
from unpend.placement.replicas.build import build
from unpend.placement.replicas.refused import closed_nodes, open_nodes
from unpend.placement.replicas.scenes import Scene, Scenes, Wanted, controller_labels
from unpend.placement.replicas.surge import together_with_old
from unpend.placement.replicas.together import Joint, Reach, at_most, count_all, only, reachable
from unpend.placement.replicas.world import Budget, World
from unpend.placement.verdict import Cause, Fact, Obstacle
from unpend.records import dataclass, field, replace
from unpend.settings import Settings

AFFINITY_TARGET = "affinity-target"


@dataclass(frozen=True, slots=True)
class Replicas:
    """What is known of one workload: `at_most` is a sound bound, `at_least` has a placement that proves it.

    `stuck`: an unlucky order of the scheduler can leave fewer, although all fit; None: not known within the budget.
    `cause` and `obstacles` say what keeps `at_most` below the number needed, `facts` on what a gap depends. `closed`
    are the nodes that would take a pod by their own rules and that other pods close to it, by their numbers.
    `rollout` and `maximum` are bounds on the pods of an update and of an autoscaler's maximum, None when not asked.
    """

    at_least: int
    at_most: int
    stuck: bool | None = False
    cause: Cause | None = None
    obstacles: tuple[Obstacle, ...] = ()
    facts: tuple[Fact, ...] = ()
    closed: Mapping[int, Obstacle] = field(default_factory=dict)
    rollout: int | None = None
    maximum: int | None = None


@dataclass(frozen=True, slots=True)
class FixedReplicas:
    """Counts by workload id, and groups of workload ids that each fit but cannot all run at once."""

    counts: Mapping[str, Replicas]
    contention: tuple[tuple[str, ...], ...]

    def groups_of(self, workload: str) -> tuple[tuple[str, ...], ...]:
        """The groups with a workload in them."""
        return tuple(group for group in self.contention if workload in group)


def counts(wanted: Sequence[Wanted], fixed: FixedNodes, inventory: Inventory, settings: Settings) -> FixedReplicas:
    """Count the replicas of all workloads on the nodes, every workload knowing of every other."""
    return Census(tuple(wanted), fixed, inventory, settings).result()


class Census(Scenes):
    """One count of all workloads."""

    def result(self) -> FixedReplicas:
        """Everything that is asked."""
        scratch = bool(self.own)
        world = self.world(Scene(True, scratch))
        missing = _without_peers(world) if self.settings.world.workloads == "open" else frozenset()
        world = _ease(world, missing)
        upper = count_all(world, self.settings.step_budget)
        pessimistic = self.world(Scene(False, scratch))
        lower = upper if pessimistic == world else count_all(pessimistic, self.settings.step_budget)
        found = {
            want.workload.id: self._one(index, world, upper, lower, index in missing)
            for index, want in enumerate(self.wanted)
        }
        ids = [want.workload.id for want in self.wanted]
        fights = (
            tuple(sorted(ids[i] for i in group))
            for group in upper.contention
            if not any(self._evicts(self.wanted[i]) for i in group)
        )
        return FixedReplicas(found, tuple(sorted(fights)))

    def _one(self, index: int, world: World, upper: Joint, lower: Joint, missing: bool) -> Replicas:
        want = self.wanted[index]
        low, high = lower.counts[index].at_least, upper.counts[index].at_most
        facts: tuple[Fact, ...] = (self._target(want),) if missing else ()
        if high < want.needed and self._evicts(want):
            before, high = high, max(high, self._after_evictions(index, want.needed))
            if high > before:
                facts += (Fact(PREEMPTION_FACT, FACTS[PREEMPTION_FACT], want.demand.spec_place),)
        running = self.running.get(index, 0)
        if running and (low < want.needed or high < want.needed):
            low, high = (max(a, b) for a, b in zip((low, high), self._more(index, running), strict=True))
        low = min(low, high)
        stuck = lower.counts[index].stuck if low >= want.needed else False
        found = Replicas(0 if missing else low, high, stuck, facts=facts, closed=self._closed(index, world))
        if high < want.needed:
            cause, obstacles = blame(world, index, high, want.pod, want.needed)
            if cause == "resources" and found.closed:
                obstacles = tuple(dict.fromkeys(found.closed.values()))
                cause = obstacles[0].cause
            found = replace(found, cause=cause, obstacles=obstacles)
        if want.surge and high >= want.needed:
            found = replace(found, rollout=self._rollout(index, world))
        if want.maximum > want.needed:
            found = replace(found, maximum=self._maximum(index, world, high))
        return found

    def _closed(self, index: int, world: World) -> Mapping[int, Obstacle]:
        want = self.wanted[index]
        if self._evicts(want):
            return {}
        stage = self.stage(Scene(True, bool(self.own)))
        kind = world.kinds[index]
        candidate = stage.candidates[index]
        if kind.accepts == candidate.accepts and not (kind.spreads or kind.affinity or kind.anti):
            return {}
        return closed_nodes(
            candidate, stage.spots, stage.sitting, self.namespaces, open_nodes(world, index, self._reach(world))
        )

    def _reach(self, world: World) -> Reach:
        """Where pods of each kind can sit, found once for each world."""
        known = self._reaches.get(id(world))
        if known is None:
            known = self._reaches[id(world)] = world, reachable(world)
        return known[1]

    @cached_property
    def _reaches(self) -> dict[int, tuple[World, Reach]]:
        return {}

    def _target(self, want: Wanted) -> Fact:
        term = want.pod.spec.affinity.pod_required[0]
        return Fact(AFFINITY_TARGET, "whether pods run that its required pod affinity means", term.place)

    def _evicts(self, want: Wanted) -> bool:
        """Whether there are pods of lower priority that may have to leave for this one (S-1301)."""
        return want.demand.preempts and want.demand.priority > self.least_priority

    @cached_property
    def least_priority(self) -> int:
        """The lowest priority among the pods that are already there; very large when there are none."""
        bound = [occupant.priority for held in self.fixed.bound for occupant in held]
        daemons = [daemon.demand.priority for daemon in self.fixed.daemons.values()]
        return min((*bound, *daemons), default=2**31)

    def _after_evictions(self, index: int, limit: int) -> int:
        want = self.wanted[index]
        world = self.world(Scene(True, bool(self.own), want.demand.priority))
        return at_most(world, index, limit, Budget(self.settings.step_budget), self._reach(world))

    def _more(self, index: int, running: int) -> tuple[int, int]:
        """The pods of a workload that run already, and what can be added to them."""
        want = self.wanted[index]
        rest = want.needed - running
        if rest <= 0:
            return want.needed, want.needed
        low, high = (
            count_all(only(_limited(self.world(Scene(optimistic, False)), index, rest), (index,)), 500).counts[0]
            for optimistic in (False, True)
        )
        upper = at_most(self.world(Scene(True, False)), index, rest, Budget(self.settings.step_budget))
        return running + low.at_least, running + max(high.at_most, upper)

    def _rollout(self, index: int, world: World) -> int:
        """The most pods of old and new revision at once (S-1603)."""
        want = self.wanted[index]
        budget = Budget(self.settings.step_budget // 4)
        total = want.needed + want.surge
        if self._evicts(want):
            return max(total, at_most(world, index, total, budget, self._reach(world)))
        if not self._revision_matters(want):
            return at_most(world, index, total, budget, self._reach(world))
        stage = self.stage(Scene(True, bool(self.own)))
        old = stage.candidates[index]
        new = replace(old, labels=controller_labels(want.workload, "-new"), limit=want.surge)
        pair = build(stage.spots, (old, new), stage.sitting, self.namespaces)
        affinity = world.kinds[index].affinity
        if affinity is not None and set(affinity.peers) - {index}:
            pair = _ease(pair, frozenset((0, 1)))
        return together_with_old(pair, budget)

    @staticmethod
    def _revision_matters(want: Wanted) -> bool:
        """Whether some selector of the pod looks at a label that differs between revisions."""
        changing = {"pod-template-hash", "controller-revision-hash"}
        spec = want.pod.spec
        selected = [
            (*constraint.match_label_keys, *(e.key for e in constraint.selector.expressions))
            for constraint in spec.spread
            if constraint.selector is not None
        ]
        for term in (*spec.affinity.pod_required, *spec.affinity.anti_required):
            selected.append((*term.match_label_keys, *term.mismatch_label_keys))
            if term.selector is not None:
                selected.append(tuple(e.key for e in term.selector.expressions))
        return any(changing & set(keys) for keys in selected)

    def _maximum(self, index: int, world: World, high: int) -> int:
        want = self.wanted[index]
        budget = Budget(self.settings.step_budget // 4)
        if high < want.needed:
            return high
        if self._evicts(want):
            return self._after_evictions(index, want.maximum)
        return at_most(world, index, want.maximum, budget, self._reach(world))


def _without_peers(world: World) -> frozenset[int]:
    """Kinds whose required affinity means no pod that was found, although others may exist (S-915)."""
    return frozenset(
        index
        for index, kind in enumerate(world.kinds)
        if kind.affinity is not None
        and not kind.affinity.peers
        and not kind.affinity.first
        and not any(kind.affinity.base)
    )


def _ease(world: World, kinds: frozenset[int]) -> World:
    if not kinds:
        return world
    eased = tuple(replace(kind, affinity=None) if i in kinds else kind for i, kind in enumerate(world.kinds))
    return replace(world, kinds=eased)


def _limited(world: World, index: int, limit: int) -> World:
    kinds = tuple(replace(kind, limit=limit) if i == index else kind for i, kind in enumerate(world.kinds))
    return replace(world, kinds=kinds)
