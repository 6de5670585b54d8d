"""Replicas on fixed nodes: the workloads of an inventory, all of them together, against its Node objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from unpend.model.inventory import BoundPod, Inventory, Workload
from unpend.model.pod import Affinity, EffectivePod, PodAffinityTerm, PodTemplate
from unpend.placement.demand import Demand
from unpend.placement.fixed import FixedNodes
from unpend.placement.owned import OwnedPods
from unpend.placement.pools import FACTS, PREEMPTION_FACT
from unpend.placement.replicas.blame import blame
from unpend.placement.replicas.build import Candidate, Sitting, Spot, accepts_from_mask, build
from unpend.placement.replicas.refused import closed_nodes, open_nodes
from unpend.placement.replicas.surge import together_with_old
from unpend.placement.replicas.together import Joint, at_most, count_all, only
from unpend.placement.replicas.world import Budget, World
from unpend.placement.scheduler import filters, node_affinity
from unpend.placement.scheduler.inter_pod_affinity import PodTerms
from unpend.placement.space import Masks, Space
from unpend.placement.verdict import Cause, Fact, Obstacle
from unpend.settings import Settings

ONE_POD = "ReadWriteOncePod"
PODS = "pods"
AFFINITY_TARGET = "affinity-target"

_JOB = ("controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name")
_CONTROLLER_LABELS = {
    "Deployment": ("pod-template-hash",),
    "StatefulSet": ("controller-revision-hash",),
    "Job": _JOB,
    "CronJob": _JOB,
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A workload, its pod, and how many are needed in the steady state.

    `surge` is how many pods a rolling update adds, `maximum` how many an autoscaler may ask for (0: nobody asks).
    """

    workload: Workload
    pod: EffectivePod
    demand: Demand
    needed: int
    surge: int = 0
    maximum: int = 0


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


def controller_labels(workload: Workload, revision: str = "") -> dict[str, str]:
    """The labels of the pods of a workload, with those that its controller adds; the values are ours and are unique.

    `revision` tells the pods of a rollout apart.
    """
    labels = {key: label.value for key, label in workload.template.labels.items()}
    for key in _CONTROLLER_LABELS.get(workload.kind, ()):
        name = workload.name if key.endswith("job-name") else f"{workload.id}{revision}"
        labels.setdefault(key, name)
    return labels


@dataclass(frozen=True, slots=True)
class Scene:
    """Who is there before anything is placed: `gone` says which bound pods are not, pods below `priority` may leave."""

    optimistic: bool
    own_gone: bool
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class _Stage:
    space: Space
    spots: Sequence[Spot]
    sitting: tuple[Sitting, ...]
    candidates: tuple[Candidate, ...]
    world: World


