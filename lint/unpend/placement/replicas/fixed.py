"""Replicas on fixed nodes: the workloads of an inventory, all of them together, against its Node objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from unpend.model.inventory import Inventory, Workload
from unpend.model.pod import EffectivePod, PodTemplate
from unpend.placement.demand import Demand
from unpend.placement.fixed import FINISHED, FixedNodes
from unpend.placement.replicas.build import Candidate, Sitting, Spot, accepts_from_mask, build
from unpend.placement.replicas.single import Count, count_one
from unpend.placement.replicas.together import Joint, count_all, only
from unpend.placement.replicas.world import Budget, World
from unpend.placement.scheduler import node_affinity
from unpend.placement.scheduler.inter_pod_affinity import PodTerms
from unpend.placement.space import Masks, Space
from unpend.placement.verdict import Cause
from unpend.settings import Settings

ONE_POD = "ReadWriteOncePod"
PODS = "pods"

_CONTROLLER_LABELS = {
    "Deployment": ("pod-template-hash",),
    "StatefulSet": ("controller-revision-hash",),
    "Job": ("controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"),
    "CronJob": ("controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A workload, its pod, and how many are needed; `accepted` says which nodes of the space take one of them."""

    workload: Workload
    pod: EffectivePod
    demand: Demand
    accepted: Masks
    needed: int


@dataclass(frozen=True, slots=True)
class Replicas:
    """What is known of one workload: `at_most` is a sound bound, `at_least` has a placement that proves it.

    `stuck`: an unlucky order of the scheduler can leave fewer, although all fit; None: not known within the budget.
    `cause` is what keeps `at_most` below the number needed. `peers_missing` is set when no pod that its required affinity
    means was found while workloads are open: then the affinity was left out of the bound.
    """

    at_least: int
    at_most: int
    stuck: bool | None
    cause: Cause | None = None
    peers_missing: bool = False


@dataclass(frozen=True, slots=True)
class FixedReplicas:
    """Counts by workload id, and groups of workload ids that each fit but cannot all run at once."""

    counts: Mapping[str, Replicas]
    contention: tuple[tuple[str, ...], ...]


def controller_labels(workload: Workload, revision: str = "") -> dict[str, str]:
    """The labels of the pods of a workload, with those that its controller adds; the values are ours and are unique.

    `revision` tells the pods of a rollout apart.
    """
    labels = {key: label.value for key, label in workload.template.labels.items()}
    for key in _CONTROLLER_LABELS.get(workload.kind, ()):
        name = workload.name if key.endswith("job-name") else f"{workload.id}{revision}"
        labels.setdefault(key, name)
    return labels


def counts(
    wanted: Sequence[Wanted],
    space: Space,
    fixed: FixedNodes,
    inventory: Inventory,
    settings: Settings,
    gone: frozenset[str] = frozenset(),
) -> FixedReplicas:
    """Count the replicas of all workloads on the nodes of `space`.

    `gone` names bound pods (`Pod/namespace/name`) that are not there because the workloads that own them are counted
    anew; their resources have to be free in `space` already.
    """
    sitting = sitting_pods(fixed, inventory, gone)
    namespaces = {name: dict(found.labels) for name, found in inventory.namespaces.items()}
    views: list[tuple[World, Joint]] = []
    missing: frozenset[int] = frozenset()
    for optimistic in (True, False):
        candidates = [_candidate(w, space, inventory, optimistic) for w in wanted]
        world = build(_spots(space, optimistic), candidates, sitting, namespaces)
        if optimistic and settings.world.workloads == "open":
            missing = _without_peers(world)
        if missing and optimistic:
            world = _ease(world, missing)
        if views and world == views[0][0]:
            break
        views.append((world, count_all(world, settings.step_budget)))
    upper, lower = views[0][1], views[-1][1]
    world = views[0][0]
    found: dict[str, Replicas] = {}
    for index, (want, high, low) in enumerate(zip(wanted, upper.counts, lower.counts, strict=True)):
        found[want.workload.id] = Replicas(
            at_least=min(low.at_least, high.at_most),
            at_most=high.at_most,
            stuck=low.stuck,
            cause=_cause(world, index, high, settings) if high.at_most < want.needed else None,
            peers_missing=index in missing,
        )
    names = [want.workload.id for want in wanted]
    fights = tuple(tuple(sorted(names[i] for i in group)) for group in upper.contention)
    return FixedReplicas(found, tuple(sorted(fights)))


