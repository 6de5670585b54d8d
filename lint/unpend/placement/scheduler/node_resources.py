"""NodeResourcesFit: what the pod asks against what is left of the node's allocatable (P-711 to P-721)."""

from __future__ import annotations

from unpend.algebra.quantity import render
from unpend.placement.demand import Demand
from unpend.placement.space import ZERO, Masks, Shape, Space
from unpend.placement.verdict import Against, Obstacle

PODS = "pods"
SLOTS_EVENT = "Too many pods"


def accepts(demand: Demand, space: Space) -> Masks:
    """The shapes that the plugin lets pass: a pod slot, and enough of every resource asked for."""
    masks = space.slots
    for resource, amount in demand.requests.items():
        masks = masks.both(space.with_free(resource, amount))
    return masks


def obstacles(demand: Demand, shape: Shape) -> list[Obstacle]:
    """Why it refuses one shape, one obstacle per resource; empty when it does not."""
    found = [] if shape.slots.high > 0 else [slots_obstacle(demand, shape)]
    found.extend(
        obstacle(demand, resource, shape)
        for resource, amount in demand.requests.items()
        if amount > shape.free.get(resource, ZERO).high
    )
    return found


def shown(resource: str, units: int) -> str:
    """An amount in the units of the scheduler, as people write it."""
    return render(units if resource == "cpu" else units * 1000, resource)


def obstacle(demand: Demand, resource: str, shape: Shape) -> Obstacle:
    """The obstacle of one resource."""
    owner = shape.source.owner
    wanted = demand.requests[resource]
    total = shape.allocatable.get(resource, 0)
    free = shape.free.get(resource, ZERO).high
    if total == 0:
        has, semantics = f"{owner} has none", "scheduler:P-715"
    elif wanted > total:
        has, semantics = f"{owner} can give {shown(resource, total)} in all", "scheduler:P-713"
    else:
        has = f"{owner} has {shown(resource, max(free, 0))} of {shown(resource, total)} left"
        semantics = "scheduler:P-713"
    places = demand.request_places.get(resource, ())
    return Obstacle(
        constraint="resources",
        message=f"the pod asks for {resource} {shown(resource, wanted)}; {has} (Insufficient {resource})",
        semantics=semantics,
        place=places[0] if places else demand.spec_place,
        against=Against(owner, shape.source.resource(resource)),
        cause="resources",
    )


def slots_obstacle(demand: Demand, shape: Shape) -> Obstacle:
    """The obstacle of a node without a free pod slot (P-711)."""
    owner = shape.source.owner
    total = shape.allocatable.get(PODS, 0)
    has = f"all {total} pod slots of {owner} are taken" if total else f"{owner} has no pod slots in its allocatable"
    return Obstacle(
        constraint="resources",
        message=f"{has} ({SLOTS_EVENT})",
        semantics="scheduler:P-711",
        place=demand.spec_place,
        against=Against(owner, shape.source.resource(PODS)),
        cause="resources",
    )
