"""The types of one catalogue as numbered bits: which of them have a label, an amount, an offering.

A mask is an integer with one bit per instance type, bit 0 the first name. Everything is worked out when it is first
asked for and kept, so that an index costs what is asked of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from unpend.algebra.values import ValueSet
from unpend.catalog.instance import InstanceType
from unpend.model.node_labels import AWS_ZONE_ID, CAPACITY_TYPE, REGION, ZONE
from unpend.records import dataclass, field

Column = Sequence[int]
"""One amount per type, in thousandths; 0 where the type does not have the resource."""


def bits(mask: int) -> Iterator[int]:
    """The numbers of the types in a mask, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


@dataclass(frozen=True, slots=True)
class Fit:
    """Masks of the types that surely, and that possibly, have enough of something."""

    sure: int
    possible: int

    def __and__(self, other: Fit) -> Fit:
        return Fit(self.sure & other.sure, self.possible & other.possible)


class Resources:
    """Allocatable amounts of all types, sorted per resource so that "at least so much" is one search (I-5)."""

    __slots__ = ("_all", "_columns", "_sorted", "_usable")

    def __init__(self, columns: Mapping[str, tuple[Column, Column]], count: int) -> None:
        """`columns` has the lowest and the highest possible amount per type; they may be the same sequence."""
        self._columns = columns
        self._all = (1 << count) - 1
        self._sorted: dict[tuple[str, bool], tuple[list[int], list[int]]] = {}
        self._usable: Fit | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The resources that at least one type has."""
        return tuple(self._columns)

    @property
    def usable(self) -> Fit:
        """The types without any negative amount; others fit nothing."""
        if self._usable is None:
            sure = possible = self._all
            for name in self._columns:
                low, high = self.levels(name)
                sure &= low
                possible &= high
            self._usable = Fit(sure, possible)
        return self._usable

    def levels(self, name: str, amount: int = 0) -> tuple[int, int]:
        """Masks of the types whose lowest, and whose highest, amount is at least `amount`."""
        return self._at_least(name, False, amount), self._at_least(name, True, amount)

    def fits(self, name: str, amount: int) -> Fit:
        """The types with at least `amount` thousandths; a resource that no type has is only enough for 0 (I-6, I-7)."""
        if name not in self._columns:
            enough = self._all if amount <= 0 else 0
            return Fit(enough, enough)
        return Fit(*self.levels(name, amount))

    def takes(self, requests: Mapping[str, int]) -> Fit:
        """The types on which all the requests (thousandths) fit."""
        result = self.usable
        for name, amount in requests.items():
            result = result & self.fits(name, amount)
            if not result.possible:
                break
        return result

    def amount(self, name: str, number: int) -> tuple[int, int]:
        """Lowest and highest possible amount of one type."""
        if name not in self._columns:
            return 0, 0
        low, high = self._columns[name]
        return low[number], high[number]

    def largest(self, name: str, mask: int) -> tuple[int, int]:
        """The largest low and the largest high amount among the types of a mask; (0, 0) for none."""
        if not mask or name not in self._columns:
            return 0, 0
        low, high = self._columns[name]
        numbers = tuple(bits(mask))
        return max(low[n] for n in numbers), max(high[n] for n in numbers)

    def without(self, taken: Sequence[tuple[int, Mapping[str, int]]]) -> Resources:
        """What is left when the types of each mask give up these amounts (DaemonSets); masks may overlap."""
        columns = dict(self._columns)
        count = self._all.bit_length()
        for name in dict.fromkeys(name for _, amounts in taken for name in amounts):
            low, high = columns.get(name, ((0,) * count, (0,) * count))
            lows = list(low)
            highs = lows if high is low else list(high)
            for mask, amounts in taken:
                amount = amounts.get(name, 0)
                if not amount:
                    continue
                for number in bits(mask):
                    lows[number] -= amount
                    if highs is not lows:
                        highs[number] -= amount
            columns[name] = lows, highs
        return Resources(columns, count)

    def _at_least(self, name: str, high: bool, amount: int) -> int:
        low_column, high_column = self._columns[name]
        if high_column is low_column:
            high = False
        found = self._sorted.get((name, high))
        if found is None:
            found = self._sorted[name, high] = _sort(high_column if high else low_column)
        amounts, masks = found
        return masks[bisect_left(amounts, amount)]


def _sort(column: Column) -> tuple[list[int], list[int]]:
    """Distinct amounts ascending, and for each the mask of the types with at least that; a last mask is 0."""
    by_amount: dict[int, list[int]] = {}
    for number, amount in enumerate(column):
        by_amount.setdefault(amount, []).append(1 << number)
    amounts = sorted(by_amount)
    masks = [0] * (len(amounts) + 1)
    for position in range(len(amounts) - 1, -1, -1):
        masks[position] = masks[position + 1] | sum(by_amount[amounts[position]])
    return amounts, masks


@dataclass(frozen=True, slots=True)
class OfferingGroup:
    """All types that are sold in one zone with one capacity type.

    `sure` are the types that are sold there; `possible` those that may be (a zone name without known zone ID, A3).
    `labels` are those of the offering alone, as (key, value) pairs. `resources` is None where the amounts are those of
    the types, else it holds for nodes from this group. `prices` has the price per type number where it is known.
    `available` is false for a group that exists but cannot be had now. `counts` bounds reserved capacity.
    """

    zone: str
    zone_id: str
    capacity_type: str
    sure: int
    possible: int
    available: bool = True
    labels: tuple[tuple[str, str], ...] = ()
    resources: Resources | None = field(default=None, compare=False)
    prices: Mapping[int, float] = field(default_factory=dict, compare=False)
    counts: Mapping[int, int] = field(default_factory=dict, compare=False)

    def values(self, region: str | None) -> tuple[tuple[str, str], ...]:
        """The labels that this offering gives to a node, as far as they are known."""
        known = (
            (CAPACITY_TYPE, self.capacity_type),
            (ZONE, self.zone),
            (AWS_ZONE_ID, self.zone_id),
            (REGION, region or ""),
        )
        return tuple(pair for pair in known if pair[1]) + self.labels


class Shapes:
    """The instance types of one catalogue under one node profile in one region: what a pool is made of.

    `label_masks` gives for a key the mask of the types per value that they can have; a type may be under several.
    """

    __slots__ = (
        "_answers",
        "_capacity",
        "_capacity_found",
        "_find",
        "_make",
        "_masks",
        "_open_keys",
        "_types",
        "all",
        "names",
        "offerings",
        "region",
        "resources",
    )

    def __init__(
        self,
        names: Sequence[str],
        label_masks: Callable[[str], Mapping[str, int]],
        resources: Resources,
        offerings: Sequence[OfferingGroup],
        make: Callable[[int], InstanceType],
        region: str | None = None,
        open_keys: Sequence[str] = (ZONE,),
        capacity: Callable[[], Resources] | None = None,
    ) -> None:
        """`open_keys` are keys of offerings that every node has, with a value that may be unknown here."""
        self.names = tuple(names)
        self.all = (1 << len(self.names)) - 1
        self.resources = resources
        self.offerings = tuple(offerings)
        self.region = region
        self._open_keys = frozenset(open_keys)
        self._find = label_masks
        self._make = make
        self._capacity = capacity
        self._capacity_found: Resources | None = None
        self._masks: dict[str, Mapping[str, int]] = {}
        self._answers: dict[tuple[str, Hashable], int] = {}
        self._types: dict[int, InstanceType] = {}

    def values(self, key: str) -> Mapping[str, int]:
        """The values that types can have for a label key, each with the mask of its types."""
        found = self._masks.get(key)
        if found is None:
            found = self._masks[key] = self._find(key)
        return found

    def unsaid(self, key: str) -> int:
        """The types that can have a value of the key that is not known: sold in a zone whose name, or ID, is not."""
        if key not in self._open_keys:
            return 0
        mask = 0
        for group in self.offerings:
            if all(name != key for name, _ in group.values(self.region)):
                mask |= group.possible
        return mask

    def absent(self, key: str) -> int:
        """The types that never carry the key."""
        return self.where(key, lambda value: value is None, "absent") & ~self.unsaid(key)

    def may(self, key: str, allowed: ValueSet) -> int:
        """The types that can have an allowed value (or lack the key, where that is allowed)."""
        if allowed.admits_present or key not in self._open_keys:
            return self.where(key, allowed.admits, allowed) | (self.unsaid(key) if allowed.admits_present else 0)
        return self.where(key, allowed.admits, allowed) & ~self.unsaid(key)

    def must(self, key: str, allowed: ValueSet) -> int:
        """The types that cannot have any value but an allowed one."""
        surely = self.all & ~self.where(key, lambda value: not allowed.admits(value), ("not", allowed))
        return surely & ~self.unsaid(key)

    def where(self, key: str, admits: Callable[[str | None], bool], token: Hashable) -> int:
        """The types with a known value that the predicate takes (None: no such label); kept under (key, token)."""
        answer = self._answers.get((key, token))
        if answer is None:
            answer = carried = 0
            for value, mask in self.values(key).items():
                carried |= mask
                if admits(value):
                    answer |= mask
            if admits(None):
                answer |= self.all & ~carried
            self._answers[key, token] = answer
        return answer

    @property
    def capacity(self) -> Resources:
        """What nodes of the types have in all: what limits of a NodePool are counted in (karpenter L-1, L-5)."""
        if self._capacity_found is None:
            self._capacity_found = self._capacity() if self._capacity else self.resources
        return self._capacity_found

    def type(self, number: int) -> InstanceType:
        """One type, in full."""
        found = self._types.get(number)
        if found is None:
            found = self._types[number] = self._make(number)
        return found

    def named(self, mask: int) -> tuple[str, ...]:
        """The names of the types in a mask."""
        return tuple(self.names[number] for number in bits(mask))
