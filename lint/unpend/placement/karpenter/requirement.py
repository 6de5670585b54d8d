"""One requirement in Karpenter's own arithmetic (`karpenter.md` §2.1, §2.2).

It is not set algebra: a contradiction *is* DoesNotExist and from then on asks for the label to be absent, and two
negative requirements always overlap. `unpend.algebra.values` has the true sets, which kube-scheduler goes by.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unpend.algebra import values as true_values
from unpend.algebra.values import ValueSet, number_of
from unpend.model.karpenter_labels import normalized
from unpend.records import dataclass

LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Entry:
    """A requirement as it is written in a NodeClaim: key, operator, values, `minValues`."""

    key: str
    operator: str
    values: tuple[str, ...] = ()
    min_values: int | None = None


@dataclass(frozen=True, slots=True)
class Requirement:
    """What is asked of one label key.

    With `complement`, `values` are excluded, else they are the only ones allowed. `gte` and `lte` are inclusive bounds
    on values that are integers. Build it with `requirement()`; `key` is normalised there.
    """

    key: str
    complement: bool
    values: frozenset[str]
    gte: int | None = None
    lte: int | None = None
    min_values: int | None = None

    @property
    def operator(self) -> str:
        """In, NotIn, Exists or DoesNotExist; bounds do not show in it (`karpenter.md` §2.1)."""
        if self.complement:
            return "NotIn" if self.values else "Exists"
        return "In" if self.values else "DoesNotExist"

    @property
    def is_lenient(self) -> bool:
        """Whether a label that is not there meets it in a comparison of two sides."""
        return self.complement == bool(self.values)

    @property
    def length(self) -> int:
        """How many values it leaves, as Karpenter counts: bounds play no part."""
        return LARGEST - len(self.values) if self.complement else len(self.values)

    def has(self, value: str) -> bool:
        """Whether the value is admitted (`R-1`); with any bound, a value that is no integer is not."""
        return (value in self.values) != self.complement and self._within(value)

    def _within(self, value: str) -> bool:
        return within(value, self.gte, self.lte)

    def intersection(self, other: Requirement) -> Requirement:
        """This requirement narrowed by another on the same key (`R-2`)."""
        gte = _largest(self.gte, other.gte)
        lte = _smallest(self.lte, other.lte)
        min_values = _largest(self.min_values, other.min_values)
        if gte is not None and lte is not None and gte > lte:
            return Requirement(self.key, False, frozenset(), None, None, min_values)
        complement = self.complement and other.complement
        if complement:
            names = self.values | other.values
        elif self.complement:
            names = other.values - self.values
        elif other.complement:
            names = self.values - other.values
        else:
            names = self.values & other.values
        if gte is not None or lte is not None:
            names = frozenset(name for name in names if within(name, gte, lte))
        if not complement:
            gte = lte = None
        return Requirement(self.key, complement, names, gte, lte, min_values)

    def overlaps(self, other: Requirement) -> bool:
        """Whether Karpenter sees a value for both (`R-3`); two complements do unless their bounds cross."""
        gte = _largest(self.gte, other.gte)
        lte = _smallest(self.lte, other.lte)
        if gte is not None and lte is not None and gte > lte:
            return False
        if self.complement and other.complement:
            return True
        listed, opposite = (other, self) if self.complement else (self, other)
        return any(opposite.has(name) and within(name, gte, lte) for name in listed.values)

    def entries(self) -> tuple[Entry, ...]:
        """How it is written back: with a bound only the bounds, so excluded values get lost (`R-4`)."""
        if self.gte is None and self.lte is None:
            return (Entry(self.key, self.operator, tuple(sorted(self.values)), self.min_values),)
        bounds = (("Gte", self.gte), ("Lte", self.lte))
        return tuple(Entry(self.key, op, (str(n),), self.min_values) for op, n in bounds if n is not None)

    def launched(self) -> ValueSet:
        """The values that a custom label can have on a node that is launched with it (`karpenter.md` §2.7).

        One of the listed values; no label for DoesNotExist; for everything open a random integer within the bounds.
        """
        if not self.complement:
            return true_values.one_of(self.values) if self.values else true_values.absent()
        low = true_values.at_least(0 if self.gte is None else self.gte)
        if self.lte is None:
            # The number is drawn from so many that it is none of a few that are excluded.
            return low.meet(true_values.at_most(LARGEST)).meet(true_values.none_of(self.values))
        return low.meet(true_values.at_most(self.lte))

    def __str__(self) -> str:
        shown = self.operator
        if self.values:
            names = sorted(self.values)
            more = f" and {len(names) - 5} others" if len(names) > 5 else ""
            shown += f" [{', '.join(names[:5])}{more}]"
        if self.gte is not None:
            shown += f" >={self.gte}"
        if self.lte is not None:
            shown += f" <={self.lte}"
        return shown


def requirement(key: str, operator: str, values: Sequence[str] = (), min_values: int | None = None) -> Requirement:
    """A requirement from what is written (`karpenter.md` §2.1).

    Karpenter has validated it before (`N-4`, `P-5`); of what it would refuse, a bound that is no integer counts as 0
    here, and an unknown operator as DoesNotExist. Values of Exists and DoesNotExist are ignored. Above the largest
    integer nothing is left: that is DoesNotExist, and its `minValues` is lost.
    """
    key = normalized(key)
    if operator in ("In", "NotIn"):
        return Requirement(key, operator == "NotIn", frozenset(values), None, None, min_values)
    if operator == "Exists":
        return Requirement(key, True, frozenset(), None, None, min_values)
    if operator in ("Gt", "Gte", "Lt", "Lte"):
        bound = (number_of(values[0]) if values else None) or 0
        if operator == "Gt" and bound == LARGEST:
            return Requirement(key, False, frozenset())
        gte = {"Gt": bound + 1, "Gte": bound}.get(operator)
        lte = {"Lt": bound - 1, "Lte": bound}.get(operator)
        return Requirement(key, True, frozenset(), gte, lte, min_values)
    return Requirement(key, False, frozenset(), None, None, min_values)


def one_of(key: str, values: Iterable[str]) -> Requirement:
    """`key In values`."""
    return Requirement(normalized(key), False, frozenset(values))


def within(value: str, gte: int | None, lte: int | None) -> bool:
    """Whether a value lies within the bounds; with a bound, only integers do (`R-1`)."""
    if gte is None and lte is None:
        return True
    number = number_of(value)
    return number is not None and (gte is None or number >= gte) and (lte is None or number <= lte)


def _largest(one: int | None, two: int | None) -> int | None:
    return one if two is None else two if one is None else max(one, two)


def _smallest(one: int | None, two: int | None) -> int | None:
    return one if two is None else two if one is None else min(one, two)
