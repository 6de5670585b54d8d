"""Cron schedules as Karpenter reads them: five fields or a macro, always in UTC (`karpenter:B-4`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from unpend.records import dataclass

MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = {
    "jan": 1,
    "feb": 2,
    "mar": 3,
    "apr": 4,
    "may": 5,
    "jun": 6,
    "jul": 7,
    "aug": 8,
    "sep": 9,
    "oct": 10,
    "nov": 11,
    "dec": 12,
}
_DAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
_NUMBER = re.compile(r"[0-9]{1,9}\Z")


class CronError(ValueError):
    """A schedule that Karpenter cannot parse; the message says which field and why."""


@dataclass(frozen=True, slots=True)
class _Field:
    """The values that a field allows; `starred` when it is `*` or `?`, which matters for the two day fields."""

    values: frozenset[int]
    starred: bool


@dataclass(frozen=True, slots=True)
class Schedule:
    """A parsed schedule: `minutes` are the minutes of a day at which it hits, on the days that it hits at all."""

    minutes: tuple[int, ...]
    months: frozenset[int]
    days_of_month: _Field
    days_of_week: _Field

    @property
    def is_weekly(self) -> bool:
        """Whether every week looks the same."""
        return self.days_of_month.starred and len(self.months) == 12

    def hits_on(self, day: date) -> bool:
        """Whether it hits on a day. Of two restricted day fields either is enough; else both have to match."""
        if day.month not in self.months:
            return False
        in_month = day.day in self.days_of_month.values
        in_week = day.isoweekday() % 7 in self.days_of_week.values
        if self.days_of_month.starred or self.days_of_week.starred:
            return in_month and in_week
        return in_month or in_week

    def hits(self, start: date, days: int) -> Iterator[int]:
        """The hits on `days` days from `start` on, in minutes since the beginning of the first day, rising."""
        for number in range(days):
            if self.hits_on(start + timedelta(days=number)):
                offset = number * 1440
                for minute in self.minutes:
                    yield offset + minute

    def hit_within(self, after: datetime, until: datetime) -> bool:
        """Whether it hits later than `after` and not later than `until`."""
        days = (until.date() - after.date()).days + 1
        origin = datetime.combine(after.date(), time(), after.tzinfo)
        for minute in self.hits(after.date(), days):
            hit = origin + timedelta(minutes=minute)
            if hit > until:
                return False
            if hit > after:
                return True
        return False


@lru_cache(maxsize=256)
def parse(text: str) -> Schedule:
    """The schedule in a text. Raises CronError for what Karpenter's parser refuses."""
    found = MACROS.get(text.strip())
    if found is None and text.startswith("@"):
        raise CronError(f"{text} is no known macro; known are {', '.join(sorted(MACROS))}")
    fields = (found or text).split()
    if len(fields) != 5:
        raise CronError(f"it has {len(fields)} fields, not 5: minute, hour, day of month, month, day of week")
    minute = _field(fields[0], "minute", 0, 59, {})
    hour = _field(fields[1], "hour", 0, 23, {})
    day_of_month = _field(fields[2], "day of month", 1, 31, {})
    month = _field(fields[3], "month", 1, 12, _MONTHS)
    day_of_week = _field(fields[4], "day of week", 0, 6, _DAYS)
    minutes = tuple(sorted(h * 60 + m for h in hour.values for m in minute.values))
    return Schedule(minutes, month.values, day_of_month, day_of_week)


def _field(text: str, name: str, low: int, high: int, names: dict[str, int]) -> _Field:
    values: set[int] = set()
    starred = False
    for part in text.split(","):
        found, star = _part(part, name, low, high, names)
        values |= found
        starred |= star
    return _Field(frozenset(values), starred)


def _part(text: str, name: str, low: int, high: int, names: dict[str, int]) -> tuple[set[int], bool]:
    span, slash, step_text = text.partition("/")
    first, dash, last = span.partition("-")
    starred = first in ("*", "?")
    if starred:
        if dash:
            raise CronError(f"{text} is no {name}")
        start, end = low, high
    else:
        start = _number(first, name, names)
        # `5/15` means from 5 to the end in steps of 15.
        end = _number(last, name, names) if dash else (high if slash else start)
    step = _number(step_text, name, {}) if slash else 1
    if start < low or end > high:
        raise CronError(f"{text} is no {name}: it goes from {low} to {high}")
    if start > end:
        raise CronError(f"{text}: the beginning of the range is after its end")
    if step == 0:
        raise CronError(f"{text}: a step of 0")
    return set(range(start, end + 1, step)), starred and step == 1


def _number(text: str, name: str, names: dict[str, int]) -> int:
    known = names.get(text.lower())
    if known is not None:
        return known
    if not _NUMBER.match(text):
        raise CronError(f"{text or 'nothing'} is no {name}")
    return int(text)
