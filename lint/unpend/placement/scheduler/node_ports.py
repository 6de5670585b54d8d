"""NodePorts: a host port can be open once per node, address and protocol (S-601 to S-607)."""

from __future__ import annotations

from unpend.model.pod import ContainerPort
from unpend.placement.demand import Demand
from unpend.placement.space import Masks, Shape, Space, TakenPort, ports_clash
from unpend.placement.verdict import Against, Obstacle

EVENT = "node(s) didn't have free ports for the requested pod ports"


def accepts(demand: Demand, space: Space) -> Masks:
    """The shapes that the plugin lets pass."""
    masks = Masks(space.everything, space.everything)
    for port in demand.ports:
        masks = masks.both(space.with_port(port))
    return masks


def obstacles(demand: Demand, shape: Shape) -> list[Obstacle]:
    """Why it refuses one shape, one obstacle per port; empty when it does not."""
    found = []
    for port in demand.ports:
        use = holder(port, shape)
        if use is not None:
            found.append(obstacle(port, use, shape))
    return found


def holder(port: ContainerPort, shape: Shape) -> TakenPort | None:
    """Who has a host port open on a shape already; those that surely run there first."""
    uses = [use for use in shape.ports if ports_clash(port, use.port)]
    return min(uses, key=lambda use: not use.sure, default=None)


def obstacle(port: ContainerPort, use: TakenPort, shape: Shape) -> Obstacle:
    """The obstacle of one host port."""
    return Obstacle(
        constraint="hostPort",
        message=f"host port {port.host_port}/{port.protocol} is taken on {shape.source.owner} by {use.owner} ({EVENT})",
        semantics="scheduler:S-602",
        place=port.place,
        against=Against(use.owner, use.port.place),
        cause="ports",
    )
