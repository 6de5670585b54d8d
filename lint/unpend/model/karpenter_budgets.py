"""Disruption budgets of a NodePool (`karpenter.md` §1.5)."""

from __future__ import annotations

import re
from typing import Any

from unpend.model.fields import entries, sequence, text, texts, under
from unpend.model.karpenter import Budget
from unpend.model.karpenter_fields import check_fields, seconds_of
from unpend.model.problems import Problems, describe
from unpend.model.selectors import unknown_word
from unpend.source.place import Place

_BUDGET = frozenset({"nodes", "schedule", "duration", "reasons"})
_REASONS = frozenset({"Underutilized", "Empty", "Drifted"})
_NODES = re.compile(r"(?:(100|[0-9]{1,2})%|([0-9]{1,18}))")
_DURATION = re.compile(r"(?:[0-9]+[hm])+(?:0s)?")
_RULE = "karpenter:N-6"
_DEFAULT = Budget(10, None, place=None)


def budgets(owner: dict[str, Any], place: Place, problems: Problems) -> tuple[Budget, ...]:
    """The budgets; `10%` of the nodes when none are written. An empty list is no budget, so nothing is limited."""
    if owner.get("budgets") is None:
        return (_DEFAULT,)
    if len(sequence(owner, "budgets", place, Problems(muted=True))) > 50:
        problems.refuse(under(place, "budgets"), "at most 50 budgets are allowed", _RULE)
    return tuple(_budget(entry, here, problems) for entry, here in entries(owner, "budgets", place, problems))


def _budget(entry: dict[str, Any], place: Place, problems: Problems) -> Budget:
    check_fields(entry, _BUDGET, place, problems)
    percent, number = _nodes(entry, place, problems)
    schedule = text(entry, "schedule", place, problems) or None
    duration = _duration(entry, place, problems)
    if (schedule is None) != (entry.get("duration") is None):
        missing, there = ("duration", "schedule") if schedule else ("schedule", "duration")
        problems.refuse(place, f"`{there}` needs `{missing}` beside it", _RULE)
    return Budget(percent, number, _reasons(entry, place, problems), schedule, duration, place)


def _nodes(entry: dict[str, Any], place: Place, problems: Problems) -> tuple[int | None, int | None]:
    value = entry.get("nodes")
    if value is None:
        return (10, None)
    match = _NODES.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        quoted = f'; write it in quotes: "{value}"' if isinstance(value, int) and not isinstance(value, bool) else ""
        problems.refuse(
            under(place, "nodes"),
            f"`nodes` must be a percentage from 0% to 100% or a number in quotes, but is {describe(value)}{quoted}",
            _RULE,
        )
        return (10, None)
    return (int(match[1]), None) if match[1] else (None, int(match[2]))


def _duration(entry: dict[str, Any], place: Place, problems: Problems) -> int | None:
    value = entry.get("duration")
    if value is None:
        return None
    if isinstance(value, str) and len(value) <= 64 and _DURATION.fullmatch(value):
        return seconds_of(value)
    problems.refuse(
        under(place, "duration"),
        f"`duration` takes hours and minutes, as in 8h or 1h30m, but is {describe(value)}",
        _RULE,
    )
    return None


def _reasons(entry: dict[str, Any], place: Place, problems: Problems) -> tuple[str, ...] | None:
    if entry.get("reasons") is None:
        return None
    found = texts(entry, "reasons", place, problems)
    for index, reason in enumerate(found):
        if reason not in _REASONS:
            problems.refuse(under(place, "reasons").at(index), unknown_word(reason, "reason", _REASONS), _RULE)
    return found
