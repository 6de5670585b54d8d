"""How many replicas of a workload fixed nodes take at once: the seam between one pod and all of them."""

from __future__ import annotations

from dataclasses import dataclass

from unpend.model.inventory import Inventory, Workload
from unpend.model.pod import EffectivePod
from unpend.placement.demand import Demand
from unpend.placement.fixed import FixedNodes
from unpend.placement.space import ZERO, Interval, Masks, Shape, Space
from unpend.placement.verdict import Cause, Fact
from unpend.settings import Settings


@dataclass(frozen=True, slots=True)
class ReplicaQuestion:
    """`needed` pods of one demand on a space whose shapes accept one of them as `accepted` says.

    `space` is `fixed.space`, or that space without the workload's own bound pods, which are replaced in a rollout.
    """

    workload: Workload
    pod: EffectivePod
    demand: Demand
    fixed: FixedNodes
    space: Space
    accepted: Masks
    needed: int
    inventory: Inventory
    settings: Settings


@dataclass(frozen=True, slots=True)
class ReplicaAnswer:
    """`at_most` is a sound bound, `at_least` has a witness; both are cut off at `needed`.

    `cause` says what keeps it below `needed`. `stuck` says whether an unlucky order can fall short although `needed`
    pods fit; None: not known. `facts` are what a gap between the bounds depends on.
    """

    at_least: int
    at_most: int
    cause: Cause | None = None
    stuck: bool | None = False
    facts: tuple[Fact, ...] = ()


def replica_counts(question: ReplicaQuestion) -> ReplicaAnswer:
    """The counts of a workload whose pods know nothing of each other but what they take from a node (P-721, S-604)."""
    return independent(question)


def independent(question: ReplicaQuestion) -> ReplicaAnswer:
    """Packing by pod slots, resources and host ports alone."""
    needed = question.needed
    low = high = 0
    for number in question.space.bits(question.accepted.possible):
        copies = copies_on(question.demand, question.space.shapes[number], needed)
        high = min(needed, high + copies.high)
        if question.accepted.sure >> number & 1:
            low = min(needed, low + copies.low)
        if low >= needed:
            break
    if low < needed and question.demand.ports:
        return ReplicaAnswer(low, high, "ports")
    return ReplicaAnswer(low, high, "resources" if low < needed else None)


def copies_on(demand: Demand, shape: Shape, limit: int) -> Interval:
    """How many pods of one demand a shape takes that accepts one, at most `limit` (P-721)."""
    low, high = min(shape.slots.low, limit), min(shape.slots.high, limit)
    if demand.ports:
        low, high = min(low, 1), min(high, 1)
    for resource, amount in demand.requests.items():
        free = shape.free.get(resource, ZERO)
        low, high = min(low, free.low // amount), min(high, free.high // amount)
    return Interval(max(low, 0), max(high, 0))
