"""Disruption budgets of a NodePool over time: what is allowed when (`karpenter.md` §1.5).

A timeline is a tuple of slots that cover a span of time without gaps. What a slot allows is a `Limit`; no active budget
means no limit at all (`B-3`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta, timezone
from itertools import pairwise
from typing import NamedTuple

from unpend.disruption.cron import CronError, Schedule, parse
from unpend.model.karpenter import Budget, NodePool
from unpend.records import dataclass

REASONS = ("Empty", "Underutilized", "Drifted")
MINUTES_OF_WEEK = 7 * 1440
A_MONDAY = date(2024, 1, 1)
_YEAR = 366


@dataclass(frozen=True, slots=True)
class Window:
    """A budget with its parsed schedule: None is always active; `fault` is why it cannot be parsed (`B-5`)."""

    budget: Budget
    number: int
    schedule: Schedule | None = None
    fault: str | None = None

    @property
    def is_zero(self) -> bool:
        """Whether it allows nothing: a literal 0 or 0%; every other percentage is rounded up (`B-2`)."""
        return self.budget.number == 0 or self.budget.percent == 0

    @property
    def text(self) -> str:
        """`nodes` as one writes it."""
        return f"{self.budget.percent}%" if self.budget.number is None else str(self.budget.number)

    def concerns(self, reason: str) -> bool:
        """Whether it limits disruption for a reason: without `reasons` for all, with an empty list for none (`B-1`)."""
        return self.budget.reasons is None or reason in self.budget.reasons

    def allowed(self, nodes: int) -> int:
        """How many of so many nodes it lets go, rounded up (`B-2`)."""
        if self.budget.number is not None:
            return self.budget.number
        return -(-nodes * (self.budget.percent or 0) // 100)

    def active_at(self, moment: datetime) -> bool:
        """Whether a hit lies within the last `duration` before a moment (`B-4`)."""
        if self.schedule is None:
            return self.fault is None
        moment = moment.astimezone(timezone.utc) if moment.tzinfo else moment
        return self.schedule.hit_within(moment - timedelta(seconds=self.budget.duration or 0), moment)

    def never_closes(self) -> bool:
        """Whether its hits come so fast that the window is open all the time (`B-7`)."""
        if self.schedule is None or self.budget.duration is None:
            return False
        hits = list(self.schedule.hits(A_MONDAY, _YEAR + 1))
        if len(hits) < 2:
            return False
        gap = max(b - a for a, b in pairwise(hits))
        return self.budget.duration >= gap * 60


class Slot(NamedTuple):
    """From minute to minute (exclusive): the windows that are open."""

    start: int
    end: int
    open: tuple[Window, ...]

    @property
    def is_zero(self) -> bool:
        """Whether nothing may go: the smallest limit counts (`B-3`)."""
        return any(window.is_zero for window in self.open)


@dataclass(frozen=True, slots=True)
class PoolBudgets:
    """The budgets of one pool."""

    pool: NodePool
    windows: tuple[Window, ...]

    @property
    def broken(self) -> tuple[Window, ...]:
        """Budgets whose schedule cannot be parsed: one of them makes the whole pool stand still (`B-5`)."""
        return tuple(window for window in self.windows if window.fault is not None)

    def of(self, reason: str) -> tuple[Window, ...]:
        """The budgets that concern a reason."""
        return tuple(window for window in self.windows if window.concerns(reason))

    def week(self, reason: str, monday: date = A_MONDAY) -> tuple[Slot, ...]:
        """What is open when, over the seven days from `monday` on, in minutes of that week."""
        return timeline(self.of(reason), monday, 7)

    def year(self, reason: str) -> tuple[Slot, ...]:
        """The same over a year: some schedules name days of the month."""
        windows = self.of(reason)
        weekly = all(window.schedule is None or window.schedule.is_weekly for window in windows)
        return timeline(windows, A_MONDAY, 7 if weekly else _YEAR)

    def always_zero(self, reason: str) -> bool:
        """Whether nothing may ever go for this reason."""
        return bool(self.broken) or all(slot.is_zero for slot in self.year(reason))

    def allowed(self, reason: str, nodes: int, moment: datetime) -> int | None:
        """How many of so many nodes may go at a moment; None without a limit."""
        if self.broken:
            return 0
        limits = [window.allowed(nodes) for window in self.of(reason) if window.active_at(moment)]
        return min(limits, default=None)


def budgets_of(pool: NodePool) -> PoolBudgets:
    """The budgets of a pool with their schedules."""
    return PoolBudgets(pool, tuple(_window(budget, number) for number, budget in enumerate(pool.disruption.budgets)))


def _window(budget: Budget, number: int) -> Window:
    if budget.schedule is None:
        return Window(budget, number)
    try:
        return Window(budget, number, parse(budget.schedule))
    except CronError as error:
        return Window(budget, number, None, str(error))


def timeline(windows: Sequence[Window], start: date, days: int) -> tuple[Slot, ...]:
    """Which windows are open when, in minutes from `start` on; neighbouring slots differ."""
    end = days * 1440
    open_times = {window.number: tuple(_open(window, start, days)) for window in windows}
    cuts = sorted({0, end, *(edge for spans in open_times.values() for span in spans for edge in span)})
    by_number = {window.number: window for window in windows}
    cursors = dict.fromkeys(open_times, 0)
    slots: list[Slot] = []
    for low, high in pairwise(cuts):
        current = []
        for number, spans in open_times.items():
            at = cursors[number]
            while at < len(spans) and spans[at][1] <= low:
                at += 1
            cursors[number] = at
            if at < len(spans) and spans[at][0] <= low:
                current.append(by_number[number])
        found = tuple(current)
        if slots and slots[-1].open == found:
            slots[-1] = slots[-1]._replace(end=high)
        else:
            slots.append(Slot(low, high, found))
    return tuple(slots)


def _open(window: Window, start: date, days: int) -> Iterable[tuple[int, int]]:
    """The merged spans in which a window is open, in minutes from `start`; windows that began before count too."""
    end = days * 1440
    if window.fault is not None:
        return
    if window.schedule is None:
        yield 0, end
        return
    length = (window.budget.duration or 0) // 60
    before = min(length // 1440 + 1, _YEAR)
    low = high = None
    for hit in window.schedule.hits(start - timedelta(days=before), days + before):
        begin = hit - before * 1440
        close = min(begin + length, end)
        begin = max(begin, 0)
        if close <= begin:
            continue
        if high is not None and begin <= high:
            high = max(high, close)
            continue
        if low is not None and high is not None:
            yield low, high
        low, high = begin, close
    if low is not None and high is not None:
        yield low, high


def describe(minute: int) -> str:
    """A minute of the week as people say it: `Mon 09:00`."""
    day, rest = divmod(minute % MINUTES_OF_WEEK, 1440)
    return f"{('Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun')[day]} {rest // 60:02}:{rest % 60:02}"
