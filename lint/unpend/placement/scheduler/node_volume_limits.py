"""NodeVolumeLimits: how many volumes of a CSI driver a node takes, where a CSINode or its type says so (S-1034)."""

from __future__ import annotations

from collections.abc import Sequence

from unpend.placement.demand import Demand
from unpend.placement.space import Masks, Shape, Space
from unpend.placement.verdict import Against, Obstacle
from unpend.placement.volumes import Attached

EVENT = "node(s) exceed max volume count"
MOST_LOOKED_AT = 100


def accepts(demand: Demand, space: Space) -> Masks:
    """The shapes that the plugin lets pass."""
    mask = space.everything
    for driver in {a.driver for a in demand.volumes.attached}:
        mask &= accepts_driver(driver, demand, space)
    return Masks(mask, mask)


def accepts_driver(driver: str, demand: Demand, space: Space) -> int:
    """The shapes that take all volumes of one driver."""
    mask = space.everything
    wanted = [a for a in demand.volumes.attached if a.driver == driver]
    for number in space.bits(space.limited):
        if not copies(wanted, space.shapes[number], 1):
            mask &= ~(1 << number)
    for most, bits in space.most_volumes(driver).items():
        if len(wanted) > most:
            mask &= ~bits
    return mask


def fails(demand: Demand, space: Space, before: Masks) -> Masks:
    """What is left where counting the volumes of a node ends in an error: that ends the attempt for all nodes.

    `before` are the shapes that the plugins before this one let pass: only there are volumes counted. Of more than a
    hundred nodes the scheduler does not look at all, so that it may get by.
    """
    everything = Masks(space.everything, space.everything)
    if not demand.volumes.attached or not before.possible & space.uncounted:
        return everything
    certain = before.sure & space.uncounted and len(space.shapes) <= MOST_LOOKED_AT
    return Masks(0, 0 if certain else space.everything)


def failure(space: Space, before: Masks) -> Obstacle:
    """The obstacle of such an error."""
    number = next(iter(space.bits(before.sure & space.uncounted)))
    shape = space.shapes[number]
    owner, mount = shape.foreign_claims[0]
    return Obstacle(
        "volume",
        f"{mount.title} of {owner} on {shape.source.owner} was not made for that Pod: counting the volumes of the node "
        "ends in an error, and with it every attempt to place a pod with volumes (pod is not owner)",
        "scheduler:S-1002",
        mount.place,
        Against(owner, mount.place),
        "volume",
    )


def copies(attached: Sequence[Attached], shape: Shape, limit: int) -> int:
    """How many pods with these volumes a shape takes, at most `limit`; what pods share counts once."""
    most = limit
    for driver, allowed in shape.attach_limits.items():
        wanted = [a for a in attached if a.driver == driver]
        if not wanted:
            continue
        held = {a.handle for _, a in shape.attached if a.driver == driver}
        left = allowed - len(held) - sum(1 for a in wanted if a.handle and a.handle not in held)
        own = sum(1 for a in wanted if not a.handle)
        most = min(most, 0 if left < 0 else left // own if own else most)
    return most


def obstacles(demand: Demand, shape: Shape) -> list[Obstacle]:
    """Why it refuses one shape, one obstacle per driver; empty when it does not."""
    return [
        obstacle(demand, driver, shape)
        for driver in shape.attach_limits
        if not copies([a for a in demand.volumes.attached if a.driver == driver], shape, 1)
    ]


def obstacle(demand: Demand, driver: str, shape: Shape) -> Obstacle:
    """The obstacle of one driver."""
    wanted = sum(1 for a in demand.volumes.attached if a.driver == driver)
    held = len({a.handle for _, a in shape.attached if a.driver == driver})
    allowed = shape.attach_limits[driver]
    owner = shape.source.owner
    mount = next(m for m in demand.volumes.mounts if m.attached is not None and m.attached.driver == driver)
    volumes = f"{wanted} volume{'s' if wanted != 1 else ''}"
    return Obstacle(
        "volume",
        f"the pod uses {volumes} of {driver}; {owner} takes {allowed} and has {held} ({EVENT})",
        "scheduler:S-1034",
        mount.place,
        Against(owner, shape.source.name()),
        "volume",
    )
