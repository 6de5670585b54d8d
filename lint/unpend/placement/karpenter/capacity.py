"""What a node of an instance type can give to pods, as Karpenter reckons it; all amounts in thousandths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from unpend.records import dataclass, field

Amounts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Offering:
    """What one offering changes of its type: resources that it adds or replaces, reserved amounts that it replaces.

    `overhead` lists reserved amounts by kind (kube, system, eviction); None changes nothing.
    """

    available: bool = True
    capacity: Amounts = field(default_factory=dict)
    overhead: tuple[Amounts, ...] | None = None


@dataclass(frozen=True, slots=True)
class OfferingGroup:
    """Offerings (by their number) that give pods the same amounts; absent resources count as 0."""

    allocatable: Amounts
    offerings: tuple[int, ...]


def total(several: Iterable[Amounts]) -> dict[str, int]:
    """The sum, resource by resource."""
    result: dict[str, int] = {}
    for amounts in several:
        for name, amount in amounts.items():
            result[name] = result.get(name, 0) + amount
    return result


def allocatable(capacity: Amounts, reserved: Iterable[Amounts]) -> dict[str, int]:
    """Capacity less what is reserved, and huge pages taken out of the memory.

    An amount may become negative (then nothing fits, `karpenter:I-5`), but huge pages never take memory below 0.
    """
    overhead = total(reserved)
    result = {name: amount - overhead.get(name, 0) for name, amount in capacity.items()}
    for name, amount in capacity.items():
        if name.startswith("hugepages-"):
            result["memory"] = max(0, result.get("memory", 0) - amount)
    return result


def offering_groups(
    capacity: Amounts, reserved: Sequence[Amounts], offerings: Sequence[Offering]
) -> tuple[OfferingGroup, ...]:
    """The available offerings, put together where they give pods the same amounts, in order of appearance.

    An override of the reserved amounts replaces the whole reserved amount of each resource that it names.
    """
    groups: dict[tuple[tuple[str, int], ...], list[int]] = {}
    for number, offering in enumerate(offerings):
        if not offering.available:
            continue
        overhead = total(reserved)
        if offering.overhead is not None:
            overhead.update(total(offering.overhead))
        amounts = allocatable({**capacity, **offering.capacity}, (overhead,))
        groups.setdefault(tuple(sorted(amounts.items())), []).append(number)
    return tuple(OfferingGroup(dict(amounts), tuple(numbers)) for amounts, numbers in groups.items())
