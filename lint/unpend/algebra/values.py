"""The set of values that a node label may have: what one label requirement, or several together, allow.

A `ValueSet` says for every label value, and for the label not being there at all, whether it is allowed. Absent (the
label must not be there), impossible (nothing is allowed) and anything (nothing is known or asked) are three different
sets.

The values are label values: texts of at most 63 characters (`A-1501`). A number is a text of digits that fits a signed
64-bit integer, as Go reads it (`P-507`, `P-508`): `007` is 7, `1_0`, `8.0` and `16Gi` are no numbers, and `+5` and `-5`
can never be the value of a label. So `02` and `2` are different values with one number, and excluding `2` from the
numbers 2 to 2 leaves `02`, `002` and so on.

Sets are canonical: two sets are equal exactly when they allow the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal

from unpend.algebra.syntax import is_label_value
from unpend.records import dataclass

LARGEST = 2**63 - 1
"""The largest number that a label value can stand for."""

_LONGEST = 63
_FEWEST_SPELLINGS = _LONGEST + 1 - len(str(LARGEST))

Relation = Literal["surely", "possibly", "never"]
"""How a label of which only the possible values are known stands to a requirement."""

_Form = Literal["listed", "all", "numbers"]


def number_of(value: str) -> int | None:
    """The number that Gt and Lt see in a label value, None when it is none (`P-507`)."""
    if not (value.isascii() and value.isdigit()) or len(value) > _LONGEST:
        return None
    number = int(value)
    return number if number <= LARGEST else None


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A set of label values, perhaps with "the label is absent" as a further member.

    Build it with the functions of this module only. `form` tells how the values are described: `listed` (exactly
    `names`), `all` (every value but `names`), or `numbers` (every spelling of the numbers `low` to `high` but `names`).
    """

    admits_absent: bool
    form: _Form
    names: frozenset[str]
    low: int = 0
    high: int = 0

    @property
    def is_impossible(self) -> bool:
        """Whether nothing is allowed, not even that the label is absent."""
        return not self.admits_absent and not self.admits_present

    @property
    def admits_present(self) -> bool:
        """Whether some value is allowed."""
        return self.form != "listed" or bool(self.names)

    @property
    def values(self) -> frozenset[str] | None:
        """The allowed values when they are listed one by one; None when they are described otherwise."""
        return self.names if self.form == "listed" else None

    def admits(self, value: str | None) -> bool:
        """Whether a node whose label has this value (None: has no such label) is allowed."""
        if value is None:
            return self.admits_absent
        if self.form == "listed":
            return value in self.names
        if self.form == "all":
            return value not in self.names
        number = number_of(value)
        return number is not None and self.low <= number <= self.high and value not in self.names

    def meet(self, other: ValueSet) -> ValueSet:
        """What both allow."""
        if self is other or other is _ANYTHING:
            return self
        if self is _ANYTHING:
            return other
        return _meet(self, other)

    def overlaps(self, other: ValueSet) -> bool:
        """Whether something is allowed by both."""
        return not self.meet(other).is_impossible

    def is_subset(self, other: ValueSet) -> bool:
        """Whether everything that this set allows is allowed by the other too."""
        return self.meet(other) == self

    def relation(self, requirement: ValueSet) -> Relation:
        """Whether a label whose value is somewhere in this set meets the requirement.

        `surely` for every value that it can have, `never` for none, else `possibly`. A label that can have no value at
        all and cannot be absent either never meets anything.
        """
        both = self.meet(requirement)
        if both.is_impossible:
            return "never"
        return "surely" if both == self else "possibly"

    def __str__(self) -> str:
        parts = []
        if self.form == "listed":
            if self.names:
                parts.append(_list(self.names))
        elif self.form == "all":
            parts.append("any value" + (f" but {_list(self.names)}" if self.names else ""))
        else:
            parts.append(_interval(self.low, self.high) + (f" but {_list(self.names)}" if self.names else ""))
        if self.admits_absent:
            parts.append("absent")
        return " or ".join(parts) or "nothing"


def _list(names: Iterable[str]) -> str:
    shown = sorted(names)
    more = f" and {len(shown) - 8} more" if len(shown) > 8 else ""
    return ", ".join(name or '""' for name in shown[:8]) + more


def _interval(low: int, high: int) -> str:
    if high == LARGEST:
        return f"a number of at least {low}"
    return f"the number {low}" if low == high else f"a number from {low} to {high}"


_NOTHING: frozenset[str] = frozenset()
_ANYTHING = ValueSet(True, "all", _NOTHING)
_EXISTS = ValueSet(False, "all", _NOTHING)
_ABSENT = ValueSet(True, "listed", _NOTHING)
_IMPOSSIBLE = ValueSet(False, "listed", _NOTHING)


def anything() -> ValueSet:
    """Every value, or no such label: nothing is asked, or nothing is known."""
    return _ANYTHING


def exists() -> ValueSet:
    """Every value, but the label must be there."""
    return _EXISTS


def absent() -> ValueSet:
    """The label must not be there."""
    return _ABSENT


def impossible() -> ValueSet:
    """Nothing is allowed."""
    return _IMPOSSIBLE


