"""The effective request of a pod (`kube-scheduler.md` §7.1), each resource with the places that contribute."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from unpend.model.pod import Container, PodSpec, Resources
from unpend.source.place import Place

Totals = dict[str, int]
Places = dict[str, tuple[Place, ...]]


def pod_level(resource: str) -> bool:
    """Whether pod-level `resources` may speak of a resource (A-735)."""
    return resource in {"cpu", "memory"} or resource.startswith("hugepages-")


def effective_requests(spec: PodSpec) -> tuple[Totals, Places]:
    """The amounts in thousandths that the scheduler reckons with, and where each comes from."""
    totals, places = aggregate(spec)
    for name, amount in spec.pod_requests.items():
        if pod_level(name):
            totals[name] = amount.milli
            places[name] = (amount.place,)
    for name, amount in spec.overhead.items():
        totals[name] = totals.get(name, 0) + amount.milli
        places[name] = (*places.get(name, ()), amount.place)
    for name, milli in totals.items():
        if milli % 1000 and name != "cpu":
            # Only cpu is compared in thousandths; everything else in whole units, rounded up after adding (P-712).
            totals[name] = milli + (-milli % 1000)
    return totals, places


def aggregate(spec: PodSpec) -> tuple[Totals, Places]:
    """Containers and init containers in order, without pod-level values and overhead (P-701, P-702)."""
    return _aggregate(spec, _requests)


def aggregate_limits(spec: PodSpec) -> Totals:
    """The same formula over limits, as a LimitRange of type Pod uses it (A-225)."""
    return _aggregate(spec, _limits)[0]


def _requests(container: Container) -> Resources:
    return container.requests


def _limits(container: Container) -> Resources:
    return container.limits


def _aggregate(spec: PodSpec, wanted: Callable[[Container], Resources]) -> tuple[Totals, Places]:
    totals: Totals = {}
    places: Places = {}
    _add(totals, places, (wanted(c) for c in spec.containers))
    if not spec.init_containers:
        return totals, places
    started: Totals = {}
    started_places: Places = {}
    peaks: list[tuple[Totals, Places]] = []
    for container in spec.init_containers:
        amounts = wanted(container)
        if container.role == "sidecar":
            _add(started, started_places, (amounts,))
            continue
        peak, peak_places = dict(started), dict(started_places)
        _add(peak, peak_places, (amounts,))
        peaks.append((peak, peak_places))
    for name, milli in started.items():
        totals[name] = totals.get(name, 0) + milli
        places[name] = (*places.get(name, ()), *started_places[name])
    for peak, peak_places in peaks:
        for name, milli in peak.items():
            if name not in totals or milli > totals[name]:
                totals[name] = milli
                places[name] = peak_places[name]
    return totals, places


def _add(totals: Totals, places: Places, listed: Iterable[Resources]) -> None:
    for amounts in listed:
        for name, amount in amounts.items():
            if name in totals:
                totals[name] += amount.milli
                places[name] = (*places[name], amount.place)
            else:
                totals[name] = amount.milli
                places[name] = (amount.place,)
