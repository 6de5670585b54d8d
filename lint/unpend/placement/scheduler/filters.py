"""All filter plugins together, in the order in which kube-scheduler asks them."""

from __future__ import annotations

from typing import NamedTuple

from unpend.placement.demand import Demand, with_volumes
from unpend.placement.scheduler import (
    node_affinity,
    node_name,
    node_ports,
    node_resources,
    node_unschedulable,
    node_volume_limits,
    taint_toleration,
    volume_binding,
    volume_restrictions,
    volume_zone,
)
from unpend.placement.space import Masks, Space
from unpend.placement.verdict import Obstacle
from unpend.placement.volumes import NO_VOLUMES


class Answer(NamedTuple):
    """What the scheduler says of every shape. `labels` are the shapes that nodeSelector and affinity select."""

    accepted: Masks
    labels: Masks


def ask(demand: Demand, space: Space) -> Answer:
    """The shapes that all plugins let pass."""
    labels = node_affinity.accepts(demand, space)
    masks = labels.both(node_unschedulable.accepts(demand, space))
    masks = masks.both(taint_toleration.accepts(demand, space))
    if demand.node_name:
        masks = masks.both(node_name.accepts(demand, space))
    if demand.ports:
        masks = masks.both(node_ports.accepts(demand, space))
    masks = masks.both(node_resources.accepts(demand, space))
    if demand.volumes:
        if space.uncounted:
            masks = masks.both(node_volume_limits.fails(demand, space, masks))
        masks = volume_binding.settled(demand, masks.both(accepts_volumes(demand, space)), space)
    # Devices of dynamic resource allocation are not looked at: no node surely has them.
    return Answer(Masks(0, masks.possible) if demand.claims else masks, labels)


def without_volumes(demand: Demand, space: Space) -> Masks:
    """The shapes that would take the pod if it had no volumes."""
    return ask(with_volumes(demand, NO_VOLUMES), space).accepted


def accepts_volumes(demand: Demand, space: Space) -> Masks:
    """The shapes that all volume plugins let pass."""
    masks = volume_binding.accepts(demand, space).both(volume_zone.accepts(demand, space))
    if space.disked:
        masks = masks.both(volume_restrictions.accepts(demand, space))
    if demand.volumes.attached:
        masks = masks.both(node_volume_limits.accepts(demand, space))
    return masks


def obstacles(demand: Demand, space: Space, number: int) -> tuple[Obstacle, ...]:
    """Everything that refuses one shape, the plugin whose reason the scheduler's event shows first."""
    shape = space.shapes[number]
    found: list[Obstacle] = []
    if space.cordoned >> number & 1:
        found.extend(node_unschedulable.obstacles(demand, shape))
    if demand.node_name:
        found.extend(node_name.obstacles(demand, shape))
    if not taint_toleration.accepts(demand, space).possible >> number & 1:
        found.extend(taint_toleration.obstacles(demand, shape))
    if not node_affinity.accepts(demand, space).possible >> number & 1:
        found.extend(node_affinity.obstacles(demand, shape))
    if demand.ports:
        found.extend(node_ports.obstacles(demand, shape))
    if not node_resources.accepts(demand, space).possible >> number & 1:
        found.extend(node_resources.obstacles(demand, shape))
    if demand.volumes:
        found.extend(volume_restrictions.obstacles(demand, shape))
        found.extend(node_volume_limits.obstacles(demand, shape))
        found.extend(volume_binding.obstacles(demand, space, number))
        found.extend(volume_zone.obstacles(demand, space, number))
        if not found and space.uncounted:
            found.append(node_volume_limits.failure(space, without_volumes(demand, space)))
    return tuple(found)
