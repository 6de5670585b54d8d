"""Disruption budgets over a week (`karpenter.md` §1.5, W-8, W-9)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.disruption.budgets import A_MONDAY, REASONS, PoolBudgets, budgets_of, describe
from unpend.disruption.week import weeks
from unpend.model.reading import read_objects
from unpend.settings import Settings
from unpend.source.document import objects_of

MOMENT = datetime(2024, 1, 1, tzinfo=timezone.utc)


def budgets(*written: dict[str, Any]) -> PoolBudgets:
    pool = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "p"},
        "spec": {"disruption": {"consolidateAfter": "0s", "budgets": list(written)}, "template": {"spec": {}}},
    }
    return budgets_of(read_objects(objects_of([pool]), Settings()).node_pools[0])


def test_percentages_are_rounded_up() -> None:
    found = budgets({"nodes": "10%"})
    assert [found.allowed("Empty", n, MOMENT) for n in (0, 1, 7, 10, 11)] == [0, 1, 1, 1, 2]
    assert budgets({"nodes": "0%"}).always_zero("Empty")


def test_office_hours() -> None:
    found = budgets({"nodes": "5"}, {"nodes": "0", "schedule": "0 9 * * 1-5", "duration": "8h"})
    week = found.week("Drifted")
    assert next((describe(s.start), describe(s.end)) for s in week if s.is_zero) == ("Mon 09:00", "Mon 17:00")
    assert sum(s.is_zero for s in week) == 5
    assert (week[0].start, week[-1].end) == (0, 7 * 1440)
    assert found.allowed("Empty", 100, MOMENT.replace(hour=12)) == 0
    assert found.allowed("Empty", 100, MOMENT.replace(hour=17)) == 5
    assert not found.always_zero("Empty")


def test_a_window_over_midnight_on_sunday_reaches_into_monday() -> None:
    found = budgets({"nodes": "0", "schedule": "0 22 * * 0", "duration": "8h"})
    assert found.week("Empty")[0].is_zero
    assert found.week("Empty")[0].end == 6 * 60


def test_no_active_budget_is_no_limit() -> None:
    found = budgets({"nodes": "1", "schedule": "@daily", "duration": "1h"})
    assert found.allowed("Empty", 10, MOMENT.replace(hour=3)) is None
    assert budgets().allowed("Empty", 10, MOMENT) is None


def test_reasons() -> None:
    found = budgets({"nodes": "0", "reasons": ["Drifted"]}, {"nodes": "3", "reasons": []})
    assert [found.always_zero(reason) for reason in REASONS] == [False, False, True]
    assert found.allowed("Empty", 10, MOMENT) is None


def test_one_bad_schedule_stops_everything() -> None:
    found = budgets({"nodes": "5"}, {"nodes": "1", "schedule": "0 25 * * *", "duration": "1h", "reasons": ["Drifted"]})
    assert len(found.broken) == 1
    assert all(found.always_zero(reason) for reason in REASONS)
    assert found.allowed("Empty", 100, MOMENT) == 0


def test_windows_that_never_close() -> None:
    assert budgets({"nodes": "0", "schedule": "@daily", "duration": "24h"}).windows[0].never_closes()
    assert not budgets({"nodes": "0", "schedule": "@daily", "duration": "23h59m"}).windows[0].never_closes()
    assert not budgets({"nodes": "0", "schedule": "0 0 * * 1-5", "duration": "24h"}).windows[0].never_closes()
    assert budgets({"nodes": "0", "schedule": "@monthly", "duration": "744h"}).always_zero("Empty")
    assert not budgets({"nodes": "0", "schedule": "@monthly", "duration": "720h"}).always_zero("Empty")


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 6), st.integers(0, 23), st.integers(1, 200), st.integers(0, 7 * 24 - 1))
def test_the_week_agrees_with_the_moment(day: int, hour: int, length: int, asked: int) -> None:
    found = budgets({"nodes": "0", "schedule": f"0 {hour} * * {day}", "duration": f"{length}h"})
    moment = datetime(A_MONDAY.year, 1, 1, tzinfo=timezone.utc) + timedelta(hours=asked)
    slot = next(s for s in found.week("Empty") if s.start <= asked * 60 < s.end)
    assert slot.is_zero == (found.allowed("Empty", 10, moment) == 0)


def test_the_week_is_drawn_by_the_hour() -> None:
    night = {"nodes": "0", "schedule": "30 9 * * 1-5", "duration": "8h", "reasons": ["Drifted"]}
    drawn = weeks(budgets({"nodes": "1"}, night).pool)
    assert [week.reasons for week in drawn] == [("Empty", "Underutilized"), ("Drifted",)]
    assert set(drawn[0].lines) == {"+" * 24}
    assert drawn[1].text[0] == "Mon " + "+" * 9 + "#" * 9 + "+" * 6
    assert drawn[1].lines[6] == "+" * 24
    assert weeks(budgets().pool)[0].lines[0] == "." * 24
    assert weeks(budgets({"nodes": "1", "schedule": "x x x x x", "duration": "1h"}).pool)[0].lines[0] == "#" * 24