class Census:
    """One count of all workloads. Worlds are built per scene and kept."""

    def __init__(self, wanted: tuple[Wanted, ...], fixed: FixedNodes, inventory: Inventory, settings: Settings) -> None:
        self.wanted = wanted
        self.fixed = fixed
        self.inventory = inventory
        self.settings = settings
        self.namespaces = {name: dict(found.labels) for name, found in inventory.namespaces.items()}
        self._stages: dict[Scene, _Stage] = {}
        self._asked: dict[tuple[object, ...], tuple[Masks, Masks]] = {}
        self.exclusive = frozenset((c.namespace, c.name) for c in inventory.claims if ONE_POD in c.access_modes)

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
        return closed_nodes(candidate, stage.spots, stage.sitting, self.namespaces, open_nodes(world, index))

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
        return at_most(world, index, limit, Budget(self.settings.step_budget))

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
            return max(total, at_most(world, index, total, budget))
        if not self._revision_matters(want):
            return at_most(world, index, total, budget)
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
        return at_most(world, index, want.maximum, budget)

    @cached_property
    def own(self) -> Mapping[int, int]:
        """Bound pods (by identity) that belong to one of the workloads, with the number of the workload."""
        if not self.inventory.bound_pods:
            return {}
        owned = OwnedPods(self.fixed)
        return {
            id(occupant.pod): index
            for index, want in enumerate(self.wanted)
            for _, occupant in owned.pods_of(want.workload)
        }

    @cached_property
    def running(self) -> Mapping[int, int]:
        """How many pods of each workload are bound to one of the nodes."""
        found: dict[int, int] = {}
        for held in self.fixed.bound:
            for occupant in held:
                index = self.own.get(id(occupant.pod))
                if index is not None and occupant.pod is not None and not occupant.pod.terminating:
                    found[index] = found.get(index, 0) + 1
        return found

    def world(self, scene: Scene) -> World:
        """The world in numbers; where something is not known, as good (`optimistic`) or as bad as it can be."""
        return self.stage(scene).world

    def stage(self, scene: Scene) -> _Stage:
        """Everything about a scene, made once."""
        found = self._stages.get(scene)
        if found is None:
            space = self._space(scene)
            spots = _spots(space, scene.optimistic)
            sitting = self._sitting(scene)
            candidates = tuple(self._candidate(want, space, scene.optimistic) for want in self.wanted)
            world = build(spots, candidates, sitting, self.namespaces)
            found = self._stages[scene] = _Stage(space, spots, sitting, candidates, world)
        return found

    def _space(self, scene: Scene) -> Space:
        """The nodes without the pods that are gone or may leave."""
        below = -(2**31) if scene.priority is None else scene.priority
        # DaemonSets that may leave are left out altogether: that can only make more room.
        bare = any(daemon.demand.priority < below for daemon in self.fixed.daemons.values())
        gone = [
            (number, occupant)
            for number, held in enumerate(self.fixed.bound)
            for occupant in held
            if occupant.priority < below or (scene.own_gone and id(occupant.pod) in self.own)
        ]
        return self.fixed.without(gone, bare) or (self.fixed.bare if bare else self.fixed.space)

    def _sitting(self, scene: Scene) -> tuple[Sitting, ...]:
        """The pods that are on nodes before any replica comes: bound ones, and those of DaemonSets."""
        below = -(2**31) if scene.priority is None else scene.priority
        found = []
        for number, held in enumerate(self.fixed.bound):
            for occupant in held:
                pod = occupant.pod
                if pod is not None and not (scene.own_gone and id(pod) in self.own):
                    node = self.fixed.nodes[number].name
                    found.append(self._sit(node, pod.template, pod, occupant.priority < below, scene.optimistic))
        for daemon in self.fixed.daemons.values():
            leaving = daemon.demand.priority < below
            for number in self.fixed.space.bits(daemon.selected & ~daemon.present & ~daemon.refused & ~daemon.unsure):
                found.append(
                    self._sit(self.fixed.nodes[number].name, daemon.workload.template, None, leaving, scene.optimistic)
                )
        return tuple(found)

    def _sit(self, node: str, template: PodTemplate, pod: BoundPod | None, leaving: bool, optimistic: bool) -> Sitting:
        labels = {key: label.value for key, label in template.labels.items()}
        affinity = template.spec.affinity
        if optimistic and self.unlisted:
            affinity = self._sure_terms(affinity)
        terms = PodTerms.of(affinity, template.namespace, labels)
        terminating = pod is not None and pod.terminating
        claims = self._claims(template)
        return Sitting(node, template.namespace, labels, terminating, terms, claims, leaving)

    def _sure_terms(self, affinity: Affinity) -> Affinity:
        """The terms whose namespaces are known: those of an open kind may have labels that nobody gave (S-901)."""

        def known(term: PodAffinityTerm) -> bool:
            selector = term.namespace_selector
            return selector is None or not selector.expressions or term.selector is None

        required = tuple(filter(known, affinity.pod_required))
        anti = tuple(filter(known, affinity.anti_required))
        if len(required) < len(affinity.pod_required):
            # Without one of the terms the others mean more pods, but which of them are first pods is open: ask none.
            required = ()
        return replace(affinity, pod_required=required, anti_required=anti)

    @cached_property
    def unlisted(self) -> bool:
        """Whether namespaces are open and some pod is in one that was not given."""
        if self.settings.world.namespaces == "closed":
            return False
        used = {want.pod.namespace for want in self.wanted}
        used |= {o.pod.template.namespace for held in self.fixed.bound for o in held if o.pod is not None}
        return not used <= self.namespaces.keys()

    def _claims(self, template: PodTemplate) -> frozenset[tuple[str, str]]:
        named = ((template.namespace, volume.claim) for volume in template.spec.volumes if volume.claim)
        return frozenset(claim for claim in named if claim in self.exclusive)

    def _candidate(self, want: Wanted, space: Space, optimistic: bool) -> Candidate:
        size = len(space.shapes)
        key = (id(space), want.demand.key)
        if key not in self._asked:
            self._asked[key] = (filters.ask(want.demand, space).accepted, node_affinity.accepts(want.demand, space))
        accepted, selected = self._asked[key]
        tolerations = want.demand.tolerations
        if optimistic:
            tolerations += want.demand.possible_tolerations
        pod = want.pod
        if optimistic and self.unlisted:
            pod = replace(pod, spec=replace(pod.spec, affinity=self._sure_terms(pod.spec.affinity)))
        return Candidate(
            name=want.workload.id,
            pod=pod,
            labels=controller_labels(want.workload),
            limit=want.needed,
            requests={**want.demand.requests, PODS: 1},
            accepts=accepts_from_mask(accepted.possible if optimistic else accepted.sure, size),
            affinity_accepts=accepts_from_mask(selected.possible, size),
            taints_accept=accepts_from_mask(space.tolerated(tolerations), size),
            claims=self._claims(want.pod.template),
        )


def _spots(space: Space, optimistic: bool) -> list[Spot]:
    spots = []
    for number, shape in enumerate(space.shapes):
        free = {resource: amount.high if optimistic else amount.low for resource, amount in shape.free.items()}
        free[PODS] = shape.slots.high if optimistic else shape.slots.low
        labels = {key: value for key, value in shape.labels.items() if isinstance(value, str)}
        spots.append(Spot(shape.name or str(number), labels, free))
    return spots


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
