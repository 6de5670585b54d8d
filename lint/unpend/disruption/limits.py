"""Limits above requests: what a node that is packed by requests has promised (`karpenter.md` §9.5)."""

from __future__ import annotations

from collections.abc import Iterator

from unpend.algebra.quantity import render
from unpend.disruption.pool_shapes import PoolTypes, pool_types
from unpend.model.karpenter import NodePool
from unpend.model.pod import Amount, Container, PodSpec
from unpend.placement.given import FactsLike
from unpend.records import dataclass


@dataclass(frozen=True, slots=True)
class Above:
    """A limit of a container that is higher than its request, both as written."""

    container: Container
    resource: str
    request: Amount
    limit: Amount

    @property
    def ratio(self) -> str:
        """How many times the request it is, in words: `24 times`, `1.5 times`."""
        ratio = self.limit.milli / self.request.milli if self.request.milli else 0
        return f"{ratio:.1f}".removesuffix(".0") + " times" if ratio < 1000 else "more than 1000 times"


def limits_above(spec: PodSpec) -> Iterator[Above]:
    """The limits of containers and sidecars that are above a written request other than 0."""
    for container in (*spec.containers, *spec.init_containers):
        if container.role == "init":
            continue
        for resource, limit in container.limits.items():
            request = container.requests.get(resource)
            if request is not None and 0 < request.milli < limit.milli:
                yield Above(container, resource, request, limit)


def worst(facts: FactsLike, pools: tuple[NodePool, ...], above: Above) -> str:
    """A clause that says what the smallest node of the pools is promised when it is full; empty where nobody knows."""
    if above.resource != "memory":
        return ""
    known = [found for pool in pools if (found := pool_types(facts, pool)) is not None]
    if not known:
        return ""
    types = min(known, key=lambda found: found.allocatable.get("memory", 0))
    memory = types.allocatable.get("memory", 0)
    if above.limit.milli > memory:
        most = render(memory, "memory")
        return f"; it is more than the {most} of a {types.smallest}, the smallest node that it may pick"
    count = fitting(above.container, types)
    if count < 2:
        return ""
    most, total = render(memory, "memory"), render(count * above.limit.milli, "memory")
    return f": a {types.smallest} with {most} takes {count} of these, and their limits add up to {total}"


def fitting(container: Container, types: PoolTypes) -> int:
    """How many pods of this one container fit on the smallest type by their requests."""
    counts = [types.allocatable.get("pods", 110_000) // 1000]
    for resource, request in container.requests.items():
        if request.milli and resource in types.allocatable:
            counts.append(types.allocatable[resource] // request.milli)
    return min(counts)
