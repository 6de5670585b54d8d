"""Workloads that each find room on NodePools, while the limits of those leave too little for all of them (`L-1`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unpend.placement.counts import Placing
from unpend.placement.karpenter.decide import PoolAnswer

RESOURCES = ("cpu", "memory")


def contending(
    placings: Sequence[Placing], answers: Mapping[str, Sequence[PoolAnswer]], fitting: Mapping[str, bool]
) -> tuple[tuple[str, ...], ...]:
    """Groups of workload ids that ask for more than the limits of all pools that take any of them.

    The capacity of all nodes of a pool stays within its limits, and requests within capacity: a group that asks for
    more can surely not run at once. `fitting` says which workloads find room when they are alone.
    """
    found: dict[tuple[str, ...], None] = {}
    for resource in RESOURCES:
        limits: dict[int, int] = {}
        demand: dict[frozenset[int], int] = {}
        members: dict[frozenset[int], list[str]] = {}
        for placing in placings:
            workload = placing.workload.id
            amount = placing.pod.requests.get(resource, 0) * placing.needed
            if not amount or placing.accepted.possible or not fitting.get(workload):
                continue
            pools = _limited(answers[workload], resource, limits)
            if pools:
                demand[pools] = demand.get(pools, 0) + amount
                members.setdefault(pools, []).append(workload)
        for pools in demand:
            room = sum(limits[number] for number in pools)
            inside = [other for other in demand if other <= pools]
            if sum(demand[other] for other in inside) > room:
                group = tuple(sorted(name for other in inside for name in members[other]))
                if len(group) > 1:
                    found.setdefault(group)
    return tuple(sorted(found))


def _limited(answers: Sequence[PoolAnswer], resource: str, limits: dict[int, int]) -> frozenset[int] | None:
    """The pools that take a pod, all with a limit on the resource, which is noted; None where one has none."""
    numbers = []
    for answer in answers:
        if answer.verdict in ("never", "loop"):
            continue
        limit = answer.pool.pool.limits.get(resource)
        if limit is None or answer.pool.pool.is_static:
            return None
        limits[answer.pool.number] = limit.milli
        numbers.append(answer.pool.number)
    return frozenset(numbers) or None
