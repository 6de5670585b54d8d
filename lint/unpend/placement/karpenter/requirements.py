"""Requirements on several keys, and whether two sides go together (`karpenter.md` §2.3, §2.5, §2.8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Literal

from unpend.placement.karpenter.requirement import Entry, Requirement, one_of
from unpend.records import dataclass, field

NONE_UNDEFINED: frozenset[str] = frozenset()
"""Existing nodes must define every key that is asked for."""


@dataclass(frozen=True)
class Requirements:
    """A set of requirements, at most one per key, by normalised key; equal keys were intersected when it was built."""

    by_key: Mapping[str, Requirement] = field(default_factory=dict)

    @classmethod
    def of(cls, several: Iterable[Requirement]) -> Requirements:
        """All of these together; entries on one key are intersected."""
        by_key: dict[str, Requirement] = {}
        for requirement in several:
            known = by_key.get(requirement.key)
            by_key[requirement.key] = requirement if known is None else requirement.intersection(known)
        return cls(by_key)

    @classmethod
    def of_labels(cls, labels: Mapping[str, str]) -> Requirements:
        """`key In [value]` for every label."""
        return cls.of(one_of(key, (value,)) for key, value in labels.items())

    @cached_property
    def token(self) -> tuple[Requirement, ...]:
        """The same for equal requirements: a key under which answers are kept."""
        return tuple(self.by_key[key] for key in sorted(self.by_key))

    def __iter__(self) -> Iterator[Requirement]:
        return iter(self.by_key.values())

    def __contains__(self, key: object) -> bool:
        return key in self.by_key

    def get(self, key: str) -> Requirement:
        """The requirement on a key; where there is none, any value does (Exists)."""
        known = self.by_key.get(key)
        return Requirement(key, True, frozenset()) if known is None else known

    def narrowed(self, other: Requirements) -> Requirements:
        """Both together."""
        by_key = dict(self.by_key)
        for key, requirement in other.by_key.items():
            known = by_key.get(key)
            by_key[key] = requirement if known is None else known.intersection(requirement)
        return Requirements(by_key)

    def entries(self) -> tuple[Entry, ...]:
        """How they are written back into a NodeClaim (`R-4`)."""
        return tuple(entry for requirement in self for entry in requirement.entries())

    def clash(self, incoming: Requirements) -> Clash | None:
        """The first key, in sorted order, on which both sides have a requirement and no value for it (Intersects)."""
        small, large = sorted((self.by_key, incoming.by_key), key=len)
        for key in sorted(key for key in small if key in large):
            existing, asked = self.by_key[key], incoming.by_key[key]
            if not existing.overlaps(asked) and not (existing.is_lenient and asked.is_lenient):
                return Clash("overlap", key, asked, existing)
        return None

    def incompatibility(self, incoming: Requirements, may_be_undefined: Set[str]) -> Clash | None:
        """Why this side (NodePool, node, instance type) cannot take the incoming one (Compatible), None when it can.

        `may_be_undefined` are the keys that this side need not define: the well-known ones for a NodePool, none for an
        existing node.
        """
        for key in sorted(incoming.by_key):
            asked = incoming.by_key[key]
            if key not in self.by_key and key not in may_be_undefined and not asked.is_lenient:
                return Clash("undefined", key, asked, None, hint(key, may_be_undefined, self.by_key))
        return self.clash(incoming)

    def is_compatible(self, incoming: Requirements, may_be_undefined: Set[str]) -> bool:
        """Whether this side can take the incoming one."""
        return self.incompatibility(incoming, may_be_undefined) is None


@dataclass(frozen=True, slots=True)
class Clash:
    """Two sides that do not go together: the key, what is asked for, what is there (None: the key is not defined)."""

    kind: Literal["undefined", "overlap"]
    key: str
    asked: Requirement
    existing: Requirement | None
    hint: str | None = None

    def __str__(self) -> str:
        if self.existing is None:
            meant = f' (typo of "{self.hint}"?)' if self.hint else ""
            return f'label "{self.key}" does not have known values{meant}'
        return f"key {self.key}, {self.asked} not in {self.existing}"


def hint(key: str, *known: Iterable[str]) -> str | None:
    """The known label that was perhaps meant by an unknown one; the first group of keys with a candidate decides.

    A candidate contains the key, ends with its name, or differs from it by less than a fifth of its letters. Of several
    the one with the same name after the slash and the fewest differing letters is taken.
    """
    name = key.rpartition("/")[2]
    for keys in known:
        candidates = [k for k in keys if key in k or k.endswith(name) or _is_near(key, k)]
        if candidates:
            return min(candidates, key=lambda k: (k.rpartition("/")[2] != name, edit_distance(key, k), k))
    return None


def _is_near(key: str, known: str) -> bool:
    limit = len(known) // 5
    return abs(len(key) - len(known)) < limit and edit_distance(key, known) < limit


def edit_distance(one: str, two: str) -> int:
    """How many letters have to be put in, taken out or changed."""
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(two, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


@dataclass(frozen=True, slots=True)
class MinValues:
    """Whether instance types carry enough distinct values: `needed` types (in order) are enough, or `short` says where.

    `short` maps each key that is not met to the number of distinct values that all types together carry.
    """

    needed: int | None
    short: Mapping[str, int]

    @property
    def is_met(self) -> bool:
        """Whether every demand is met."""
        return not self.short


def min_values_met(requirements: Requirements, types: Sequence[Mapping[str, Iterable[str]]]) -> MinValues:
    """Count the distinct values of each key with `minValues` over the types, one by one (`karpenter.md` §2.8).

    A type gives for each label key its values; they are not cut down to what the requirements allow.
    """
    demands = {r.key: r.min_values for r in requirements if r.min_values is not None}
    if not demands:
        return MinValues(0, {})
    seen: dict[str, set[str]] = {key: set() for key in demands}
    for count, labels in enumerate(types, 1):
        for key, values in seen.items():
            values.update(labels.get(key, ()))
        if all(len(seen[key]) >= demand for key, demand in demands.items()):
            return MinValues(count, {})
    return MinValues(None, {key: len(seen[key]) for key, demand in demands.items() if len(seen[key]) < demand})
