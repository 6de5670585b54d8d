"""The nodes of an inventory and who is on them, under one set of assumptions, as a world in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from unpend.model.inventory import BoundPod, Inventory, Workload
from unpend.model.pod import Affinity, EffectivePod, PodAffinityTerm, PodTemplate
from unpend.placement import volume_counts
from unpend.placement.demand import Demand
from unpend.placement.fixed import FixedNodes
from unpend.placement.owned import OwnedPods
from unpend.placement.replicas.build import Candidate, Sitting, Spot, accepts_from_mask, build
from unpend.placement.replicas.world import World
from unpend.placement.scheduler import filters, node_affinity
from unpend.placement.scheduler.inter_pod_affinity import PodTerms
from unpend.placement.space import Masks, Space
from unpend.records import dataclass, replace
from unpend.settings import Settings

ONE_POD = "ReadWriteOncePod"
PODS = "pods"
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
    `ordinals` are those of a StatefulSet that are meant, empty for all.
    """

    workload: Workload
    pod: EffectivePod
    demand: Demand
    needed: int
    surge: int = 0
    maximum: int = 0
    ordinals: frozenset[int] = frozenset()

    def means(self, pod: BoundPod) -> bool:
        """Whether a pod of the workload is one of those that are meant."""
        number = pod.name.rpartition("-")[2]
        return not self.ordinals or (number.isdigit() and int(number) in self.ordinals)


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
class Stage:
    """A scene with everything that follows from it."""

    space: Space
    spots: Sequence[Spot]
    sitting: tuple[Sitting, ...]
    candidates: tuple[Candidate, ...]
    world: World


class Scenes:
    """Worlds of some workloads on fixed nodes, built per scene and kept."""

    def __init__(self, wanted: tuple[Wanted, ...], fixed: FixedNodes, inventory: Inventory, settings: Settings) -> None:
        self.wanted = wanted
        self.fixed = fixed
        self.inventory = inventory
        self.settings = settings
        self.namespaces = {name: dict(found.labels) for name, found in inventory.namespaces.items()}
        self._stages: dict[Scene, Stage] = {}
        self._asked: dict[tuple[object, ...], tuple[Masks, Masks]] = {}
        self.exclusive = frozenset((c.namespace, c.name) for c in inventory.claims if ONE_POD in c.access_modes)

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
            if occupant.pod is not None and want.means(occupant.pod)
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

    def stage(self, scene: Scene) -> Stage:
        """Everything about a scene, made once."""
        found = self._stages.get(scene)
        if found is None:
            space = self._space(scene)
            spots = spots_of(space, scene.optimistic, [want.demand for want in self.wanted if want.demand.volumes])
            sitting = self._sitting(scene)
            candidates = tuple(self._candidate(want, space, scene.optimistic) for want in self.wanted)
            world = build(spots, candidates, sitting, self.namespaces)
            found = self._stages[scene] = Stage(space, spots, sitting, candidates, world)
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
            limit=volume_counts.at_most(want.demand, want.needed),
            requests={**want.demand.requests, PODS: 1, **volume_counts.amounts(want.demand)},
            accepts=accepts_from_mask(accepted.possible if optimistic else accepted.sure, size),
            affinity_accepts=accepts_from_mask(selected.possible, size),
            taints_accept=accepts_from_mask(space.tolerated(tolerations), size),
            claims=self._claims(want.pod.template),
            disks=want.demand.volumes.disks,
        )


def spots_of(space: Space, optimistic: bool, with_volumes: Sequence[Demand]) -> list[Spot]:
    """The shapes of a space as nodes, with as much free as there possibly, or surely, is."""
    spots = []
    more = volume_counts.on_shapes(with_volumes, space) if with_volumes else [{} for _ in space.shapes]
    for number, shape in enumerate(space.shapes):
        free = {resource: amount.high if optimistic else amount.low for resource, amount in shape.free.items()}
        free[PODS] = shape.slots.high if optimistic else shape.slots.low
        free.update(more[number])
        labels = {key: value for key, value in shape.labels.items() if isinstance(value, str)}
        for key, value in shape.labels.items():
            # A label that is there with a value that nobody knows: the node is in some domain all the same.
            if not isinstance(value, str) and not value.admits_absent:
                labels[key] = f"({number})"
        spots.append(Spot(shape.name or str(number), labels, free))
    return spots
