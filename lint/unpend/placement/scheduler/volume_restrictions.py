"""VolumeRestrictions: a disk that a pod names itself is used by one pod of a node only (S-1033).

That a ReadWriteOncePod claim is used by one pod of the cluster (S-1031) is a matter of all pods together: `replicas`.
"""

from __future__ import annotations

from unpend.placement.demand import Demand
from unpend.placement.space import Masks, Shape, Space, TakenDisk
from unpend.placement.verdict import Against, Obstacle
from unpend.placement.volumes import Disk

EVENT = "node(s) had no available disk"


def accepts(demand: Demand, space: Space) -> Masks:
    """The shapes that the plugin lets pass."""
    mask = space.everything
    for disk in demand.volumes.disks:
        mask &= accepts_disk(disk, space)
    return Masks(mask, mask)


def accepts_disk(disk: Disk, space: Space) -> int:
    """The shapes on which nobody uses a disk."""
    mask = space.everything
    for number in space.bits(space.disked):
        if _holder(disk, space.shapes[number]):
            mask &= ~(1 << number)
    return mask


def obstacles(demand: Demand, shape: Shape) -> list[Obstacle]:
    """Why it refuses one shape, one obstacle per disk; empty when it does not."""
    return [obstacle(disk, shape) for disk in demand.volumes.disks if _holder(disk, shape)]


def obstacle(disk: Disk, shape: Shape) -> Obstacle:
    """The obstacle of one disk on a shape where somebody uses it."""
    use = _holder(disk, shape)
    assert use is not None, "the shape was chosen because this disk is refused there"
    return Obstacle(
        "volume",
        f"the {disk.kind} disk {disk.names[0]!r} is used on {shape.source.owner} by {use.owner} ({EVENT})",
        "scheduler:S-1033",
        disk.place,
        Against(use.owner, use.disk.place),
        "volume",
    )


def _holder(disk: Disk, shape: Shape) -> TakenDisk | None:
    return next((use for use in shape.disks if use.disk.clashes(disk)), None)
