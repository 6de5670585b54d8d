"""The NodePools of an inventory: each made ready to be asked, in the order in which Karpenter tries them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unpend.catalog.catalog import Catalog
from unpend.catalog.index import Fit
from unpend.catalog.load import catalog_for
from unpend.catalog.node_class import profile_of
from unpend.model.inventory import Inventory
from unpend.model.karpenter import NodePool
from unpend.model.karpenter_labels import CORE_WELL_KNOWN, aws_well_known, release
from unpend.model.pod import Taint
from unpend.placement.karpenter.daemons import Daemons
from unpend.placement.karpenter.grid import Grid, admitted
from unpend.placement.karpenter.images import bootable
from unpend.placement.karpenter.min_values import short_of_min_values
from unpend.placement.karpenter.overhead import OverheadBook, lay_daemons
from unpend.placement.karpenter.pool import AWS_GROUP, ManagedPool, PoolSource, belongs
from unpend.placement.karpenter.startup_agents import may_go
from unpend.placement.karpenter.template import template_requirements
from unpend.placement.karpenter.usable import doubts, no_image, no_types, why_unusable
from unpend.placement.karpenter.zones import region_of_files, zones_of_pool
from unpend.placement.space import Masks
from unpend.settings import Settings

__all__ = ["AWS_GROUP", "ManagedPool", "ManagedPools", "PoolSource", "belongs"]


class ManagedPools:
    """The NodePools of an inventory, in the order in which Karpenter tries them (`karpenter.md` §1.7)."""

    def __init__(self, inventory: Inventory, settings: Settings, daemons: Daemons, catalogs: Sequence[Catalog]) -> None:
        self.inventory = inventory
        self.settings = settings
        self.daemons = daemons
        self.catalogs = catalogs
        self.version = release(settings.karpenter.version)
        self.strict = settings.karpenter.min_values_policy == "Strict"
        self._book = OverheadBook(inventory, settings, daemons, self.version)
        self._grids: dict[tuple[int, frozenset[str]], Grid] = {}
        self._classes = {(c.group, c.kind, c.name): c for c in inventory.node_classes}
        self.region = settings.region or region_of_files(inventory, settings)
        ordered = sorted(inventory.node_pools, key=lambda pool: pool.order)
        self.pools = tuple(self._managed(pool, number) for number, pool in enumerate(ordered))
        self.relaxes_taints = any(
            t.effect == "PreferNoSchedule" for p in self.pools if p.unusable is None for t in p.taints
        )
        known = frozenset(CORE_WELL_KNOWN)
        for one in self.pools:
            known |= one.well_known
        self.well_known = known

    def _managed(self, pool: NodePool, number: int) -> ManagedPool:
        ref = pool.node_class
        catalog = catalog_for(self.catalogs, ref.group, ref.kind, pool.name)
        well_known = frozenset(CORE_WELL_KNOWN)
        if ref.group == AWS_GROUP:
            well_known |= aws_well_known(self.version)
        elif catalog is not None:
            well_known |= catalog.well_known
        found = ManagedPool(pool, number, template_requirements(pool), well_known, self.version, catalog)
        found.node_class = self._classes.get((ref.group, ref.kind, ref.name))
        found.unusable = why_unusable(found, self.settings.world.classes == "closed")
        if found.unusable is not None:
            return found
        found.doubts = tuple(doubts(found))
        if catalog is not None and not any(d.name == "node-class" for d in found.doubts):
            self._build(found, catalog)
        return found

    def _build(self, found: ManagedPool, catalog: Catalog) -> None:
        zones, exact = zones_of_pool(found, self.settings)
        node_class = found.node_class
        profile = None
        if found.pool.node_class.group == AWS_GROUP and node_class is not None:
            spec = node_class.object.data.get("spec")
            profile = profile_of(spec if isinstance(spec, dict) else {}, self.settings.karpenter)
        shapes = catalog.shapes(profile, self.region, zones)
        key = (id(shapes), found.well_known)
        grid = self._grids.get(key)
        if grid is None:
            grid = self._grids[key] = Grid(shapes, found.well_known, self.settings.zone_shift)
        found.grid = grid
        pool = found.pool
        found.user_taints = tuple(self._undeclared_taints(found))
        sure = possible = grid.all
        for asked in found.requirements:
            answer = grid.planned(asked)
            sure &= answer.sure
            possible &= answer.possible
            text = catalog.unknown(asked.key, admitted(asked))
            if text is not None:
                found.unknown[asked.key] = text
        found.exist = grid.all if exact else 0
        if not exact:
            by_zone: dict[tuple[str, str], int] = {}
            for number, group in enumerate(grid.groups):
                place = (group.zone, group.zone_id)
                by_zone[place] = by_zone.get(place, 0) | group.possible << number * grid.width
            found.candidates = tuple(by_zone.values())
        found.before_limits = possible
        limits = self._within_limits(found, grid)
        within = possible & grid.spread(limits.possible)
        found.base = Masks(sure & grid.spread(limits.sure), within)
        if not within and not found.unknown:
            found.unusable = no_types(found, possible)
            return
        short = short_of_min_values(found, grid, possible) if self.strict else None
        if short is not None and not found.unknown:
            found.unusable = short
            return
        boots = bootable(node_class, grid)
        if not within & boots and not found.unknown:
            found.unusable = no_image(found)
            return
        within &= boots
        found.base = Masks(found.base.sure & boots, within)
        if pool.is_static:
            found.base = Masks(0, within)
        lay_daemons(self._book, found, grid, within)

    def _undeclared_taints(self, found: ManagedPool) -> Iterator[Taint]:
        """The taints that nodes register with, that the pool does not name, and that nobody takes off (`A-5`)."""
        if found.node_class is None:
            return
        pool = found.pool
        named = {(t.key, t.effect) for t in (*pool.taints, *pool.startup_taints)}
        for taint in found.node_class.user_taints:
            if (taint.key, taint.effect) not in named and not may_go(taint, self.inventory):
                yield taint

    def _within_limits(self, found: ManagedPool, grid: Grid) -> Fit:
        """The types whose capacity is within the limits: possibly within all of them, surely beside the nodes given."""
        limits = found.pool.limits
        every = grid.types
        if not limits or found.pool.is_static:
            return Fit(every, every)
        used = self._usage(found.pool)
        sure = possible = every
        for name, limit in limits.items():
            if name == "nodes":
                possible &= every if limit.milli >= 1000 else 0
                sure &= every if limit.milli - used.get(name, 0) >= 1000 else 0
                continue
            low, high = grid.shapes.capacity, limit.milli
            # The lower bound of memory is what Karpenter reckons with (A7).
            possible &= every & ~low.levels(name, high + 1)[0] if name in low.names else every
            left = high - used.get(name, 0)
            if name in low.names:
                sure &= every & ~low.levels(name, left + 1)[0]
        return Fit(sure & possible, possible)

    def _usage(self, pool: NodePool) -> dict[str, int]:
        used: dict[str, int] = {}
        for node in self.inventory.nodes:
            if belongs(node, pool):
                used["nodes"] = used.get("nodes", 0) + 1000
                for name, amount in node.capacity.items():
                    used[name] = used.get(name, 0) + amount.milli
        return used