def sitting_pods(fixed: FixedNodes, inventory: Inventory, gone: frozenset[str] = frozenset()) -> tuple[Sitting, ...]:
    """The pods that are on nodes before any replica comes: bound ones, and those of DaemonSets."""
    exclusive = _exclusive_claims(inventory)
    found = [
        _sitting(pod.node_name, pod.template, pod.terminating, exclusive)
        for pod in inventory.bound_pods
        if pod.phase not in FINISHED and _name(pod.template.namespace, pod.name) not in gone
    ]
    for daemon in fixed.daemons.values():
        for number in fixed.space.bits(daemon.selected & ~daemon.present & ~daemon.refused & ~daemon.unsure):
            found.append(_sitting(fixed.nodes[number].name, daemon.workload.template, False, exclusive))
    return tuple(found)


def _name(namespace: str, name: str) -> str:
    return "/".join(part for part in ("Pod", namespace, name) if part)


def _sitting(node: str, template: PodTemplate, terminating: bool, exclusive: frozenset[tuple[str, str]]) -> Sitting:
    labels = {key: label.value for key, label in template.labels.items()}
    terms = PodTerms.of(template.spec.affinity, template.namespace, labels)
    return Sitting(node, template.namespace, labels, terminating, terms, _claims(template, exclusive))


def _exclusive_claims(inventory: Inventory) -> frozenset[tuple[str, str]]:
    return frozenset((c.namespace, c.name) for c in inventory.claims if ONE_POD in c.access_modes)


def _claims(template: PodTemplate, exclusive: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    named = ((template.namespace, volume.claim) for volume in template.spec.volumes if volume.claim)
    return frozenset(claim for claim in named if claim in exclusive)


def _spots(space: Space, optimistic: bool) -> list[Spot]:
    spots = []
    for number, shape in enumerate(space.shapes):
        free = {resource: amount.high if optimistic else amount.low for resource, amount in shape.free.items()}
        free[PODS] = shape.slots.high if optimistic else shape.slots.low
        labels = {key: value for key, value in shape.labels.items() if isinstance(value, str)}
        spots.append(Spot(shape.name or str(number), labels, free))
    return spots


def _candidate(want: Wanted, space: Space, inventory: Inventory, optimistic: bool) -> Candidate:
    size = len(space.shapes)
    affinity = node_affinity.accepts(want.demand, space)
    tolerations = want.demand.tolerations + want.pod.possible_tolerations if optimistic else want.demand.tolerations
    return Candidate(
        name=want.workload.id,
        pod=want.pod,
        labels=controller_labels(want.workload),
        limit=want.needed,
        requests={**want.demand.requests, PODS: 1},
        accepts=accepts_from_mask(want.accepted.possible if optimistic else want.accepted.sure, size),
        affinity_accepts=accepts_from_mask(affinity.possible, size),
        taints_accept=accepts_from_mask(space.tolerated(tolerations), size),
        claims=_claims(want.pod.template, _exclusive_claims(inventory)),
    )


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


def _ease(world: World, missing: frozenset[int]) -> World:
    kinds = tuple(replace(kind, affinity=None) if i in missing else kind for i, kind in enumerate(world.kinds))
    return replace(world, kinds=kinds)


def _cause(world: World, index: int, found: Count, settings: Settings) -> Cause:
    """What to blame: the first group of constraints without which more replicas would fit, the plainest first."""
    kind = world.kinds[index]
    attempts: tuple[tuple[Cause, World], ...] = (
        ("topology", _changed(world, index, spreads=())),
        ("affinity", _changed(world, index, affinity=None, anti=())),
        ("ports", _changed(world, index, apart=())),
        ("volume", _changed(world, index, exclusive=())),
        ("affinity", _changed(world, index, spreads=(), affinity=None, anti=())),
    )
    for cause, changed in attempts:
        if changed.kinds[0] != only(world, (index,)).kinds[0]:
            eased = count_one(changed, Budget(min(200, settings.step_budget)), order=False)
            if eased.at_most > found.at_most and eased.at_least > found.at_most:
                return cause
    if kind.affinity is not None and set(kind.affinity.peers) - {index}:
        return "affinity"
    return "resources"


def _changed(world: World, index: int, **changes: object) -> World:
    part = only(world, (index,))
    return replace(part, kinds=(replace(part.kinds[0], **changes),))  # type: ignore[arg-type]