def one_of(values: Iterable[str]) -> ValueSet:
    """Exactly these values; the label must be there."""
    return _listed(False, frozenset(values))


def none_of(values: Iterable[str]) -> ValueSet:
    """Every value but these; the label may be absent."""
    return ValueSet(True, "all", frozenset(values))


def greater(number: int) -> ValueSet:
    """Numbers above this one."""
    return at_least(number + 1)


def less(number: int) -> ValueSet:
    """Numbers below this one."""
    return at_most(number - 1)


def at_least(number: int) -> ValueSet:
    """Numbers from this one on."""
    return _numbers(False, max(number, 0), LARGEST, _NOTHING)


def at_most(number: int) -> ValueSet:
    """Numbers up to this one."""
    return _numbers(False, 0, min(number, LARGEST), _NOTHING)


def _meet(left: ValueSet, right: ValueSet) -> ValueSet:
    may_be_absent = left.admits_absent and right.admits_absent
    if left.form == "listed" or right.form == "listed":
        few, other = (left, right) if left.form == "listed" else (right, left)
        return _listed(may_be_absent, frozenset(name for name in few.names if other.admits(name)))
    excluded = left.names | right.names
    if left.form == "all" and right.form == "all":
        return ValueSet(may_be_absent, "all", excluded)
    low = max(s.low for s in (left, right) if s.form == "numbers")
    high = min(s.high for s in (left, right) if s.form == "numbers")
    return _numbers(may_be_absent, low, high, excluded)


# Canonical form. A set of spellings of numbers can be described in two ways: listed, or as an interval with exclusions.
# With `low` and `high` the smallest and largest number that occur, it is listed exactly when at most half of the
# spellings of that interval are in it. That depends on nothing but the set, so equal sets are equal objects, and
# neither description is ever much longer than what was written.


def _listed(may_be_absent: bool, names: frozenset[str]) -> ValueSet:
    if len(names) >= _FEWEST_SPELLINGS // 2:
        numbers = [number_of(name) for name in names]
        known = [number for number in numbers if number is not None]
        if len(known) == len(numbers):
            low, high = min(known), max(known)
            if 2 * len(names) > _count_spellings(low, high):
                excluded = frozenset(s for s in _spellings(low, high) if s not in names)
                return ValueSet(may_be_absent, "numbers", excluded, low, high)
    return ValueSet(may_be_absent, "listed", names)


def _numbers(may_be_absent: bool, low: int, high: int, excluded: frozenset[str]) -> ValueSet:
    inside: dict[int, set[str]] = {}
    for name in excluded:
        number = number_of(name)
        if number is not None and low <= number <= high:
            inside.setdefault(number, set()).add(name)
    while low <= high and len(inside.get(low, ())) == _count_spellings(low, low):
        del inside[low]
        low += 1
    while low <= high and len(inside.get(high, ())) == _count_spellings(high, high):
        del inside[high]
        high -= 1
    if low > high:
        return ValueSet(may_be_absent, "listed", _NOTHING)
    names = frozenset(name for group in inside.values() for name in group)
    if 2 * len(names) >= _count_spellings(low, high):
        return ValueSet(may_be_absent, "listed", frozenset(s for s in _spellings(low, high) if s not in names))
    return ValueSet(may_be_absent, "numbers", names, low, high)


def _count_spellings(low: int, high: int) -> int:
    """How many label values stand for the numbers `low` to `high`: each may be led by zeros up to 63 characters."""
    total = 0
    for digits in range(1, len(str(LARGEST)) + 1):
        first = max(low, 0 if digits == 1 else 10 ** (digits - 1))
        last = min(high, 10**digits - 1)
        total += max(0, last - first + 1) * (_LONGEST + 1 - digits)
    return total


def _spellings(low: int, high: int) -> Iterator[str]:
    for number in range(low, high + 1):
        text = str(number)
        for length in range(len(text), _LONGEST + 1):
            yield text.zfill(length)


def from_expression(operator: str, values: Sequence[str]) -> ValueSet:
    """What one match expression of a selector allows (`P-507`, `P-508`).

    Besides the operators of Kubernetes, `Gte` and `Lte` of Karpenter are known. An expression that cannot be parsed
    (unknown operator, wrong number of values, a value that cannot be a label value, a bound that is no number) matches
    nothing.
    """
    return _from_expression(operator, tuple(values))


@lru_cache(maxsize=8192)
def _from_expression(operator: str, values: tuple[str, ...]) -> ValueSet:
    if not all(is_label_value(value) for value in values):
        return _IMPOSSIBLE
    if operator in ("In", "NotIn"):
        if not values:
            return _IMPOSSIBLE
        return one_of(values) if operator == "In" else none_of(values)
    if operator in ("Exists", "DoesNotExist"):
        if values:
            return _IMPOSSIBLE
        return _EXISTS if operator == "Exists" else _ABSENT
    bound = _BOUNDS.get(operator)
    number = number_of(values[0]) if len(values) == 1 else None
    return _IMPOSSIBLE if bound is None or number is None else bound(number)


_BOUNDS = {"Gt": greater, "Lt": less, "Gte": at_least, "Lte": at_most}
