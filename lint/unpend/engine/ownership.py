"""One cause, one finding: of several rules that explain the same, the one that explains best speaks."""

from __future__ import annotations

from collections.abc import Sequence

from unpend.engine.selection import ActiveRule
from unpend.rule import Finding

Yielded = tuple[ActiveRule, Finding]


def settle(yielded: Sequence[Yielded]) -> list[Yielded]:
    """What is left when, for every subject, only the rule of the lowest rank keeps its findings (ties: by name).

    This comes before select, ignore and suppress: whoever ignores the best explanation is not told a worse one.
    """
    owner: dict[tuple[str, ...], tuple[int, str]] = {}
    for active, finding in yielded:
        if finding.subject:
            claim = (active.entry.rank, active.entry.name)
            owner[finding.subject] = min(claim, owner.get(finding.subject, claim))
    return [
        (active, finding)
        for active, finding in yielded
        if not finding.subject or owner[finding.subject][1] == active.entry.name
    ]


def contested(yielded: Sequence[Yielded]) -> int | None:
    """The highest rank among findings that compete: bystanders below it may own a cause. None when nothing competes."""
    return max((active.entry.rank for active, finding in yielded if finding.subject), default=None)
