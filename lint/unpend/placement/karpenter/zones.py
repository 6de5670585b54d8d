"""In which zones a NodePool can make nodes (A2)."""

from __future__ import annotations

from unpend.catalog.aws import region_of
from unpend.catalog.catalog import Zone, named_zones
from unpend.model.inventory import Inventory
from unpend.model.karpenter_labels import AWS_ZONE_ID, ZONE
from unpend.placement.karpenter.pool import AWS_GROUP, ManagedPool
from unpend.settings import Settings


def region_of_files(inventory: Inventory, settings: Settings) -> str | None:
    """The region that all zone names in node classes, settings and NodePools belong to, None when they differ."""
    names = [subnet.zone for c in inventory.node_classes for subnet in c.subnets or ()]
    names += settings.zones
    for pool in inventory.node_pools:
        for entry in pool.requirements:
            if entry.key == ZONE and entry.operator == "In":
                names += entry.values
    regions = {region for name in names if (region := region_of(name)) is not None}
    return next(iter(regions)) if len(regions) == 1 else None


def zones_of_pool(found: ManagedPool, settings: Settings) -> tuple[tuple[Zone, ...], bool]:
    """The zones of the pool, and whether they surely are (A2)."""
    ref = found.pool.node_class
    node_class = found.node_class
    if node_class is not None and node_class.subnets is not None:
        pairs = [(subnet.zone, subnet.zone_id) for subnet in node_class.subnets]
        return named_zones((name for name, _ in pairs if name), settings.zone_ids, pairs), True
    configured = settings.node_classes.get(ref.name, {}).get("zones")
    if configured:
        return named_zones(configured, settings.zone_ids), True
    listed = found.requirements.get(ZONE)
    if not listed.complement and listed.values:
        found.assumptions = ("A2",)
        return named_zones(sorted(listed.values), settings.zone_ids), True
    if settings.zones:
        return named_zones(settings.zones, settings.zone_ids), True
    by_id = found.requirements.get(AWS_ZONE_ID)
    if not by_id.complement and by_id.values:
        found.assumptions = ("A2",)
        names = {one: name for name, one in settings.zone_ids.items()}
        return tuple(Zone(names.get(one, ""), one) for one in sorted(by_id.values)), True
    if found.catalog is not None and found.pool.node_class.group != AWS_GROUP and found.catalog.complete:
        return (), True
    found.assumptions = ("A2",)
    return (), False
