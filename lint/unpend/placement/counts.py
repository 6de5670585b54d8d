"""How many replicas of every workload the nodes take: alone by arithmetic, together with others by `replicas`.

Most workloads know nothing of other pods; for them the count is a sum over nodes. Those that do (spread constraints,
pod affinity and anti-affinity, volumes for one pod), and those that such rules look at, are counted together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from unpend.algebra.selectors import matches
from unpend.model.inventory import Inventory, Workload
from unpend.model.pod import Affinity, EffectivePod, LabelSelector
from unpend.placement import volume_counts
from unpend.placement.claims import Share
from unpend.placement.demand import Demand, with_volumes
from unpend.placement.fixed import FixedNodes
from unpend.placement.ordinals import is_ordered, obstacles_of, placeable, share_ids, together_obstacles, whose
from unpend.placement.scheduler.node_resources import shown
from unpend.placement.space import ZERO, Interval, Masks, Shape, Space
from unpend.placement.verdict import Cause, Fact, Obstacle
from unpend.records import dataclass, field, replace
from unpend.settings import Settings

if TYPE_CHECKING:
    from unpend.placement.replicas.fixed import FixedReplicas
    from unpend.placement.replicas.scenes import Wanted

ONE_POD = "ReadWriteOncePod"
JOINT_LIMIT = 20_000
"""Workloads × nodes up to which workloads without rules about other pods are counted together, for contention."""


@dataclass(frozen=True, slots=True)
class Placing:
    """A workload with pods to place: `needed` of them, `surge` more while it is updated, `maximum` under an autoscaler.

    `space` is that of the nodes, without the workload's own bound pods where those are in the way; `accepted` are the
    shapes that take one pod. `shares` are there when the volumes of its pods differ.
    """

    workload: Workload
    pod: EffectivePod
    demand: Demand
    space: Space
    accepted: Masks
    needed: int
    surge: int = 0
    maximum: int = 0
    shares: tuple[Share, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplicaAnswer:
    """`at_most` is a sound bound, `at_least` has a witness; both are cut off at `needed`.

    `cause` and `obstacles` say what keeps it below `needed`. `stuck`: whether an unlucky order can fall short although
    `needed` pods fit; None: not known. `facts` are what a gap between the bounds depends on. `rollout` and `maximum`
    are bounds for those numbers, None when not asked. `closed` are nodes that other pods keep this one away from.
    """

    at_least: int
    at_most: int
    cause: Cause | None = None
    stuck: bool | None = False
    obstacles: tuple[Obstacle, ...] = ()
    facts: tuple[Fact, ...] = ()
    rollout: int | None = None
    maximum: int | None = None
    closed: Mapping[int, Obstacle] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counts:
    """Answers by workload id, and groups of workloads that each fit but cannot all run at once."""

    answers: Mapping[str, ReplicaAnswer]
    contention: tuple[tuple[str, ...], ...] = ()


def count_all(placings: Sequence[Placing], fixed: FixedNodes, inventory: Inventory, settings: Settings) -> Counts:
    """The counts of all workloads; those that no node accepts are only there as what the others look for."""
    if not fixed.nodes:
        return Counts({})
    tied = tied_together(placings, fixed, inventory)
    usable = [p for p in placings if p.accepted.possible]
    answers = {p.workload.id: independent(p) for p in usable if p.workload.id not in tied}
    tied |= {p.workload.id for p in usable if p.workload.id in answers and _may_evict(p, answers, fixed)}
    together = [p for p in placings if p.workload.id in tied]
    if len(usable) * len(fixed.nodes) <= JOINT_LIMIT:
        alone = [p for p in usable if (a := answers.get(p.workload.id)) and a.at_least >= p.needed]
        # First fit knows nothing of the rules of those that are tied: with them, only counting together tells.
        if len(alone) < len(usable) or not _all_fit_greedily(alone, fixed.space):
            together = [p for p in placings if p.workload.id in tied or p.accepted.possible]
    if not together:
        return Counts(answers)
    from unpend.placement.replicas.fixed import counts
    from unpend.placement.replicas.scenes import Wanted

    wanted = [
        want
        for p in together
        for want in _shared(p) or (Wanted(p.workload, p.pod, p.demand, p.needed, p.surge, p.maximum),)
    ]
    found = counts(wanted, fixed, inventory, settings)
    for placing in together:
        if placing.shares:
            answers[placing.workload.id] = _put_together(placing, found)
            continue
        r = found.counts[placing.workload.id]
        obstacles = r.obstacles
        cause = r.cause
        if r.cause == "resources" and not obstacles and 0 < r.at_most < placing.needed:
            obstacles = (shortage(placing, r.at_most),)
            cause = obstacles[0].cause
        answers[placing.workload.id] = ReplicaAnswer(
            r.at_least, r.at_most, cause, r.stuck, obstacles, r.facts, r.rollout, r.maximum, r.closed
        )
    groups = {tuple(sorted({whose(member) for member in group})) for group in found.contention}
    return Counts(answers, tuple(sorted(group for group in groups if len(group) > 1)))


def _shared(placing: Placing) -> list[Wanted]:
    """The ordinals of a StatefulSet whose volumes differ, as one kind of pod for each share."""
    from unpend.placement.replicas.scenes import Wanted

    ids = share_ids(placing.workload.id, placing.shares)
    return [
        Wanted(
            replace(placing.workload, id=name),
            placing.pod,
            with_volumes(placing.demand, share.volumes),
            share.count,
            ordinals=share.ordinals,
        )
        for name, share in zip(ids, placing.shares, strict=True)
    ]


def _put_together(placing: Placing, found: FixedReplicas) -> ReplicaAnswer:
    """One answer for all ordinals of a StatefulSet."""
    ids = share_ids(placing.workload.id, placing.shares)
    counts = [found.counts[name] for name in ids]
    most = [count.at_most for count in counts]
    at_most = placeable(placing.shares, most, is_ordered(placing.workload.pod_management))
    if any(set(group) <= set(ids) for group in found.contention):
        at_most = min(at_most, placing.needed - 1)
    fits = all(c.at_least >= s.count and c.stuck is not None for c, s in zip(counts, placing.shares, strict=True))
    at_least = placing.needed if fits and at_most >= placing.needed else 0
    if not fits and not is_ordered(placing.workload.pod_management):
        at_least = max(min(c.at_least, s.count) for c, s in zip(counts, placing.shares, strict=True))
    obstacles: tuple[Obstacle, ...] = ()
    if at_most < placing.needed:
        rules = {number: count.obstacles for number, count in enumerate(counts)}
        obstacles = obstacles_of(placing.demand, placing.shares, most, rules, placing.space)
        obstacles = obstacles or together_obstacles(placing.pod, at_most, placing.needed, placing.shares)
    return ReplicaAnswer(
        min(at_least, at_most),
        at_most,
        obstacles[0].cause if obstacles else None,
        any(count.stuck for count in counts),
        obstacles,
        tuple(dict.fromkeys(fact for count in counts for fact in count.facts)),
    )


def _may_evict(placing: Placing, answers: Mapping[str, ReplicaAnswer], fixed: FixedNodes) -> bool:
    """Whether pods of lower priority hold what a workload lacks (S-1301): then its packing is no bound."""
    if answers[placing.workload.id].at_most >= placing.needed or not placing.demand.preempts:
        return False
    priority = placing.demand.priority
    return any(o.priority < priority for held in fixed.bound for o in held) or any(
        daemon.demand.priority < priority for daemon in fixed.daemons.values()
    )


def independent(placing: Placing) -> ReplicaAnswer:
    """Packing by pod slots, resources and host ports alone (P-721, S-604)."""
    most = max(placing.needed + placing.surge, placing.maximum)
    total = pack(placing.demand, placing.space, placing.accepted, most)
    low, high = min(total.low, placing.needed), min(total.high, placing.needed)
    short = shortage(placing, high) if low < placing.needed else None
    return ReplicaAnswer(
        low,
        high,
        short.cause if short else None,
        obstacles=(short,) if short and high < placing.needed else (),
        rollout=min(total.high, placing.needed + placing.surge) if placing.surge else None,
        maximum=min(total.high, placing.maximum) if placing.maximum else None,
    )


def pack(demand: Demand, space: Space, accepted: Masks, limit: int) -> Interval:
    """How many pods of one demand the shapes take together, at most `limit`."""
    low = high = 0
    if demand.volumes:
        limit = volume_counts.at_most(demand, limit)
    for number in space.bits(accepted.possible):
        copies = copies_on(demand, space.shapes[number], limit)
        high = min(limit, high + copies.high)
        if accepted.sure >> number & 1:
            low = min(limit, low + copies.low)
        if low >= limit:
            break
    return Interval(low, high)


def shortage(placing: Placing, most: int) -> Obstacle:
    """What runs out first when `most` pods are placed: host ports, pod slots or a resource (P-721, S-604)."""
    demand, space = placing.demand, placing.space
    nodes = list(space.bits(placing.accepted.possible))
    if demand.volumes:
        found = volume_counts.shortage(demand, [space.shapes[n] for n in nodes], most, placing.needed)
        if found is not None:
            return found
    start = f"{most} of the {placing.needed} pods find room"
    count = f"{len(nodes)} node{'s' if len(nodes) != 1 else ''}"
    if demand.ports and len(nodes) <= most:
        port = demand.ports[0]
        message = f"{start}: each needs a node of its own for host port {port.host_port}, and {count} can take one"
        return Obstacle("hostPort", message, "scheduler:S-604", port.place, None, "ports")
    scarcest, least = "", sum(max(space.shapes[n].slots.high, 0) for n in nodes)
    for resource, amount in demand.requests.items():
        copies = sum(max(space.shapes[n].free.get(resource, ZERO).high, 0) // amount for n in nodes)
        if copies < least:
            scarcest, least = resource, copies
    if not scarcest:
        message = f"{start}: {count} that can take one have no more pod slots"
        return Obstacle("resources", message, "scheduler:P-711", demand.spec_place, None, "resources")
    free = sum(max(space.shapes[n].free.get(scarcest, ZERO).high, 0) for n in nodes)
    message = (
        f"{start}: each asks for {shown(scarcest, demand.requests[scarcest])} of {scarcest}, "
        f"and {count} that can take one have {shown(scarcest, free)} left in all"
    )
    places = demand.request_places.get(scarcest, ())
    place = places[0] if places else demand.spec_place
    return Obstacle("resources", message, "scheduler:P-721", place, None, "resources")


def copies_on(demand: Demand, shape: Shape, limit: int) -> Interval:
    """How many pods of one demand a shape takes that accepts one, at most `limit` (P-721)."""
    low, high = min(shape.slots.low, limit), min(shape.slots.high, limit)
    if demand.ports:
        low, high = min(low, 1), min(high, 1)
    for resource, amount in demand.requests.items():
        free = shape.free.get(resource, ZERO)
        low, high = min(low, free.low // amount), min(high, free.high // amount)
    if demand.volumes:
        room = volume_counts.room(demand, shape, limit)
        low, high = min(low, room), min(high, room)
    return Interval(max(low, 0), max(high, 0))


def tied_together(placings: Sequence[Placing], fixed: FixedNodes, inventory: Inventory) -> frozenset[str]:
    """The workloads with rules about other pods, and those whose pods such a rule looks at."""
    exclusive = {(c.namespace, c.name) for c in inventory.claims if ONE_POD in c.access_modes}
    by_label: dict[tuple[str, str], list[Placing]] = {}
    for placing in placings:
        for item in placing.pod.labels.items():
            by_label.setdefault(item, []).append(placing)
    tied: set[str] = set()
    for placing in placings:
        spec = placing.pod.spec
        selectors = [c.selector for c in spec.spread if c.when_unsatisfiable == "DoNotSchedule"]
        selectors += _selectors(spec.affinity)
        claims = any((placing.workload.namespace, volume.claim) in exclusive for volume in spec.volumes)
        if selectors or claims or placing.shares:
            tied.add(placing.workload.id)
            tied.update(p.workload.id for p in _looked_at(selectors, placings, by_label))
    here = [o.pod.template for held in fixed.bound for o in held if o.pod is not None]
    here += [daemon.workload.template for daemon in fixed.daemons.values()]
    against = [term.selector for template in here for term in template.spec.affinity.anti_required]
    tied.update(p.workload.id for p in _looked_at(against, placings, by_label))
    return frozenset(tied)


def _selectors(affinity: Affinity) -> list[LabelSelector | None]:
    return [term.selector for term in (*affinity.pod_required, *affinity.anti_required)]


def _looked_at(
    selectors: Iterable[LabelSelector | None],
    placings: Sequence[Placing],
    by_label: Mapping[tuple[str, str], Sequence[Placing]],
) -> Iterable[Placing]:
    """The workloads whose labels some selector matches; namespaces are not looked at, which can only give more."""
    for selector in selectors:
        if selector is None:
            continue
        listed = next((e for e in selector.expressions if e.operator == "In"), None)
        candidates: Iterable[Placing] = placings
        if listed is not None:
            candidates = [p for value in listed.values for p in by_label.get((listed.key, value), ())]
        for placing in candidates:
            if matches(selector.expressions, placing.pod.labels):
                yield placing


def _all_fit_greedily(placings: Sequence[Placing], space: Space) -> bool:
    """Whether all pods fit side by side when each takes the first node with room: then there is no contention."""
    shapes = space.shapes
    slots = [shape.slots.low for shape in shapes]
    free: list[dict[str, int]] = [{name: amount.low for name, amount in shape.free.items()} for shape in shapes]
    ports: list[set[tuple[str, int]]] = [set() for _ in shapes]
    for placing in sorted(placings, key=lambda p: p.accepted.sure.bit_count()):
        left = placing.needed
        taken = {(port.protocol, port.host_port) for port in placing.demand.ports}
        for number in placing.space.bits(placing.accepted.sure):
            room = min(slots[number], left, 1 if taken else left)
            if taken & ports[number]:
                continue
            for name, amount in placing.demand.requests.items():
                room = min(room, free[number].get(name, 0) // amount)
            if room <= 0:
                continue
            slots[number] -= room
            left -= room
            ports[number] |= taken
            for name, amount in placing.demand.requests.items():
                free[number][name] -= amount * room
            if not left:
                break
        if left:
            return False
    return True
