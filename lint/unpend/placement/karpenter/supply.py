"""The labels that the nodes of NodePools have or could have, as far as that is clear without a catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from unpend.algebra.values import ValueSet, anything, exists, one_of
from unpend.model.inventory import Inventory
from unpend.model.karpenter import NodePool
from unpend.model.karpenter_labels import (
    ARCH,
    CAPACITY_TYPE,
    CORE_WELL_KNOWN,
    HOSTNAME,
    INITIALIZED,
    KNOWN_VALUES,
    NODE_POOL,
    OLDER_NAMES,
    OS,
    REGISTERED,
    aws_well_known,
    release,
)
from unpend.placement.karpenter.grid import admitted
from unpend.placement.karpenter.overhead import words
from unpend.placement.karpenter.pool import AWS_GROUP
from unpend.placement.karpenter.space import label_of_any_node
from unpend.placement.karpenter.template import template_requirements
from unpend.settings import Settings
from unpend.source.place import Place

_EVERY_VALUE: Mapping[str, ValueSet] = {
    ARCH: one_of(["amd64", "arm64"]),
    OS: one_of(["linux", "windows"]),
    CAPACITY_TYPE: one_of(KNOWN_VALUES[CAPACITY_TYPE]),
}


def labels_of_pool(pool: NodePool, inventory: Inventory, settings: Settings) -> dict[str, ValueSet]:
    """For each label key that nodes of a pool may carry: the values that they may have.

    Well-known keys that the pool leaves open can have any value, or any of those that Karpenter knows.
    """
    version = release(settings.karpenter.version)
    well_known = aws_well_known(version)
    if pool.node_class.group != AWS_GROUP:
        well_known = CORE_WELL_KNOWN | (_catalog_labels(pool, settings) or frozenset())
    found: dict[str, ValueSet] = {key: _EVERY_VALUE.get(key, anything()) for key in well_known}
    for requirement in template_requirements(pool):
        key = requirement.key
        if key in well_known and key != NODE_POOL:
            values = admitted(requirement) if key in CORE_WELL_KNOWN else anything().meet(admitted(requirement))
            found[key] = values.meet(_EVERY_VALUE[key]) if key in _EVERY_VALUE else values
        else:
            found[key] = label_of_any_node(requirement)
    for old, new in OLDER_NAMES.items():
        found[old] = found[new] if new in found else anything()
    found[HOSTNAME] = exists()
    for key in (REGISTERED, INITIALIZED):
        found[key] = one_of(["true"])
    for key in settings.known_labels:
        found.setdefault(key, anything())
    ref = pool.node_class
    for node_class in inventory.node_classes:
        used = (node_class.group, node_class.kind, node_class.name) == (ref.group, ref.kind, ref.name)
        if used and "node-labels" in node_class.user_data:
            found.update((word, anything()) for word in words(node_class.user_data) if word not in found)
    return found


def label_places(pool: NodePool) -> dict[str, Place]:
    """Where a pool says something of a label."""
    places = {requirement.key: requirement.place for requirement in pool.requirements}
    places.update((label.key, label.place) for label in pool.template_labels.values())
    return places


def knows_all_labels(pool: NodePool, settings: Settings) -> bool:
    """Whether labels that are not listed are surely not there: the provider's own labels are known."""
    return pool.node_class.group == AWS_GROUP or _catalog_labels(pool, settings) is not None


def _catalog_labels(pool: NodePool, settings: Settings) -> frozenset[str] | None:
    """The well-known labels of the catalogue that provides the types of a pool; None when there is none."""
    from unpend.catalog.load import catalog_for, catalogs_of

    ref = pool.node_class
    catalog = catalog_for(catalogs_of(settings), ref.group, ref.kind, pool.name)
    return None if catalog is None else catalog.well_known
