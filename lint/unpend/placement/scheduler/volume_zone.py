"""VolumeZone: the zone and region labels of a bound volume are those of the node (P-1021)."""

from __future__ import annotations

from unpend.placement.demand import Demand
from unpend.placement.scheduler.volume_binding import accepts_rule
from unpend.placement.space import Masks, Shape, Space
from unpend.placement.verdict import Against, Obstacle
from unpend.placement.volumes import Mount
from unpend.source.place import Place

EVENT = "node(s) had no available volume zone"


def accepts(demand: Demand, space: Space) -> Masks:
    """The shapes that the plugin lets pass."""
    masks = Masks(space.everything, space.everything)
    for mount in demand.volumes.mounts:
        masks = masks.both(accepts_mount(mount, space))
    return masks


def accepts_mount(mount: Mount, space: Space) -> Masks:
    """The shapes that one mount lets pass."""
    masks = Masks(space.everything, space.everything)
    for rule in mount.rules:
        if rule.kind == "zone":
            masks = masks.both(accepts_rule(rule, space))
    return masks


def obstacles(demand: Demand, space: Space, number: int) -> list[Obstacle]:
    """Why it refuses one shape, one obstacle per claim; empty when it does not."""
    return [
        obstacle(mount, space.shapes[number])
        for mount in demand.volumes.mounts
        if not accepts_mount(mount, space).possible >> number & 1
    ]


def obstacle(mount: Mount, shape: Shape) -> Obstacle:
    """The obstacle of one bound volume on a shape that its labels refuse."""
    volume = mount.bound_to
    assert volume is not None
    rule = next(rule for rule in mount.rules if rule.kind == "zone")
    # All alternatives but the last name the labels of the volume.
    written = [w for w in rule.alternatives[0].written if w.operator == "In"]
    labels = ", ".join(f"{w.key}={'__'.join(w.texts)}" for w in written)
    has = ", ".join(f"{w.key}={shape.labels[w.key]}" for w in written if w.key in shape.labels) or "no such label"
    place: Place = written[0].place
    return Obstacle(
        "volume",
        f"the volume of {mount.title}, PersistentVolume/{volume.name}, is labelled {labels}; "
        f"{shape.source.owner} has {has} ({EVENT})",
        "scheduler:P-1021",
        mount.place,
        Against(f"PersistentVolume/{volume.name}", place),
        "volume",
    )
