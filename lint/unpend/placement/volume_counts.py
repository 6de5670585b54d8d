"""How many pods of one kind their volumes let a node take, and how many there can be at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from unpend.placement.demand import Demand
from unpend.placement.scheduler import node_affinity
from unpend.placement.scheduler.node_volume_limits import copies
from unpend.placement.space import Shape, Space
from unpend.placement.verdict import Against, Obstacle
from unpend.placement.volumes import Mount, Rule, StaticVolume

WITHOUT_BOUND = 2**31


def room(demand: Demand, shape: Shape, limit: int) -> int:
    """How many pods a shape takes as far as volumes go, at most `limit` (S-1007, S-1033, S-1034)."""
    volumes = demand.volumes
    most = min(limit, 1) if any(disk.clashes(disk) for disk in volumes.disks) else limit
    if shape.attach_limits:
        most = copies(volumes.attached, shape, most)
    for _, rule in one_each(volumes.mounts):
        most = min(most, len(_reached(rule, shape)))
    return most


def one_each(mounts: Iterable[Mount]) -> Iterator[tuple[Mount, Rule]]:
    """The mounts of which every pod has one of its own, which only volumes that are there already can give."""
    for mount in mounts:
        for rule in mount.rules:
            if rule.static and rule.provisioning is None and not rule.open and not mount.shared:
                yield mount, rule


def at_most(demand: Demand, limit: int) -> int:
    """How many pods can have their volumes at once, at most `limit`: those that are there already are all there are."""
    return min((len(rule.static) for _, rule in one_each(demand.volumes.mounts)), default=limit)


def too_few(demand: Demand, most: int, needed: int) -> Obstacle | None:
    """The obstacle of fewer volumes than pods; None where that is not what keeps the number at `most`."""
    for mount, rule in one_each(demand.volumes.mounts):
        if len(rule.static) <= most < needed:
            first = rule.static[0]
            message = (
                f"{most} of the {needed} pods find a volume: no PersistentVolume is made for {mount.volume!r}, and "
                f"{len(rule.static)} {'is' if len(rule.static) == 1 else 'are'} free"
            )
            against = Against(f"PersistentVolume/{first.name}", first.place)
            return Obstacle("volume", message, "scheduler:S-1010", mount.place, against, "volume")
    return None


def amounts(demand: Demand) -> Mapping[str, int]:
    """What each pod takes of things that nodes have a number of: places for volumes, and volumes themselves."""
    found: dict[str, int] = {}
    for attached in demand.volumes.attached:
        if not attached.handle:
            name = f"attach/{attached.driver}"
            found[name] = found.get(name, 0) + 1
    for _, rule in one_each(demand.volumes.mounts):
        found[_name(rule)] = 1
    return found


def on_shapes(demands: Iterable[Demand], space: Space) -> list[dict[str, int]]:
    """What every shape has of the things in `amounts` of some demands."""
    found: list[dict[str, int]] = [{} for _ in space.shapes]
    for demand in demands:
        for attached in demand.volumes.attached:
            if not attached.handle:
                for number, shape in enumerate(space.shapes):
                    found[number][f"attach/{attached.driver}"] = _left(attached.driver, shape)
        for _, rule in one_each(demand.volumes.mounts):
            for number, shape in enumerate(space.shapes):
                found[number][_name(rule)] = len(_reached(rule, shape))
    return found


def _left(driver: str, shape: Shape) -> int:
    allowed = shape.attach_limits.get(driver)
    if allowed is None:
        return WITHOUT_BOUND
    return max(0, allowed - len({a.handle for _, a in shape.attached if a.driver == driver}))


def _name(rule: Rule) -> str:
    return "volumes/" + ",".join(volume.name for volume in rule.static)


def _reached(rule: Rule, shape: Shape) -> list[StaticVolume]:
    return [
        volume
        for volume in rule.static
        if volume.alternatives is None
        or any(not a.broken and not node_affinity.refusals(a, shape) for a in volume.alternatives)
    ]
