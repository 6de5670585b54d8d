"""Cron schedules: Karpenter's dialect, and a naive reading of the same text."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.disruption.cron import CronError, parse

MONDAY = date(2024, 1, 1)
MALFORMED = ("@reboot", "5-2 * * * *", "*/0 * * * *", "a b c d e", "1,,2 * * * *", "-1 * * * *", "* * * * monday")


def hits(text: str, days: int = 7, start: date = MONDAY) -> list[str]:
    zero = datetime(start.year, start.month, start.day)
    return [f"{zero + timedelta(minutes=m):%a %d %H:%M}" for m in parse(text).hits(start, days)]


def test_five_fields_and_macros() -> None:
    assert hits("0 9 * * mon-fri")[:2] == ["Mon 01 09:00", "Tue 02 09:00"]
    assert len(hits("0 9 * * 1-5")) == 5
    assert hits("@weekly") == ["Sun 07 00:00"]
    assert hits("@hourly", 1) == [f"Mon 01 {h:02}:00" for h in range(24)]
    assert hits("*/30 8-9 * * 1", 7) == ["Mon 01 08:00", "Mon 01 08:30", "Mon 01 09:00", "Mon 01 09:30"]
    assert hits("20/20 0 * * ?", 1) == ["Mon 01 00:20", "Mon 01 00:40"]


def test_two_restricted_day_fields_are_alternatives() -> None:
    assert hits("0 0 3 * 1") == ["Mon 01 00:00", "Wed 03 00:00"]
    # A step makes a star a restriction.
    assert hits("0 0 */2 * 2") == ["Mon 01 00:00", "Tue 02 00:00", "Wed 03 00:00", "Fri 05 00:00", "Sun 07 00:00"]
    assert hits("0 0 * * 2") == ["Tue 02 00:00"]


@pytest.mark.parametrize(
    "text",
    [
        *MALFORMED,
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 7",
        "@every 1h",
    ],
)
def test_what_the_controller_cannot_parse(text: str) -> None:
    with pytest.raises(CronError):
        parse(text)


def test_hit_within_is_open_at_the_beginning() -> None:
    schedule = parse("0 9 * * *")
    nine = datetime(2024, 1, 1, 9, tzinfo=timezone.utc)
    assert schedule.hit_within(nine - timedelta(hours=1), nine)
    assert not schedule.hit_within(nine, nine + timedelta(hours=23))
    assert schedule.hit_within(nine, nine + timedelta(hours=24))


@settings(deadline=None, max_examples=50)
@given(
    minute=st.integers(0, 59),
    hour=st.integers(0, 23),
    day=st.one_of(st.none(), st.integers(1, 28)),
    week=st.one_of(st.none(), st.integers(0, 6)),
)
def test_hits_are_those_of_a_naive_walk(minute: int, hour: int, day: int | None, week: int | None) -> None:
    text = f"{minute} {hour} {'*' if day is None else day} * {'*' if week is None else week}"

    def naive(moment: datetime) -> bool:
        in_month = day is None or moment.day == day
        in_week = week is None or moment.isoweekday() % 7 == week
        both = in_month and in_week if None in (day, week) else in_month or in_week
        return both and (moment.hour, moment.minute) == (hour, minute)

    start = datetime(2024, 2, 1)
    found = [start + timedelta(minutes=m) for m in parse(text).hits(start.date(), 35)]
    wanted = [m for m in (start + timedelta(days=d, hours=hour, minutes=minute) for d in range(35)) if naive(m)]
    assert found == wanted
