"""Why a pod and a NodePool do not go together, one resource at a time, and which pools a pod reaches at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from unpend.catalog.allocatable import root_device
from unpend.catalog.node_class import profile_of
from unpend.model.inventory import Inventory
from unpend.model.karpenter import NodeClass
from unpend.placement.demand import Demand
from unpend.placement.karpenter.managed import ManagedPool, ManagedPools
from unpend.placement.karpenter.pool_facts import architectures_of, types_of
from unpend.placement.karpenter.requirement import requirement
from unpend.placement.verdict import PoolVerdict, WorkloadVerdict
from unpend.source.place import Place

EPHEMERAL = "ephemeral-storage"
_REACHED = ("fits", "conditional", "loop", "partial")


def reached(verdict: WorkloadVerdict) -> tuple[PoolVerdict, ...]:
    """The pools that take a pod of the workload, or perhaps do."""
    return tuple(pool for pool in verdict.pools if pool.verdict in _REACHED)


def named(pools: ManagedPools, name: str) -> ManagedPool | None:
    """A NodePool by the name that verdicts give it, `NodePool/<name>`."""
    return next((found for found in pools.pools if found.name == name), None)


def narrowed(found: ManagedPool, demand: Demand, types: int) -> int:
    """Those of the types that meet what some alternative of a pod asks for."""
    grid = found.grid
    if grid is None or not demand.alternatives:
        return types
    left = 0
    for alternative in demand.alternatives:
        mask = grid.spread(types)
        for written in alternative.written:
            asked = requirement(written.key, written.operator, written.texts)
            if grid.defines(asked.key):
                mask &= grid.planned(asked).possible
        left |= grid.collapse(mask)
    return left


def kept_out_by_limits(found: ManagedPool, demand: Demand, requests: Mapping[str, int]) -> tuple[str, ...]:
    """The limits that keep every type out of the pool on which the pod would fit (`L-2`); `()` when it is not limits.

    Those that all of these types exceed, else, where one limit takes some and another the rest, all that take any.
    """
    grid, planned = found.grid, found.planned
    if grid is None or planned is None or found.pool.is_static:
        return ()
    large = narrowed(found, demand, grid.collapse(found.before_limits)) & planned.takes(requests).possible
    if not large or large & grid.collapse(found.base.possible):
        return ()
    capacity = grid.shapes.capacity
    over = {
        name: large & capacity.levels(name, limit.milli + 1)[0]
        for name, limit in found.pool.limits.items()
        if name in capacity.names
    }
    every = tuple(name for name, types in over.items() if types == large)
    return every or tuple(name for name, types in over.items() if types)


class Storage(NamedTuple):
    """The most ephemeral storage that is left on a type that would take the pod otherwise, in thousandths of a byte."""

    most: int


def kept_out_by_storage(found: ManagedPool, demand: Demand, requests: Mapping[str, int]) -> Storage | None:
    """Whether ephemeral storage alone keeps the pod out of a pool: without it some type would do (`M-5`)."""
    planned = found.planned
    if planned is None or not requests.get(EPHEMERAL):
        return None
    types = narrowed(found, demand, types_of(found))
    others = {name: amount for name, amount in requests.items() if name != EPHEMERAL}
    would = types & planned.takes(others).possible
    if not would or would & planned.takes(requests).possible:
        return None
    return Storage(planned.largest(EPHEMERAL, would)[1])


class RootVolume(NamedTuple):
    """What decides the disk of a node class: its place and a phrase for messages."""

    place: Place
    phrase: str


def root_volume(node_class: NodeClass) -> RootVolume:
    """The block device mapping that counts for ephemeral storage, else the default size of the family (`M-5`)."""
    spec = node_class.object.data.get("spec")
    profile = profile_of(spec if isinstance(spec, dict) else {})
    device = root_device(profile)
    place = node_class.place.at("spec")
    if device is not None:
        number = profile.block_devices.index(device)
        if number < len(node_class.block_devices):
            mapping = node_class.block_devices[number]
            size = f" of {mapping.size.text}" if mapping.size is not None else ""
            return RootVolume(mapping.place, f"its volume {device.name}{size}")
    default = "50Gi" if profile.windows else "20Gi"
    if profile.block_devices:
        names = ", ".join(one.name for one in profile.block_devices)
        return RootVolume(
            place.at("blockDeviceMappings"),
            f"the default volume of {default}: {names} is not where {profile.ami_family} keeps the data of pods",
        )
    return RootVolume(place, f"the default volume of {default}")


def offered_resources(inventory: Inventory, pools: ManagedPools) -> frozenset[str]:
    """The extended resources that some Node has, some NodePool can launch a type with, or a NodeOverlay adds."""
    names = {name for node in inventory.nodes for name, amount in node.allocatable.items() if amount.milli > 0}
    names.update(name for overlay in inventory.node_overlays for name in overlay.capacity)
    for found in pools.pools:
        types = types_of(found)
        if found.grid is None or not types:
            continue
        shapes = found.grid.shapes
        for resources in (shapes.resources, *(g.resources for g in shapes.offerings if g.resources is not None)):
            names.update(name for name in resources.names if resources.levels(name, 1)[1] & types)
    return frozenset(name for name in names if "/" in name)


def reached_architectures(found: ManagedPool, demand: Demand) -> tuple[str, ...]:
    """The processor architectures of the types of a pool that meet what the pod asks for, sorted."""
    return architectures_of(found, narrowed(found, demand, types_of(found)))
