"""Which labels the nodes of each pool have or could have: what label rules compare a selector with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from unpend.algebra.values import ValueSet, absent, anything, one_of
from unpend.model.inventory import Inventory
from unpend.placement.demand import Alternative
from unpend.records import dataclass, field
from unpend.settings import Settings
from unpend.source.place import Place


@dataclass(frozen=True, slots=True)
class PoolLabels:
    """The labels of one pool: for each key the values its nodes may have, `otherwise` for every other key."""

    pool: str
    labels: Mapping[str, ValueSet]
    place: Place = field(compare=False)
    places: Mapping[str, Place] = field(default_factory=dict, compare=False)
    otherwise: ValueSet = field(default_factory=absent)

    def of(self, key: str) -> ValueSet:
        """The values that the label may have on a node of this pool, absence included where it may be missing."""
        return self.labels.get(key, self.otherwise)

    def could_match(self, alternative: Alternative) -> bool:
        """Whether some node of this pool could have labels that the alternative accepts: necessary, key by key."""
        if alternative.broken:
            return False
        return all(self.of(key).overlaps(values) for key, values in alternative.folded.items())


@dataclass(frozen=True)
class LabelSupply:
    """The labels of all pools. `opaque` is set when there is capacity whose labels nobody can tell."""

    pools: tuple[PoolLabels, ...]
    opaque: bool = False

    @cached_property
    def values(self) -> Mapping[str, frozenset[str]]:
        """For each key that some pool lists values of: all of those values."""
        found: dict[str, set[str]] = {}
        for pool in self.pools:
            for key, values in pool.labels.items():
                found.setdefault(key, set()).update(values.values or ())
        return {key: frozenset(values) for key, values in found.items()}

    @cached_property
    def _offers(self) -> dict[str, frozenset[ValueSet]]:
        return {}

    def offers(self, key: str) -> frozenset[ValueSet]:
        """What pools have under a key; thousands of Nodes have few different values."""
        found = self._offers.get(key)
        if found is None:
            found = self._offers[key] = frozenset(pool.of(key) for pool in self.pools)
        return found

    def admits(self, key: str, value: str) -> bool:
        """Whether some pool may have this value under the key."""
        return any(offer.admits(value) for offer in self.offers(key))

    def defines(self, key: str) -> bool:
        """Whether some pool has, or may have, a label with this key."""
        return self.opaque or any(offer.admits_present for offer in self.offers(key))

    def surely_unmatched(self, alternative: Alternative) -> bool:
        """Whether surely no pool has labels that the alternative accepts; False where there are no pools at all."""
        if self.opaque or not self.pools:
            return False
        if not all(any(offer.overlaps(v) for offer in self.offers(k)) for k, v in alternative.folded.items()):
            return True
        return not any(pool.could_match(alternative) for pool in self.pools)


def label_supply(inventory: Inventory, settings: Settings) -> LabelSupply:
    """The labels of all pools of an inventory."""
    pools = (*_of_nodes(inventory), *_of_groups(inventory, settings), *_of_node_pools(inventory, settings))
    return LabelSupply(pools, opaque=bool(inventory.unread_capacity))


def _of_node_pools(inventory: Inventory, settings: Settings) -> Iterable[PoolLabels]:
    if not inventory.node_pools:
        return
    from unpend.placement.karpenter.supply import knows_all_labels, label_places, labels_of_pool

    for pool in inventory.node_pools:
        otherwise = absent() if knows_all_labels(pool, settings) else anything()
        labels = labels_of_pool(pool, inventory, settings)
        yield PoolLabels(f"NodePool/{pool.name}", labels, pool.place, label_places(pool), otherwise)


def _of_groups(inventory: Inventory, settings: Settings) -> Iterable[PoolLabels]:
    if not inventory.node_groups:
        return
    from unpend.placement.cluster_autoscaler.groups import Groups

    for group in Groups(inventory, settings).groups:
        labels: dict[str, ValueSet] = {}
        for shape in group.views.actual(group.group):
            for key, value in shape.labels.items():
                values = one_of([value]) if isinstance(value, str) else value
                labels[key] = union(labels[key], values) if key in labels else values
        otherwise = anything() if "labels" in group.group.hidden else absent()
        places = {key: label.place for key, label in group.group.labels.items()}
        yield PoolLabels(group.name, labels, group.group.place, places, otherwise)


def union(left: ValueSet, right: ValueSet) -> ValueSet:
    """The values of either set, or more where both are no lists."""
    if left == right:
        return left
    if left.values is None or right.values is None:
        return anything()
    both = one_of(left.values | right.values)
    if left.admits_absent or right.admits_absent:
        return ValueSet(True, both.form, both.names, both.low, both.high)
    return both


def _of_nodes(inventory: Inventory) -> Iterable[PoolLabels]:
    for node in inventory.nodes:
        yield PoolLabels(
            f"Node/{node.name}",
            {key: one_of([label.value]) for key, label in node.labels.items()},
            node.place,
            {key: label.place for key, label in node.labels.items()},
        )
