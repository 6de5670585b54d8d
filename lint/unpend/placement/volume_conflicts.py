"""Volumes that contradict each other, or the labels that their pod asks for, on every node there can be (S-1014)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from unpend.placement.demand import Alternative, Demand, Written
from unpend.placement.volumes import Mount
from unpend.records import dataclass


@dataclass(frozen=True, slots=True)
class VolumeConflict:
    """A volume and what it cannot be together with: a constraint of the pod, or one of another volume.

    `own` is a constraint of the volume, `against` one of the other side, on the same label. `open`: another volume of
    the class, which nobody gave, could still help.
    """

    mount: Mount
    own: Written
    against: Written
    other: Mount | None = None
    open: bool = False


def volume_conflict(demand: Demand) -> VolumeConflict | None:
    """The first such conflict: of a volume with the pod, then of two volumes."""
    sides = [(mount, way, is_open) for mount in demand.volumes for way, is_open in _ways(mount)]
    usable = [alternative for alternative in demand.alternatives if not alternative.broken]
    for mount, ways, is_open in sides:
        found = _never_meet(ways, usable)
        if found is not None:
            return VolumeConflict(mount, *found, open=is_open)
    for (mount, ways, left_open), (other, others, right_open) in combinations(sides, 2):
        found = _never_meet(ways, others)
        if found is not None and mount is not other:
            return VolumeConflict(mount, *found, other=other, open=left_open or right_open)
    return None


def _ways(mount: Mount) -> Iterator[tuple[Sequence[Alternative], bool]]:
    """The label alternatives of each rule of a mount, where they are all there is."""
    for rule in mount.rules:
        if rule.kind in ("bound", "zone") and rule.alternatives:
            yield rule.alternatives, False
        made = rule.provisioning
        if rule.kind == "unbound" and made is not None and made.topologies and not rule.static:
            yield made.topologies, rule.open


def _never_meet(left: Sequence[Alternative], right: Sequence[Alternative]) -> tuple[Written, Written] | None:
    """The first pair of constraints that clash, if every alternative of one side clashes with all of the other."""
    first: tuple[Written, Written] | None = None
    for one in left:
        for two in right:
            clash = _clash(one, two)
            if clash is None:
                return None
            first = first or clash
    return first


def _clash(left: Alternative, right: Alternative) -> tuple[Written, Written] | None:
    for key, values in left.folded.items():
        others = right.folded.get(key)
        if others is not None and values.meet(others).is_impossible:
            own = next(w for w in left.written if w.key == key)
            return own, next(w for w in right.written if w.key == key)
    return None
