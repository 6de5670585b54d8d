"""All nodes that the types and offerings of one catalogue could make: one bit for each type in each offering group.

The grid belongs to a catalogue under one node profile in one region, so pools that share these share it, with all
answers it has given. What single pools add (own labels, taints, DaemonSets, limits) is laid over it by them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property

from unpend.algebra import values as true_values
from unpend.algebra.values import ValueSet
from unpend.catalog.aws import region_of
from unpend.catalog.index import OfferingGroup, Shapes
from unpend.catalog.instance import InstanceType
from unpend.model.karpenter_labels import CORE_WELL_KNOWN
from unpend.model.node_labels import ZONE
from unpend.placement.karpenter.requirement import Requirement
from unpend.placement.space import Masks

_MOST_KEPT = 1024


def admitted(requirement: Requirement | None) -> ValueSet:
    """The values of a well-known label that every node has, as far as a requirement leaves them."""
    if requirement is None:
        return true_values.exists()
    if not requirement.complement:
        return true_values.one_of(requirement.values)
    left = true_values.exists().meet(true_values.none_of(requirement.values))
    if requirement.gte is not None:
        left = left.meet(true_values.at_least(requirement.gte))
    if requirement.lte is not None:
        left = left.meet(true_values.at_most(requirement.lte))
    return left


class Grid:
    """Masks over (offering group, type): bit `group * width + type`.

    `groups` are the offerings that can be had; those of a zone that is shifted away are left out. `sold` are the pairs
    that are surely sold, `all` those that may be (A3).
    """

    def __init__(self, shapes: Shapes, well_known: frozenset[str], without_zones: Sequence[str] = ()) -> None:
        self.shapes = shapes
        self.well_known = well_known
        self.width = len(shapes.names)
        self.types = shapes.all
        gone = frozenset(without_zones)
        self.groups = tuple(g for g in shapes.offerings if g.available and not gone & {g.zone, g.zone_id})
        self.all = self.of_groups(lambda _: True)
        self.sold = self._lay(lambda group: group.sure)
        values = [dict(group.values(shapes.region)) for group in self.groups]
        self._values = values
        offered = {key for pairs in values for key in pairs}
        self._open = {key for key in (ZONE, *offered) if shapes.unsaid(key)}
        self.offered = frozenset(offered | self._open)
        self._memo: dict[Hashable, Masks] = {}
        self._spread: dict[int, int] = {}

    def _lay(self, mask_of: Callable[[OfferingGroup], int]) -> int:
        mask = 0
        for number, group in enumerate(self.groups):
            mask |= mask_of(group) << number * self.width
        return mask

    def of_groups(self, takes: Callable[[OfferingGroup], bool]) -> int:
        """All pairs of the groups that are taken."""
        return self._lay(lambda group: group.possible if takes(group) else 0)

    def spread(self, types: int) -> int:
        """The pairs of these types in every group that may sell them."""
        found = self._spread.get(types)
        if found is None:
            found = 0
            for number in range(len(self.groups)):
                found |= types << number * self.width
            found &= self.all
            if len(self._spread) < _MOST_KEPT:
                self._spread[types] = found
        return found

    def collapse(self, mask: int) -> int:
        """The types that are in some pair of a mask."""
        types = 0
        while mask:
            types |= mask & self.types
            mask >>= self.width
        return types

    def groups_of(self, mask: int) -> Iterable[tuple[OfferingGroup, int]]:
        """The groups with a pair in the mask, each with its types."""
        for number, group in enumerate(self.groups):
            types = mask >> number * self.width & self.types
            if types:
                yield group, types

    def type(self, bit: int) -> InstanceType:
        """The type of a pair."""
        return self.shapes.type(bit % self.width)

    def group(self, bit: int) -> OfferingGroup:
        """The offering group of a pair."""
        return self.groups[bit // self.width]

    def defines(self, key: str) -> bool:
        """Whether types or offerings say something of the key: that they have a value, or that they have none."""
        if key in self.offered or self.shapes.values(key):
            return True
        return key in self.well_known and key not in CORE_WELL_KNOWN

    def planned(self, requirement: Requirement) -> Masks:
        """The pairs that Karpenter takes for a requirement (§7.3); all of them where they do not define its key."""
        token = ("planned", requirement.key, requirement)
        found = self._memo.get(token)
        if found is None:
            found = self._memo[token] = self._planned(requirement)
        return found

    def _planned(self, requirement: Requirement) -> Masks:
        key = requirement.key
        if key in self.offered:
            sure = possible = 0
            for number, group in enumerate(self.groups):
                bits = group.possible << number * self.width
                value = self._values[number].get(key)
                if value is not None:
                    answer = (True, True) if requirement.has(value) else (False, False)
                elif key in self._open:
                    answer = self._open_zone(requirement)
                else:
                    answer = (requirement.is_lenient, requirement.is_lenient)
                sure |= bits if answer[0] else 0
                possible |= bits if answer[1] else 0
            return Masks(sure, possible)
        if not self.defines(key):
            return Masks(self.all, self.all)
        types = self.shapes.where(
            key, lambda v: requirement.is_lenient if v is None else requirement.has(v), ("planned", requirement)
        )
        mask = self.spread(types)
        return Masks(mask, mask)

    def _open_zone(self, requirement: Requirement) -> tuple[bool, bool]:
        """Whether a zone whose name is not known surely, and possibly, meets a requirement."""
        left = admitted(requirement)
        if left.is_impossible:
            return False, False
        if left == true_values.exists():
            return True, True
        if left.values is not None and requirement.key == ZONE and self.shapes.region is not None:
            return False, any(region_of(name) in (None, self.shapes.region) for name in left.values)
        return False, True

    def actual(self, key: str, wanted: ValueSet, narrowed: Requirement | None) -> Masks:
        """The pairs whose nodes have a label in the set; the node's value is one that `narrowed` leaves."""
        token = ("actual", key, wanted, narrowed)
        found = self._memo.get(token)
        if found is None:
            found = self._memo[token] = self._actual(key, wanted, narrowed)
        return found

    def _actual(self, key: str, wanted: ValueSet, narrowed: Requirement | None) -> Masks:
        if key in self.offered:
            sure = possible = 0
            for number, group in enumerate(self.groups):
                bits = group.possible << number * self.width
                value = self._values[number].get(key)
                if value is None and key in self._open:
                    relation = admitted(narrowed).relation(wanted)
                    sure |= bits if relation == "surely" else 0
                    possible |= bits if relation != "never" else 0
                elif wanted.admits(value):
                    sure |= bits
                    possible |= bits
            return Masks(sure, possible)
        if not self.defines(key):
            relation = (true_values.anything() if narrowed is None else admitted(narrowed)).relation(wanted)
            return Masks(self.all if relation == "surely" else 0, self.all if relation != "never" else 0)

        def left(value: str | None) -> bool:
            return narrowed is None or (narrowed.is_lenient if value is None else narrowed.has(value))

        good = self.shapes.where(key, lambda v: left(v) and wanted.admits(v), ("good", narrowed, wanted))
        bad = self.shapes.where(key, lambda v: left(v) and not wanted.admits(v), ("bad", narrowed, wanted))
        return Masks(self.spread(good & ~bad), self.spread(good))

    @cached_property
    def _by_price(self) -> tuple[tuple[int, tuple[tuple[float, int], ...]], ...]:
        """The groups that share their prices, as masks of groups, with the types by price."""
        tables: dict[int, tuple[int, tuple[tuple[float, int], ...]]] = {}
        for number, group in enumerate(self.groups):
            known = tables.get(id(group.prices))
            ordered = known[1] if known else tuple(sorted((price, n) for n, price in group.prices.items()))
            tables[id(group.prices)] = ((known[0] if known else 0) | 1 << number, ordered)
        return tuple(tables.values())

    def cheapest(self, mask: int) -> int | None:
        """The pair of a mask with the lowest known price, else the first; None for none."""
        if not mask:
            return None
        best: tuple[float, int] | None = None
        for members, ordered in self._by_price:
            numbers = [n for n in range(len(self.groups)) if members >> n & 1]
            types = 0
            for number in numbers:
                types |= mask >> number * self.width & self.types
            found = next(((price, n) for price, n in ordered if types >> n & 1), None)
            if found is not None and (best is None or found[0] < best[0]):
                bits = (number * self.width + found[1] for number in numbers)
                best = found[0], next(bit for bit in bits if mask >> bit & 1)
        return self._cheapest_type(mask) if best is None else best[1]

    def _cheapest_type(self, mask: int) -> int:
        """The first pair of the type that is cheapest where it has a price: what spot capacity costs is not known."""
        types = self.collapse(mask)
        priced = ((price, n) for _, ordered in self._by_price for price, n in ordered if types >> n & 1)
        cheapest = min(priced, default=None)
        number = (types & -types).bit_length() - 1 if cheapest is None else cheapest[1]
        return next(bit for g in range(len(self.groups)) if mask >> (bit := g * self.width + number) & 1)

    def values(self, key: str) -> dict[str, int]:
        """The known values of a label, each with the pairs that can have it."""
        found: dict[str, int] = {}
        if key in self.offered:
            for number, pairs in enumerate(self._values):
                value = pairs.get(key)
                if value is not None:
                    found[value] = found.get(value, 0) | self.groups[number].possible << number * self.width
            return found
        return {value: self.spread(types) for value, types in self.shapes.values(key).items()}

    def value_at(self, key: str, bit: int) -> str | ValueSet | None:
        """The label of one pair: its value, the set of values it may have, or None for none."""
        if key in self.offered:
            value = self._values[bit // self.width].get(key)
            return true_values.exists() if value is None and key in self._open else value
        if not self.defines(key):
            return true_values.anything() if key in self.well_known else None
        number = 1 << bit % self.width
        names = [value for value, types in self.shapes.values(key).items() if types & number]
        if len(names) > 1:
            return true_values.one_of(names)
        return names[0] if names else None
