from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.startup.stages import ZERO, Interval, Path, Stage, shown, shown_range, total

seconds = st.floats(0, 10_000, allow_nan=False).map(lambda x: round(x, 3))


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    return Interval(*sorted(draw(st.tuples(seconds, seconds, seconds))))


def not_faster(one: Interval, other: Interval) -> bool:
    return one.best >= other.best and one.typical >= other.typical and one.worst >= other.worst


@given(intervals(), intervals(), intervals())
@settings(deadline=None, max_examples=60)
def test_laws_of_intervals(a: Interval, b: Interval, c: Interval) -> None:
    assert a + b == b + a
    assert a + ZERO == a
    assert not_faster(a + b, a)
    assert a.longest(b) == b.longest(a)
    assert a.longest(a) == a == a.shortest(a)
    assert a.longest(b).longest(c) == a.longest(b.longest(c))
    assert not_faster(a.longest(b), a)
    assert not_faster(a, a.shortest(b))
    assert not_faster(a + b, a.longest(b))
    assert total([a, a]) == a.times(2)


@given(st.lists(intervals(), max_size=6), intervals(), st.integers(0, 6))
@settings(deadline=None, max_examples=60)
def test_adding_a_stage_never_makes_a_path_faster(listed: list[Interval], extra: Interval, at: int) -> None:
    stages = tuple(Stage("application", one) for one in listed)
    longer = (*stages[:at], Stage("runtime", extra), *stages[at:])
    before, after = Path("pull", stages).total, Path("pull", longer).total
    slack = 1e-6  # sums of floats depend on their order
    assert after.best >= before.best - slack
    assert after.typical >= before.typical - slack
    assert after.worst >= before.worst - slack


@pytest.mark.parametrize("values", [(-1, 0, 1), (2, 1, 3), (1, 3, 2), (0, 0, float("inf")), (0, float("nan"), 1)])
def test_what_is_no_interval(values: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="does not hold"):
        Interval(*values)


def test_the_dominating_stage_is_the_longest_typically() -> None:
    stages = (Stage("boot", Interval(20, 30, 60)), Stage("image-pull", Interval(1, 13, 200)))
    assert Path("new-node", stages).dominating == stages[0]
    assert Path("new-node", ()).dominating is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 s"), (0.005, "5 ms"), (0.09, "90 ms"), (1, "1.0 s"), (9.96, "10 s"), (96, "96 s"), (119.6, "2 min"),
     (190, "3 min 10 s"), (3600, "1 h"), (5400, "1 h 30 min")],
)  # fmt: skip
def test_times_for_people(value: float, text: str) -> None:
    assert shown(value) == text


def test_an_interval_in_words() -> None:
    assert shown_range(Interval(58, 96, 190)) == "58 s to 3 min 10 s, typically 96 s"
    assert shown_range(Interval(5, 5, 5)) == "5.0 s"
