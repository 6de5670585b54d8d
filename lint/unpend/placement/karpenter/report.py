"""NodePools for `unpend pools`: which nodes each could make."""

from __future__ import annotations

from collections.abc import Iterator

from unpend.catalog.index import bits
from unpend.model.inventory import Inventory
from unpend.model.karpenter_labels import ARCH
from unpend.placement.karpenter.grid import Grid
from unpend.placement.karpenter.managed import ManagedPool
from unpend.placement.karpenter.overlap import overlap_graph
from unpend.placement.karpenter.pool_facts import managed_pools
from unpend.placement.pool_summary import Breadth, MachineType, Overlap, PoolReport, Size, Usable, largest_of
from unpend.records import replace
from unpend.settings import Settings

_SHOWN = ("cpu", "memory", "ephemeral-storage", "pods")


def node_pool_reports(inventory: Inventory, settings: Settings) -> Iterator[PoolReport]:
    """The NodePools in the order in which Karpenter tries them."""
    pools = managed_pools(inventory, settings).pools
    graph = overlap_graph(pools)
    order = 0
    for pool in pools:
        tried = pool.unusable is None and not pool.pool.is_static
        order += tried
        report = _report(pool, settings.cluster)
        found: list[Overlap] = []
        if pool.name in graph:
            found.extend(graph.edges[pool.name, other]["overlap"] for other in graph[pool.name])
        overlaps = tuple(sorted(found, key=lambda o: (o.first, o.second)))
        yield replace(report, order=order if tried else None, overlaps=overlaps)


def _report(found: ManagedPool, cluster: str) -> PoolReport:
    pool, ref = found.pool, found.pool.node_class
    usable: Usable = "yes"
    why = semantics = ""
    if found.unusable is not None:
        usable, why, semantics = "no", found.unusable.message, found.unusable.semantics
    elif found.doubts:
        usable, why = "unknown", found.doubts[0].message
    replicas = pool.replicas
    report = PoolReport(
        pool=found.name,
        kind="NodePool",
        cluster=cluster,
        usable=usable,
        why=why,
        semantics=semantics,
        node_class=f"{ref.kind}/{ref.name}",
        limits={name: amount.text for name, amount in pool.limits.items()},
        size=None if replicas is None else Size(replicas, replicas),
        autoscaler="karpenter",
        taints=pool.taints,
        startup_taints=pool.startup_taints,
        weight=pool.weight,
        unknown=tuple(found.unknown.values()),
        assumptions=found.assumptions,
        place=pool.place,
    )
    if found.grid is None:
        return report
    if usable == "no":
        return replace(report, types=0)
    return _with_types(report, found, found.grid)


def _with_types(report: PoolReport, found: ManagedPool, grid: Grid) -> PoolReport:
    mask = found.base.possible
    types = grid.collapse(mask)
    groups = list(grid.groups_of(mask))
    prices = _prices(grid)
    machines = [_machine(found, grid, number, prices) for number in bits(types)]
    return replace(
        report,
        types=types.bit_count(),
        architectures=tuple(sorted(v for v, having in grid.values(ARCH).items() if having & mask)),
        zones=tuple(sorted({z for group, _ in groups if (z := group.zone or group.zone_id)})),
        zones_known=found.exist != 0,
        capacity_types=tuple(sorted({group.capacity_type for group, _ in groups})),
        spot=_breadth(grid, mask, "spot", found.exist != 0),
        on_demand=_breadth(grid, mask, "on-demand", found.exist != 0),
        cheapest=min((m for m in machines if m.price is not None), key=lambda m: (m.price or 0, m.name), default=None),
        largest=largest_of(machines),
    )


def _breadth(grid: Grid, mask: int, capacity_type: str, zones_known: bool) -> Breadth | None:
    places: dict[str, int] = {}
    for group, having in grid.groups_of(mask):
        if group.capacity_type == capacity_type:
            place = group.zone or group.zone_id
            places[place] = places.get(place, 0) | having
    types = 0
    for having in places.values():
        types |= having
    pools = sum(having.bit_count() for having in places.values()) if zones_known else None
    return Breadth(types.bit_count(), pools) if types else None


def _prices(grid: Grid) -> dict[int, float]:
    """The lowest known price per type, whatever the pool buys: spot prices are not known in advance."""
    found: dict[int, float] = {}
    for group in grid.groups:
        for number, price in group.prices.items():
            found[number] = min(price, found.get(number, price))
    return found


def _machine(found: ManagedPool, grid: Grid, number: int, prices: dict[int, float]) -> MachineType:
    resources = grid.shapes.resources
    amounts = {name: resources.amount(name, number)[0] for name in resources.names}
    kept = {name: amount for name, amount in amounts.items() if amount > 0 and (name in _SHOWN or "/" in name)}
    return MachineType(grid.shapes.names[number], kept, prices.get(number))
