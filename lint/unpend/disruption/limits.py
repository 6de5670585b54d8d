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
    for container in _running(spec):
        for resource, limit in container.limits.items():
            request = container.requests.get(resource)
            if request is not None and 0 < request.milli < limit.milli:
                yield Above(container, resource, request, limit)


def worst(facts: FactsLike, pools: tuple[NodePool, ...], above: Above, spec: PodSpec) -> str | None:
    """A clause that says what the smallest node of the pools is promised when it is full; empty where nobody knows.

    None where the limits of all pods that fit do not exceed its memory, because something else runs out first.
    """
    if above.resource != "memory":
        return ""
    known = [found for pool in pools if (found := pool_types(facts, pool)) is not None]
    if not known:
        return ""
    types = min(known, key=lambda found: found.allocatable.get("memory", 0))
    memory = types.allocatable.get("memory", 0)
    count = fitting(spec, types)
    if not count:
        # It takes a larger node, and which one is not known here.
        return ""
    if above.limit.milli > memory:
        most = render(memory, "memory")
        return f"; it is more than the {most} of a {types.smallest}, the smallest node that it may pick"
    limits = (c.limits.get("memory") or c.requests.get("memory") for c in _running(spec))
    promised = sum(limit.milli for limit in limits if limit is not None)
    if count * promised <= memory:
        return None
    most, total = render(memory, "memory"), render(count * promised, "memory")
    return f": a {types.smallest} with {most} takes {count} of these pods, and their limits add up to {total}"


def fitting(spec: PodSpec, types: PoolTypes) -> int:
    """How many such pods fit on the smallest type by the requests of their containers and sidecars."""
    counts = [types.allocatable.get("pods", 110_000) // 1000]
    for resource, offered in types.allocatable.items():
        requested = sum(c.requests[resource].milli for c in _running(spec) if resource in c.requests)
        if requested:
            counts.append(offered // requested)
    return min(counts)


def _running(spec: PodSpec) -> tuple[Container, ...]:
    return tuple(c for c in (*spec.containers, *spec.init_containers) if c.role != "init")
