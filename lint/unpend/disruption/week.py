"""The week of a NodePool, hour by hour in UTC, as its disruption budgets leave it."""

from __future__ import annotations

from typing import NamedTuple

from unpend.disruption.budgets import REASONS, PoolBudgets, Slot, budgets_of
from unpend.model.karpenter import NodePool

FREE, LIMITED, CLOSED = ".", "+", "#"
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


class Week(NamedTuple):
    """One drawing: the reasons that it holds for, and a line for each day with a letter for each hour."""

    reasons: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def text(self) -> tuple[str, ...]:
        """The lines with their days in front."""
        return tuple(f"{day} {line}" for day, line in zip(DAYS, self.lines, strict=True))


def weeks(pool: NodePool) -> tuple[Week, ...]:
    """The week of a pool for each reason; reasons whose weeks are alike share a drawing."""
    budgets = budgets_of(pool)
    found: dict[tuple[str, ...], list[str]] = {}
    for reason in REASONS:
        found.setdefault(_lines(budgets, reason), []).append(reason)
    return tuple(Week(tuple(reasons), lines) for lines, reasons in found.items())


def _lines(budgets: PoolBudgets, reason: str) -> tuple[str, ...]:
    if budgets.broken:
        return (CLOSED * 24,) * 7
    letters = [FREE] * (7 * 24)
    for slot in budgets.week(reason):
        letter = _letter(slot)
        for hour in range(slot.start // 60, -(-slot.end // 60)):
            # What closes a part of an hour is told for the hour.
            letters[hour] = max(letters[hour], letter, key=(FREE, LIMITED, CLOSED).index)
    return tuple("".join(letters[day * 24 : day * 24 + 24]) for day in range(7))


def _letter(slot: Slot) -> str:
    if slot.is_zero:
        return CLOSED
    return LIMITED if slot.open else FREE
