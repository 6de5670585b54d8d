"""PodDisruptionBudgets over workloads: which pods they cover, and whether they ever let one go (`karpenter.md` §9.4).

A budget that can never allow an eviction holds every node that one of its pods stands on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from unpend.algebra.selectors import matches
from unpend.model.inventory import Autoscaler, IntOrPercent, Inventory, PodDisruptionBudget, Workload
from unpend.placement.given import FactsLike
from unpend.placement.needed import autoscalers_by_target, replicas_of
from unpend.records import dataclass

NOT_SCALED = frozenset({"DaemonSet", "Job", "CronJob", "Pod"})
"""Kinds whose pods have no owner with a scale subresource (`karpenter:D-33`)."""

SCALED = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController", "Rollout"})
"""Kinds whose number of pods the budget controller can look up, and so can we."""

Blocked = Literal["form", "no-scale", "replicas", "rounding", "unset"]
"""Why a budget lets nothing go.

`form`: it says so by itself (D-31, D-32); `no-scale`: its pods have no expected number (D-33); `replicas`: a whole
number that takes all replicas there are at the least; `rounding`: a percentage that does so once rounded up; `unset`:
it has neither field.
"""


@dataclass(frozen=True, slots=True)
class Floor:
    """The fewest pods of a workload in its steady state, where that comes from, and whether it is only the default."""

    replicas: int
    autoscaler: Autoscaler | None = None
    is_default: bool = False


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a budget allows at the fewest replicas: `expected` pods, of which `healthy` have to stay.

    `blocked` None: at least one may go. `sure` is False where an unseen autoscaler could keep more replicas.
    """

    budget: PodDisruptionBudget
    workloads: tuple[Workload, ...]
    expected: int
    healthy: int
    blocked: Blocked | None = None
    sure: bool = True

    @property
    def allowed(self) -> int:
        """How many pods may be evicted at once."""
        return 0 if self.blocked else max(self.expected - self.healthy, 0)


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which workloads each budget covers, by position, and which budgets cover each workload, by its id."""

    budgets: tuple[PodDisruptionBudget, ...]
    workloads: tuple[tuple[Workload, ...], ...]
    of_workload: Mapping[str, tuple[PodDisruptionBudget, ...]]
    floors: Mapping[str, Floor]

    def rulings(self) -> tuple[Ruling, ...]:
        """The ruling on every budget, in reading order."""
        return tuple(rule(b, w, self.floors) for b, w in zip(self.budgets, self.workloads, strict=True))


def coverage(inventory: Inventory) -> Coverage:
    """Budgets and workloads of an inventory by namespace and selector (`D-30`); an absent selector covers nothing."""
    index = _Index(inventory.workloads if inventory.disruption_budgets else ())
    covered: list[tuple[Workload, ...]] = []
    of_workload: dict[str, list[PodDisruptionBudget]] = {}
    for budget in inventory.disruption_budgets:
        found = index.covered(budget)
        covered.append(found)
        for workload in found:
            known = of_workload.setdefault(workload.id, [])
            # Overlays bring copies of one object: a budget does not overlap with itself.
            if all((one.namespace, one.name) != (budget.namespace, budget.name) for one in known):
                known.append(budget)
    autoscalers = autoscalers_by_target(inventory)
    floors = {w.id: floor_of(w, autoscalers) for found in covered for w in found}
    return Coverage(
        inventory.disruption_budgets,
        tuple(covered),
        {key: tuple(value) for key, value in of_workload.items()},
        floors,
    )


def coverage_of(facts: FactsLike) -> Coverage:
    """The coverage of a run, shared by its rules."""
    found: Coverage = facts.memo("pdb-coverage", lambda: coverage(facts.inventory))
    return found


class _Index:
    """Workloads by namespace and by each of their labels, so that a budget is compared with few of them."""

    def __init__(self, workloads: Sequence[Workload]) -> None:
        self._pods: list[tuple[Workload, dict[str, str]]] = []
        self._by_namespace: dict[str, list[int]] = {}
        self._by_label: dict[tuple[str, str, str], list[int]] = {}
        for number, workload in enumerate(workloads):
            labels = {key: label.value for key, label in workload.template.labels.items()}
            self._pods.append((workload, labels))
            self._by_namespace.setdefault(workload.namespace, []).append(number)
            for key, value in labels.items():
                self._by_label.setdefault((workload.namespace, key, value), []).append(number)

    def covered(self, budget: PodDisruptionBudget) -> tuple[Workload, ...]:
        """The workloads of the namespace that the selector matches, in reading order."""
        if budget.selector is None:
            return ()
        expressions = budget.selector.expressions
        exact = next((e for e in expressions if e.operator == "In" and len(e.values) == 1), None)
        if exact is None:
            numbers = self._by_namespace.get(budget.namespace, [])
        else:
            numbers = self._by_label.get((budget.namespace, exact.key, exact.values[0]), [])
        pods = (self._pods[number] for number in numbers)
        return tuple(workload for workload, labels in pods if matches(expressions, labels))


def floor_of(workload: Workload, autoscalers: Mapping[tuple[str, str, str], Autoscaler]) -> Floor:
    """The fewest replicas: the minimum of an autoscaler counts, never its maximum."""
    autoscaler = autoscalers.get((workload.kind, workload.namespace, workload.name))
    needed = replicas_of(workload, autoscaler).needed
    return Floor(needed, autoscaler, workload.replicas is None and autoscaler is None and workload.kind in SCALED)


def rule(budget: PodDisruptionBudget, workloads: Sequence[Workload], floors: Mapping[str, Floor]) -> Ruling:
    """What a budget allows, by the arithmetic of the disruption controller (`D-31` to `D-33`)."""
    found = tuple(w for w in workloads if w.kind in NOT_SCALED or floors[w.id].replicas > 0)
    # Of the copies of one workload in several overlays, the largest counts.
    most: dict[tuple[str, str], int] = {}
    for workload in found:
        if workload.kind in SCALED:
            key = (workload.kind, workload.name)
            most[key] = max(most.get(key, 0), floors[workload.id].replicas)
    expected = sum(most.values())
    healthy = healthy_needed(budget, expected)
    ruling = Ruling(budget, found, expected, healthy)
    blocked: Blocked | None = None
    sure = True
    if budget.min_available is None and budget.max_unavailable is None:
        blocked = "unset"
    elif is_zero_by_form(budget):
        blocked = "form"
    elif found and all(w.kind in NOT_SCALED for w in found):
        blocked = "no-scale" if needs_scale(budget) else None
    elif found and all(w.kind in SCALED for w in found) and healthy >= expected:
        percent = budget.min_available is not None and budget.min_available.percent is not None
        blocked = "rounding" if percent else "replicas"
        sure = not any(floors[w.id].is_default for w in found)
    return Ruling(budget, found, expected, ruling.healthy, blocked, sure)


def healthy_needed(budget: PodDisruptionBudget, expected: int) -> int:
    """How many of the expected pods have to stay; percentages are rounded up, as the controller does."""
    if budget.max_unavailable is not None:
        return max(expected - scaled(budget.max_unavailable, expected), 0)
    if budget.min_available is not None:
        return scaled(budget.min_available, expected)
    return expected


def scaled(value: IntOrPercent, total: int) -> int:
    """A number, or a percentage of a total rounded up."""
    if value.number is not None:
        return value.number
    return -(-total * (value.percent or 0) // 100)


def is_zero_by_form(budget: PodDisruptionBudget) -> bool:
    """`maxUnavailable` 0 or "0%", `minAvailable` "100%": Karpenter calls them fully blocking (`D-32`)."""
    high, low = budget.max_unavailable, budget.min_available
    if high is not None:
        return high.number == 0 or high.percent == 0
    return low is not None and low.percent is not None and low.percent >= 100


def needs_scale(budget: PodDisruptionBudget) -> bool:
    """Whether the controller has to know how many pods there should be: all forms but a whole minAvailable."""
    return budget.max_unavailable is not None or (
        budget.min_available is not None and budget.min_available.percent is not None
    )
