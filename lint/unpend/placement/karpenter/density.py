"""The pod limit of node classes against the addresses of the types that their pools may launch (`karpenter:M-6`)."""

from __future__ import annotations

from collections.abc import Iterator

from unpend.catalog.density import OverDensity, over_addresses
from unpend.catalog.index import bits
from unpend.model.karpenter import NodeClass
from unpend.placement.karpenter.managed import AWS_GROUP, ManagedPools
from unpend.placement.karpenter.pool_facts import types_of

__all__ = ["OverDensity", "classes_over_density"]


def classes_over_density(pools: ManagedPools) -> Iterator[tuple[NodeClass, str, OverDensity]]:
    """EC2NodeClasses whose `maxPods` is above the addresses of a type, each with the pool that may launch the type.

    Where `podsPerCore` counts as well, nothing is said; Windows has a network of its own.
    """
    worst: dict[str, tuple[NodeClass, str, OverDensity]] = {}
    for found in pools.pools:
        used, grid = found.node_class, found.grid
        if used is None or grid is None or used.group != AWS_GROUP or (used.ami_family or "").startswith("Windows"):
            continue
        limit = used.kubelet.max_pods
        if limit is None or used.kubelet.pods_per_core:
            continue
        over = over_addresses(limit, (grid.shapes.names[number] for number in bits(types_of(found))))
        if over is not None and (used.name not in worst or over.addresses < worst[used.name][2].addresses):
            worst[used.name] = (used, found.name, over)
    yield from worst.values()
