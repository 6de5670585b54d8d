"""What a catalogue says about one instance type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from unpend.records import dataclass, field


class Interval(NamedTuple):
    """An amount in thousandths of its unit that is known to lie between two numbers, both possible.

    `low` is what can be counted on, `high` what may be there at most; they are equal where the amount is known.
    """

    low: int
    high: int

    @property
    def exact(self) -> bool:
        """Whether there is only one possible amount."""
        return self.low == self.high


def exactly(milli: int) -> Interval:
    """An amount that is known."""
    return Interval(milli, milli)


@dataclass(frozen=True, slots=True)
class Offering:
    """One way to buy an instance type: a zone and a capacity type.

    `zone` is the zone name, `""` when only the zone ID is known, and the other way round. `price` is USD an hour, None
    when unknown. `labels` are those that only this offering gives (a reservation). `capacity` replaces amounts of the
    type's capacity (thousandths), `overhead` amounts of a section of its overhead, for nodes from this offering.
    `count` is how many can be had of a reserved offering, None without a bound.
    """

    zone: str
    capacity_type: str
    price: float | None = None
    available: bool = True
    zone_id: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    capacity: tuple[tuple[str, int], ...] = ()
    overhead: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()
    count: int | None = None


@dataclass(frozen=True, slots=True)
class InstanceType:
    """An instance type with everything that decides a placement.

    `labels` has the values that a node of the type can have per key; a key that is not there is on no node of the type.
    A node picks one of several (`kubernetes.io/os` of a type that runs linux and windows). Amounts are in thousandths
    of the unit.
    """

    name: str
    labels: Mapping[str, tuple[str, ...]]
    capacity: Mapping[str, Interval]
    allocatable: Mapping[str, Interval]
    offerings: tuple[Offering, ...] = field(default=())
