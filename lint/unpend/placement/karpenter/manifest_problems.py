"""Which rule speaks of what is wrong with a Karpenter object: every problem belongs to exactly one matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from unpend.model.inventory import Inventory, Problem
from unpend.model.karpenter_labels import CAPACITY_TYPE
from unpend.records import dataclass
from unpend.source.document import Object

Matter = Literal["older-version", "label", "capacity-type", "min-values", "pool-field", "class-field"]

_LABELS = frozenset(f"karpenter:N-{number}" for number in (1, 2, 8, 9, 10))
_ORDER: tuple[Matter, ...] = get_args(Matter)


@dataclass(frozen=True, slots=True)
class Told:
    """A problem under its matter.

    `owns` is set for one matter only, where several problems of one object rest on the same rule of the semantics: its
    finding takes the cause over from the general rule on invalid manifests, and the others just speak.
    """

    problem: Problem
    owns: bool


def manifest_problems(inventory: Inventory) -> Mapping[Matter, tuple[Told, ...]]:
    """What is wrong with NodePools, EC2NodeClasses and older kinds of Karpenter, by matter, in reading order."""
    found = [(matter, problem) for problem in inventory.problems if (matter := matter_of(problem)) is not None]
    first: dict[tuple[int, str], Matter] = {}
    for matter, problem in sorted(found, key=lambda pair: _ORDER.index(pair[0])):
        first.setdefault((id(problem.place.object), problem.semantics), matter)
    told: dict[Matter, list[Told]] = {}
    for matter, problem in found:
        owns = first[id(problem.place.object), problem.semantics] == matter
        told.setdefault(matter, []).append(Told(problem, owns))
    return {matter: tuple(problems) for matter, problems in told.items()}


def matter_of(problem: Problem) -> Matter | None:
    """The matter of a problem, None when it is not about an object of Karpenter."""
    holder = problem.place.object
    if not isinstance(holder, Object):
        return None
    if problem.semantics == "karpenter:§1.9":
        return "older-version"
    if holder.kind == "EC2NodeClass":
        return "class-field"
    if holder.kind != "NodePool" or holder.group != "karpenter.sh":
        return None
    if problem.semantics in _LABELS:
        return "label"
    if problem.semantics == "karpenter:N-12" and _key_of(problem) == CAPACITY_TYPE:
        return "capacity-type"
    if problem.semantics == "karpenter:N-4" and problem.place.step == "minValues":
        least = problem.place.value
        return "min-values" if isinstance(least, int) and 1 <= least <= 50 else "pool-field"
    return "pool-field"


def _key_of(problem: Problem) -> str:
    """The key of the requirement that a problem with its values belongs to."""
    requirement = problem.place.parent
    data = requirement.value if requirement is not None else None
    key = data.get("key") if isinstance(data, dict) else None
    return key if isinstance(key, str) else ""
