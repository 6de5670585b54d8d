"""DaemonSets on the nodes of a group, real or imagined (C-206)."""

from __future__ import annotations

from collections.abc import Sequence

from unpend.model.admission import admit_template
from unpend.model.inventory import Inventory
from unpend.placement.demand import DEFAULT_SCHEDULER, Demand, demand_of
from unpend.placement.scheduler import node_affinity
from unpend.placement.space import ZERO, Interval, Shape, Space, TakenPort
from unpend.records import dataclass, replace
from unpend.settings import Settings


@dataclass(frozen=True, slots=True)
class Agent:
    """A DaemonSet pod; `sure` is False where something else decides whether it runs."""

    owner: str
    demand: Demand
    sure: bool


def agents_of(inventory: Inventory, settings: Settings) -> tuple[Agent, ...]:
    """The DaemonSets of an inventory whose pods the API takes."""
    found = []
    for workload in inventory.workloads:
        if workload.kind != "DaemonSet":
            continue
        pod = admit_template(workload.template, inventory, settings, from_template=True, daemonset=True)
        if pod.refusals:
            continue
        demand = demand_of(pod)
        sure = not (pod.unknown or demand.gates or demand.claims or demand.node_name)
        found.append(Agent(workload.id, demand, sure and demand.scheduler_name == DEFAULT_SCHEDULER))
    return tuple(found)


def with_agents(shapes: Sequence[Shape], agents: Sequence[Agent]) -> Space:
    """The shapes with the DaemonSets that land there. One that does not fit waits, and leaves its room (C-206)."""
    bare = Space(shapes)
    if not agents or not shapes:
        return bare
    lands = []
    for agent in agents:
        masks = node_affinity.accepts(agent.demand, bare)
        tolerated = bare.tolerated(agent.demand.tolerations)
        sure = masks.sure & tolerated if agent.sure else 0
        lands.append((agent, sure, masks.possible & tolerated))
    return Space([_occupied(shape, 1 << n, lands) for n, shape in enumerate(shapes)], bare)


def _occupied(shape: Shape, bit: int, lands: Sequence[tuple[Agent, int, int]]) -> Shape:
    free = dict(shape.free)
    low_slots, high_slots = shape.slots
    ports = list(shape.ports)
    coming = [(agent, bool(sure & bit)) for agent, sure, possible in lands if possible & bit]
    together = all(
        sum(agent.demand.requests.get(name, 0) for agent, _ in coming) <= free.get(name, ZERO).low
        for name in {name for agent, _ in coming for name in agent.demand.requests}
    )
    for agent, sure in coming:
        certain = sure and together
        low_slots -= 1
        high_slots -= 1 if certain else 0
        for name, amount in agent.demand.requests.items():
            low, high = free.get(name, ZERO)
            free[name] = Interval(low - amount, high - amount if certain else high)
        ports.extend(TakenPort(port, agent.owner, certain) for port in agent.demand.ports)
    return replace(shape, free=free, slots=Interval(low_slots, high_slots), ports=tuple(ports))
