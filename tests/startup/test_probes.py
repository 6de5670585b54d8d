from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.source.document import Document, Object
from unpend.source.place import Place
from unpend.startup.probes import Probe, Probes, probes_in, ready_after, started_after, together, waits
from unpend.startup.stages import Interval


def place(data: Any) -> Place:
    return Object(Document("a.yaml", 0, data), data).root


def kubelet(answers: float, probes: Probes, offset: float = 0) -> float | None:
    """When kubelet sees a container ready that answers from a moment on; None when it ends it before.

    A naive clock: every probe has its own ticks, which begin `offset` after the container.
    """
    started = answers
    if probes.startup is not None:
        probe, failed, tick = probes.startup, 0, offset
        while True:
            if tick >= probe.delay:
                if tick >= answers:
                    started = tick
                    break
                failed += 1
                if failed == probe.failures:
                    return None
            tick += probe.period
    if probes.readiness is None:
        return started
    probe, good, tick = probes.readiness, 0, offset
    while True:
        if tick >= probe.delay and tick >= started and tick >= answers:
            good += 1
            if good == probe.successes:
                return tick
        tick += probe.period


numbers = st.integers(0, 40)
probe = st.builds(
    Probe,
    st.just("startup"),
    delay=numbers,
    period=st.integers(1, 15),
    failures=st.integers(1, 6),
    successes=st.integers(1, 3),
)
startup = probe.map(lambda p: Probe("startup", p.delay, p.period, 1, p.failures, 1))
own = st.tuples(numbers, numbers, numbers).map(lambda t: Interval(*sorted(t)))


@given(own, st.none() | startup, st.none() | probe, st.integers(0, 14), st.sampled_from(["best", "typical", "worst"]))
@settings(deadline=None, max_examples=400)
def test_what_kubelet_sees_lies_within_the_interval(
    starts: Interval, first: Probe | None, second: Probe | None, offset: int, moment: str
) -> None:
    probes = Probes(first, second)
    offset %= int(min([p.period for p in (first, second) if p is not None], default=1))
    seen = kubelet(getattr(starts, moment), probes, offset)
    found = ready_after(probes, starts)
    assert found.best <= found.typical <= found.worst
    if seen is not None:
        assert found.best <= seen <= found.worst
        if moment == "typical" and offset == 0:
            assert seen == found.typical or found.typical == found.best


@given(own, own, st.none() | startup, st.none() | probe)
@settings(deadline=None, max_examples=100)
def test_a_slower_program_is_never_ready_sooner(
    a: Interval, b: Interval, first: Probe | None, second: Probe | None
) -> None:
    probes = Probes(first, second)
    one, other = ready_after(probes, a), ready_after(probes, a.longest(b))
    assert (other.best, other.typical, other.worst) >= (one.best, one.typical, one.worst)


def test_the_startup_probe_bounds_the_start() -> None:
    data = {"startupProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 5, "failureThreshold": 62}}
    probes = probes_in(data, place(data))
    assert probes.startup is not None
    assert probes.startup.longest == 310
    assert ready_after(probes, Interval(0.05, 2, 30)) == Interval(0.05, 5, 310)
    assert started_after(probes, Interval(0.05, 2, 30)).worst == 310
    assert str(probes.startup.place) == "startupProbe"


def test_without_probes_the_program_itself_counts() -> None:
    assert ready_after(Probes(), Interval(1, 2, 3)) == Interval(1, 2, 3)
    assert together([]) == Interval(0, 0, 0)


@pytest.mark.parametrize("written", [{"periodSeconds": "5"}, {"periodSeconds": True}, {"failureThreshold": -1}])
def test_what_is_no_number_is_not_taken_for_one(written: dict[str, Any]) -> None:
    found = probes_in({"livenessProbe": {"exec": {}, **written}}, place({})).liveness
    assert found is not None
    assert not found.literal
    assert (found.period, found.failures) == (10, 3)


def test_zero_means_the_default_except_in_the_delay() -> None:
    found = probes_in({"readinessProbe": {"periodSeconds": 0, "initialDelaySeconds": 0}}, place({})).readiness
    assert found is not None
    assert found.literal
    assert (found.delay, found.period, found.gives_up) == (0, 10, 20)


@pytest.mark.parametrize("data", [None, [], "x", {"startupProbe": None}, {"startupProbe": []}, {"readinessProbe": 3}])
def test_odd_data_has_no_probes(data: Any) -> None:
    assert probes_in(data, place({})) == Probes()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"command": ["sh", "-c", "until nc -z db 5432; do sleep 2; done"]}, True),
        ({"command": ["sh", "-c"], "args": ["while ! curl -f http://a; do\n sleep 1\ndone"]}, True),
        ({"command": ["/wait-for-it.sh", "db:5432"]}, True),
        ({"args": ["kubectl", "wait", "--for=condition=ready", "pod/x"]}, True),
        ({"command": ["sh", "-c", "echo until later"]}, False),
        ({"command": ["migrate", "up"]}, False),
        ({"command": "text"}, False),
        ({}, False),
        (None, False),
    ],
)
def test_loops_that_wait(data: Any, expected: bool) -> None:
    assert waits(data) is expected
