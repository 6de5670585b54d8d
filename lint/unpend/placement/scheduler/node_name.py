"""NodeName: a pod with `spec.nodeName` only runs on the node of that name (P-302)."""

from __future__ import annotations

from unpend.placement.demand import Demand
from unpend.placement.space import Masks, Shape, Space
from unpend.placement.verdict import Against, Obstacle

EVENT = "node(s) didn't match the requested node name"


def accepts(demand: Demand, space: Space) -> Masks:
    """The shapes that the plugin lets pass."""
    mask = space.named(demand.node_name) if demand.node_name else space.everything
    return Masks(mask, mask)


def obstacles(demand: Demand, shape: Shape) -> list[Obstacle]:
    """Why it refuses one shape; empty when it does not."""
    if not demand.node_name or demand.node_name == shape.name:
        return []
    return [
        Obstacle(
            constraint="nodeName",
            message=f"nodeName is {demand.node_name!r}, this is {shape.source.owner} ({EVENT})",
            semantics="scheduler:P-302",
            place=demand.spec_place.at("nodeName"),
            against=Against(shape.source.owner, shape.source.name()),
            cause="labels",
        )
    ]
