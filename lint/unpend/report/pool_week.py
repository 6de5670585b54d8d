"""When a NodePool lets nodes go: its disruption budgets over a week, drawn and as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unpend.disruption.budgets import MINUTES_OF_WEEK, REASONS, PoolBudgets, Slot, Window, describe

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MOST_SPANS = 4


def week_to_dict(budgets: PoolBudgets) -> dict[str, list[dict[str, Any]]]:
    """Per reason the spans of the week (UTC): `nodes` lists the budgets in force, of which the smallest counts."""
    return {
        reason: [
            {
                "from": describe(slot.start),
                "to": describe(slot.end),
                "nodes": sorted({window.text for window in slot.open}),
                "frozen": bool(budgets.broken) or slot.is_zero,
            }
            for slot in budgets.week(reason)
        ]
        for reason in REASONS
    }


def week_lines(budgets: PoolBudgets, columns: int = 83) -> tuple[str, list[str], list[str]]:
    """The week: a sentence, a drawing at most `columns` wide, paragraphs; a sentence alone where days are alike."""
    disruption = budgets.pool.disruption
    after = disruption.consolidate_after.text
    head = f"{disruption.policy}, {'never by consolidation' if after == 'Never' else f'after {after}'}"
    if budgets.broken:
        broken = budgets.broken[0]
        return f"{head}; no node may ever go: a schedule cannot be read ({broken.fault})", [], []
    weeks = _by_reason(budgets)
    if all(len(slots) == 1 for slots in weeks.values()):
        said = [f"{_allowed(slots[0])} at once{_for(reasons, weeks)}" for reasons, slots in weeks.items()]
        return f"{head}; {', '.join(said)}", [], []
    label = max(len(_title(reasons, weeks)) for reasons in weeks) + 2
    hours = next((hours for hours in (3, 6) if label + 7 * (24 // hours + 1) - 1 <= columns), 12)
    cells, signs = 24 // hours, dict[str, str]()
    drawing = [" " * label + " ".join(f"{day:<{cells}}"[: max(cells, 3)] for day in _DAYS)] if cells > 2 else []
    for reasons, slots in weeks.items():
        minutes = range(0, MINUTES_OF_WEEK, hours * 60)
        drawn = [_sign(_strictest(slots, start, start + hours * 60), signs) for start in minutes]
        days = ["".join(drawn[day * cells : (day + 1) * cells]) for day in range(7)]
        drawing.append(f"{_title(reasons, weeks):<{label}}{' '.join(days)}")
    last = [", ".join(f"{sign} {text}" for text, sign in signs.items())]
    for reasons, slots in weeks.items():
        frozen = [slot for slot in slots if slot.is_zero]
        if frozen:
            spans = [f"{describe(slot.start)} to {describe(slot.end)}" for slot in frozen[:_MOST_SPANS]]
            more = f" and {len(frozen) - _MOST_SPANS} more" if len(frozen) > _MOST_SPANS else ""
            last.append(f"none may go{_for(reasons, weeks)}: {', '.join(spans)}{more}")
    return f"{head}; nodes that may go at once, over a week (UTC, {hours} hours a sign):", drawing, last


_Weeks = dict[tuple[str, ...], tuple[Slot, ...]]


def _by_reason(budgets: PoolBudgets) -> _Weeks:
    """The week of each reason; reasons with the same one together."""
    grouped: dict[tuple[Any, ...], tuple[tuple[str, ...], tuple[Slot, ...]]] = {}
    for reason in REASONS:
        slots = budgets.week(reason)
        key = tuple((slot.start, slot.end, _allowed(slot)) for slot in slots)
        before = grouped.get(key, ((), slots))
        grouped[key] = ((*before[0], reason), slots)
    return dict(grouped.values())


def _title(reasons: tuple[str, ...], weeks: _Weeks) -> str:
    return "any reason" if len(weeks) == 1 else ", ".join(reasons)


def _for(reasons: tuple[str, ...], weeks: _Weeks) -> str:
    return "" if len(weeks) == 1 else f" for {', '.join(reasons)}"


def _allowed(slot: Slot) -> str:
    if slot.is_zero:
        return "none"
    windows = _smallest(slot.open)
    return " or ".join(windows) if windows else "any number"


def _smallest(windows: Sequence[Window]) -> list[str]:
    """The budgets that can be the smallest: of the numbers the least, of the percentages the least."""
    numbers = [w for w in windows if w.budget.number is not None]
    percents = [w for w in windows if w.budget.number is None]
    found = []
    if numbers:
        found.append(min(numbers, key=lambda w: w.budget.number or 0).text)
    if percents:
        found.append(min(percents, key=lambda w: w.budget.percent or 0).text)
    return found


def _strictest(slots: Sequence[Slot], start: int, end: int) -> str:
    """What is allowed in a cell: of several slots in it the strictest."""
    inside = [slot for slot in slots if slot.start < end and slot.end > start]
    frozen = next((slot for slot in inside if slot.is_zero), None)
    if frozen is not None:
        return _allowed(frozen)
    return _allowed(max(inside, key=lambda slot: len(slot.open)))


def _sign(text: str, signs: dict[str, str]) -> str:
    if text not in signs:
        fixed = {"none": "-", "any number": "+"}
        letters = "abcdefghijklmnopqrstuvwxyz"
        used = sum(1 for sign in signs.values() if sign in letters)
        signs[text] = fixed.get(text) or letters[min(used, len(letters) - 1)]
    return signs[text]
