"""do-not-disrupt and PodDisruptionBudgets (`karpenter.md` §9.3, §9.4, W-10)."""

from __future__ import annotations

from typing import Any

import pytest

from unpend.algebra.duration import go_duration
from unpend.disruption.do_not_disrupt import protection
from unpend.disruption.pdb import Ruling, coverage
from unpend.model.reading import read_objects
from unpend.settings import Settings
from unpend.source.document import objects_of


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("true", "always"),
        ("30m", "duration"),
        ("1h30m", "duration"),
        ("1.5h", "duration"),
        *((v, "nothing") for v in ("True", "yes", "1d", "0", "-5m", "", "false", "4 hours", "0s", "h", "5")),
    ],
)
def test_values(value: str, kind: str) -> None:
    assert protection(value, "1.14").kind == kind
    assert protection(value, "1.11").kind == ("always" if value == "true" else "nothing")


def test_go_durations() -> None:
    assert go_duration("1h1m1.5s") == 3661.5
    assert go_duration("100ms") == 0.1
    assert go_duration("-1m") == -60
    assert go_duration("1 h") is None


def ruling(
    budget: dict[str, Any], replicas: int | None = 3, kind: str = "Deployment", low: int | None = None
) -> Ruling:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec: dict[str, Any] = {"selector": {"matchLabels": labels}, "template": template}
    if replicas is not None and kind != "DaemonSet":
        spec["replicas"] = replicas
    objects: list[dict[str, Any]] = [
        {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "web"}, "spec": spec},
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "b"},
            "spec": {"selector": {"matchLabels": labels}, **budget},
        },
    ]
    if low is not None:
        target = {"apiVersion": "apps/v1", "kind": kind, "name": "web"}
        hpa = {"scaleTargetRef": target, "minReplicas": low, "maxReplicas": 9}
        objects.append(
            {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"}, "spec": hpa}
        )
    return coverage(read_objects(objects_of(objects), Settings())).rulings()[0]


@pytest.mark.parametrize(
    ("budget", "replicas", "blocked"),
    [
        ({"maxUnavailable": 0}, 3, "form"),
        ({"maxUnavailable": "0%"}, 3, "form"),
        ({"maxUnavailable": "1%"}, 1, None),
        ({"minAvailable": "100%"}, 3, "form"),
        ({"minAvailable": 3}, 3, "replicas"),
        ({"minAvailable": 2}, 3, None),
        ({"minAvailable": 1}, 1, "replicas"),
        ({"minAvailable": "1%"}, 1, "rounding"),
        ({"minAvailable": "50%"}, 1, "rounding"),
        ({"minAvailable": "50%"}, 3, None),
        ({"minAvailable": "67%"}, 3, "rounding"),
        ({"minAvailable": 0}, 1, None),
        ({"minAvailable": 1}, 0, None),
        ({}, 3, "unset"),
    ],
)
def test_zero_disruption(budget: dict[str, Any], replicas: int, blocked: str | None) -> None:
    assert ruling(budget, replicas).blocked == blocked


def test_the_minimum_of_an_autoscaler_counts() -> None:
    assert ruling({"minAvailable": 2}, 1, low=3).blocked is None
    assert ruling({"minAvailable": 3}, 5, low=2).blocked == "replicas"
    assert not ruling({"minAvailable": 1}, None).sure
    assert ruling({"minAvailable": 1}, 1).sure


def test_daemon_sets_have_no_expected_number() -> None:
    assert ruling({"maxUnavailable": 1}, kind="DaemonSet").blocked == "no-scale"
    assert ruling({"minAvailable": "10%"}, kind="DaemonSet").blocked == "no-scale"
    assert ruling({"minAvailable": 1}, kind="DaemonSet").blocked is None


def test_copies_of_one_object_in_overlays_do_not_add_up() -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"selector": {"matchLabels": labels}, "minAvailable": 1},
    }
    found = coverage(read_objects(objects_of([web, web, budget, budget]), Settings()))
    assert {r.blocked for r in found.rulings()} == {"replicas"}
    assert {len(budgets) for budgets in found.of_workload.values()} == {1}
