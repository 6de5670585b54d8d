"""What keeps the number of replicas down, with the places of the constraints in the pod."""

from __future__ import annotations

from typing import NamedTuple

from unpend.model.pod import EffectivePod
from unpend.placement.replicas.bound import most
from unpend.placement.replicas.together import only
from unpend.placement.replicas.world import Budget, Kind, World
from unpend.placement.scheduler.topology_spread import hard_constraints
from unpend.placement.verdict import Cause, Obstacle
from unpend.placement.volumes import disk_of
from unpend.records import replace
from unpend.source.place import Place

STEPS = 200


class _Group(NamedTuple):
    cause: Cause
    constraint: str
    semantics: str
    what: str
    without: Kind
    places: tuple[Place | None, ...]


def blame(world: World, index: int, at_most: int, pod: EffectivePod, needed: int) -> tuple[Cause, tuple[Obstacle, ...]]:
    """The kind of constraint without which more replicas would fit, and an obstacle for each place of it.

    Constraints are looked at apart first, then together; what is left is that the nodes are too few or too full.
    """
    alone = only(world, (index,))
    groups = _groups(alone.kinds[0], pod, world.kinds[index])
    helpful = [group for group in groups if _most(alone, group.without) > at_most]
    if helpful:
        found = tuple(o for group in helpful for o in _obstacles(group, at_most, needed))
        return helpful[0].cause, found
    free = replace(alone.kinds[0], spreads=(), affinity=None, anti=(), apart=(), exclusive=())
    if groups and _most(alone, free) > at_most:
        return groups[0].cause, tuple(o for group in groups for o in _obstacles(group, at_most, needed))
    peers = world.kinds[index].affinity
    if peers is not None and set(peers.peers) - {index}:
        return "affinity", tuple(o for g in groups if g.cause == "affinity" for o in _obstacles(g, at_most, needed))
    return "resources", ()


def _most(world: World, kind: Kind) -> int:
    return most(replace(world, kinds=(kind,)), 0, Budget(STEPS)).most


def _groups(kind: Kind, pod: EffectivePod, full: Kind) -> tuple[_Group, ...]:
    spec = pod.spec
    groups: list[_Group] = []
    if full.spreads or any(c.when_unsatisfiable == "DoNotSchedule" for c in spec.spread):
        places = tuple(c.written.place for c in hard_constraints(spec, pod.labels))
        groups.append(
            _Group("topology", "topologySpread", "S-812", "topology spread", replace(kind, spreads=()), places)
        )
    if spec.affinity.anti_required or kind.anti:
        places = tuple(t.place for t in spec.affinity.anti_required)
        groups.append(
            _Group("affinity", "podAntiAffinity", "S-923", "pod anti-affinity", replace(kind, anti=()), places)
        )
    if spec.affinity.pod_required:
        places = tuple(t.place for t in spec.affinity.pod_required)
        groups.append(_Group("affinity", "podAffinity", "S-918", "pod affinity", replace(kind, affinity=None), places))
    if kind.apart:
        places = tuple(p.place for p in pod.host_ports if p.host_port)
        if places:
            groups.append(_Group("ports", "hostPort", "S-604", "host ports", replace(kind, apart=()), places))
        else:
            places = tuple(disk.place for v in spec.volumes if (disk := disk_of(v)) is not None)
            what = "a disk that one pod of a node can use"
            groups.append(_Group("volume", "volume", "S-1033", what, replace(kind, apart=()), places))
    if kind.exclusive:
        places = tuple(v.place for v in spec.volumes if v.claim)
        what = "a ReadWriteOncePod claim"
        groups.append(_Group("volume", "volume", "S-1031", what, replace(kind, exclusive=()), places))
    return tuple(groups)


def _obstacles(group: _Group, at_most: int, needed: int) -> tuple[Obstacle, ...]:
    message = f"{group.what} leaves room for {at_most} of {needed} replicas on these nodes"
    semantics = f"scheduler:{group.semantics}"
    return tuple(
        Obstacle(group.constraint, message, semantics, place, None, group.cause) for place in group.places or (None,)
    )
