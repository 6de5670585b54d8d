"""How many pods of one kind their volumes let a node take, and how many there can be at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

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


def shortage(demand: Demand, shapes: Sequence[Shape], most: int, needed: int) -> Obstacle | None:
    """The obstacle of fewer volumes, or places for them, than pods; None where that does not keep the number at `most`.

    `shapes` are those that take one pod.
    """
    start = f"{most} of the {needed} pods"
    for mount, rule in one_each(demand.volumes.mounts):
        if len(rule.static) <= most < needed:
            count = len(rule.static)
            against = Against(f"PersistentVolume/{rule.static[0].name}", rule.static[0].place)
            message = (
                f"{start} find a volume: no PersistentVolume is made for {mount.volume!r}, and {count} "
                f"{'is' if count == 1 else 'are'} free"
            )
            return Obstacle("volume", message, "scheduler:S-1010", mount.place, against, "volume")
    attached = demand.volumes.attached
    if attached and sum(copies(attached, shape, needed) if shape.attach_limits else needed for shape in shapes) <= most:
        mount = next(m for m in demand.volumes.mounts if m.attached is not None)
        message = f"{start} can attach their volumes: the nodes take no more of them, as their CSINodes say"
        against = Against(shapes[0].source.owner, shapes[0].source.name())
        return Obstacle("volume", message, "scheduler:S-1034", mount.place, against, "volume")
    disks = demand.volumes.disks
    if disks and len(shapes) <= most and any(disk.clashes(disk) for disk in disks):
        message = (
            f"{start} find a node of their own: the {disks[0].kind} disk {disks[0].names[0]!r} is for one of a node"
        )
        return Obstacle("volume", message, "scheduler:S-1033", disks[0].place, None, "volume")
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
