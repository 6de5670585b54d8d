"""A synthetic dump whose stage times are known: calibration gives them back, and stage by stage less with less data."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.startup.calibrate import MEASURABLE, Calibration, calibrate, moment
from unpend.startup.profile import builtin, problems_of, profile_of
from unpend.startup.stages import Interval

EPOCH = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
GENERIC = builtin("generic")
NEW_NODE = (
    "detection", "decision", "cloud-api", "boot", "kubelet", "network", "startup-taint", "scheduling", "image-pull",
    "runtime", "application",
)  # fmt: skip
Times = Mapping[str, int]


def stamp(seconds: float) -> str:
    return (EPOCH + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def condition(kind: str, at: float) -> dict[str, Any]:
    return {"type": kind, "status": "True", "lastTransitionTime": stamp(at)}


def event(pod: str, reason: str, at: float, message: str = "") -> dict[str, Any]:
    return {
        "kind": "Event",
        "metadata": {"name": f"{pod}.{reason}", "namespace": "shop"},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": pod},
        "reason": reason,
        "message": message,
        "firstTimestamp": stamp(at),
    }


def new_node_start(number: int, times: Times) -> list[dict[str, Any]]:
    """A pod that waited for a node which Karpenter made, each stage as long as `times` says."""
    name, node, claim = f"web-{number}", f"node-{number}", f"general-{number}"
    begin = number * 10_000
    at = {"created": begin}
    before = "created"
    for stage in NEW_NODE:
        if stage == "runtime":  # half of it before the pull, half after
            continue
        at[stage] = at[before] + times[stage]
        if stage == "scheduling":
            at["pulling"] = at[stage] + times["runtime"]
            before = "pulling"
        elif stage == "image-pull":
            at["started"] = at[stage]
            before = "started"
        else:
            before = stage
    return [
        {
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "shop", "creationTimestamp": stamp(begin)},
            "spec": {"nodeName": node, "containers": [{"name": "web"}]},
            "status": {
                "conditions": [condition("PodScheduled", at["scheduling"]), condition("Ready", at["application"])],
                "containerStatuses": [
                    {"name": "web", "restartCount": 0, "state": {"running": {"startedAt": stamp(at["started"])}}}
                ],
            },
        },
        event(name, "FailedScheduling", at["detection"]),
        event(name, "Pulling", at["pulling"], 'Pulling image "web:1"'),
        event(name, "Pulled", at["image-pull"], 'Successfully pulled image "web:1"'),
        event(name, "Started", at["started"]),
        {
            "kind": "NodeClaim",
            "metadata": {"name": claim, "creationTimestamp": stamp(at["decision"])},
            "spec": {"startupTaints": [{"key": "a", "effect": "NoSchedule"}]},
            "status": {
                "nodeName": node,
                "conditions": [
                    condition("Launched", at["cloud-api"]),
                    condition("Registered", at["kubelet"]),
                    condition("Initialized", at["startup-taint"]),
                ],
            },
        },
        {
            "kind": "Node",
            "metadata": {"name": node, "creationTimestamp": stamp(at["boot"])},
            "status": {"conditions": [condition("Ready", at["network"])]},
        },
    ]


def rank(values: list[int], share: float) -> int:
    ordered = sorted(values)
    return next(v for n, v in enumerate(ordered, 1) if n >= share * len(ordered))


every_stage = st.fixed_dictionaries({stage: st.integers(0, 300) for stage in NEW_NODE})


@given(st.lists(every_stage, min_size=1, max_size=25))
@settings(deadline=None, max_examples=40)
def test_known_times_come_back(starts: list[dict[str, int]]) -> None:
    found = calibrate([o for n, times in enumerate(starts) for o in new_node_start(n, times)], GENERIC)
    assert found.pods == len(starts)
    for stage in NEW_NODE:
        values = [times[stage] for times in starts]
        measured = found.runtimes["runc"] if stage == "runtime" else found.stages[stage]
        assert len(measured.samples) == len(starts)
        assert (measured.p50, measured.p95) == (rank(values, 0.5), rank(values, 0.95))
        assert measured.interval == Interval(min(values), rank(values, 0.5), rank(values, 0.95))
    assert found.missing == ("init-container",)


ONE = {stage: number for number, stage in enumerate(NEW_NODE, 1)}


def without(objects: list[dict[str, Any]], drop: Callable[[dict[str, Any]], bool]) -> Calibration:
    return calibrate([o for o in copy.deepcopy(objects) if not drop(o)], GENERIC)


@pytest.mark.parametrize(
    ("dropped", "lost"),
    [
        (lambda o: o.get("reason") == "FailedScheduling", {"detection", "decision"}),
        (lambda o: o.get("reason") == "Pulling", {"image-pull"}),
        (lambda o: o.get("reason") == "Pulled", {"image-pull", "runtime"}),
        (lambda o: o.get("reason") == "Started", {"runtime"}),
        (lambda o: o["kind"] == "Event", {"detection", "decision", "image-pull", "runtime"}),
        (lambda o: o["kind"] == "Node", {"boot", "kubelet", "network", "startup-taint"}),
        (
            lambda o: o["kind"] == "NodeClaim",
            {"decision", "cloud-api", "boot", "kubelet", "network", "startup-taint", "scheduling"},
        ),
        (lambda o: o["kind"] == "Pod", {"detection", "decision", "scheduling", "image-pull", "runtime", "application"}),
        (lambda o: True, set(NEW_NODE)),
    ],
)  # fmt: skip
def test_what_is_missing_costs_the_stages_that_need_it(
    dropped: Callable[[dict[str, Any]], bool], lost: set[str]
) -> None:
    found = without(new_node_start(0, ONE), dropped)
    assert set(found.missing) == lost | {"init-container"}
    profile = profile_of(found.profile("measured", "generic", "2026-03-01"))
    for stage in set(NEW_NODE) - lost - {"runtime"}:
        assert profile.figure(stage).interval == Interval(ONE[stage], ONE[stage], ONE[stage])
    for stage in lost - {"runtime", "image-pull"}:
        assert profile.figure(stage) == GENERIC.figure(stage), "the default stays"


@pytest.mark.parametrize(
    ("kind", "name", "lost"),
    [
        ("NodeClaim", "Launched", {"cloud-api", "boot"}),
        ("NodeClaim", "Registered", {"kubelet", "network"}),
        ("Node", "Ready", {"network", "startup-taint"}),
        ("Pod", "Ready", {"application"}),
        ("Pod", "PodScheduled", {"scheduling", "runtime"}),
    ],
)
def test_a_missing_condition_costs_its_stages(kind: str, name: str, lost: set[str]) -> None:
    objects = new_node_start(0, ONE)
    for one in objects:
        if one["kind"] == kind:
            one["status"]["conditions"] = [c for c in one["status"]["conditions"] if c["type"] != name]
    assert set(calibrate(objects, GENERIC).missing) - {"init-container"} == lost


def test_the_profile_follows_the_schema() -> None:
    data = calibrate(new_node_start(0, ONE), GENERIC).profile("measured", None, "2026-03-01")
    assert problems_of(json.loads(json.dumps(data))) == ()
    assert data["notMeasured"] == ["init-container"]
    assert data["stages"]["boot"]["samples"] == 1


def test_a_pod_on_a_node_that_was_there() -> None:
    objects = new_node_start(0, ONE)
    claim = next(o for o in objects if o["kind"] == "NodeClaim")
    claim["metadata"]["creationTimestamp"] = stamp(-5000)
    for entry in claim["status"]["conditions"]:
        entry["lastTransitionTime"] = stamp(-4000)
    pod = objects[0]
    pod["spec"]["runtimeClassName"] = "sandboxed"
    pod["spec"]["initContainers"] = [{"name": "a"}, {"name": "s", "restartPolicy": "Always"}]
    state = {"terminated": {"startedAt": stamp(10), "finishedAt": stamp(14)}}
    pod["status"]["initContainerStatuses"] = [{"name": "a", "state": state}, {"name": "s", "state": state}]
    warm = [o for o in objects if o.get("reason") != "FailedScheduling"]
    found = calibrate(warm, GENERIC)
    assert "decision" in found.missing
    assert "detection" in found.missing
    assert found.stages["init-container"].samples == (4,)
    scheduled = sum(ONE[s] for s in NEW_NODE[: NEW_NODE.index("scheduling") + 1])
    assert found.stages["scheduling"].samples == (scheduled,)


def test_runtimes_are_told_apart() -> None:
    objects = new_node_start(0, ONE) + new_node_start(1, ONE) + new_node_start(2, ONE)
    pods = [o for o in objects if o["kind"] == "Pod"]
    pods[1]["spec"]["runtimeClassName"] = "sandboxed"
    pods[2]["spec"]["runtimeClassName"] = "own"
    objects.append({"kind": "RuntimeClass", "metadata": {"name": "sandboxed"}, "handler": "runsc"})
    assert list(calibrate(objects, GENERIC).runtimes) == ["gvisor", "own", "runc"]


def test_kubelet_says_itself_how_long_a_pull_took() -> None:
    objects = new_node_start(0, ONE)
    pulled = next(o for o in objects if o.get("reason") == "Pulled")
    pulled["message"] = 'Successfully pulled image "web:1" in 1m2.5s (1m30s including waiting). Image size: 5 bytes.'
    assert calibrate(objects, GENERIC).stages["image-pull"].samples == (62.5,)
    pulled["message"] = 'Container image "web:1" already present on machine'
    assert "image-pull" in calibrate(objects, GENERIC).missing


def test_a_restarted_container_tells_nothing_of_a_start() -> None:
    objects = new_node_start(0, ONE)
    objects[0]["status"]["containerStatuses"][0]["restartCount"] = 1
    assert "application" in calibrate(objects, GENERIC).missing


def test_cluster_autoscaler_is_told_by_its_event() -> None:
    objects = [o for o in new_node_start(0, ONE) if o["kind"] != "NodeClaim"]
    objects.append(event("web-0", "TriggeredScaleUp", ONE["detection"] + 8))
    assert calibrate(objects, GENERIC).stages["decision"].samples == (8,)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2026-03-01T12:00:01Z", 1), ("2026-03-01T12:00:01.5Z", 1.5), ("2026-03-01T12:00:01.123456789Z", 1.123456),
        ("2026-03-01T13:00:01+01:00", 1), (datetime(2026, 3, 1, 12, 0, 2), 2), ("soon", None), (None, None), (3, None),
        ("", None),
    ],
)  # fmt: skip
def test_time_stamps(value: Any, seconds: float | None) -> None:
    found = moment(value)
    assert (None if found is None else round(found - EPOCH.timestamp(), 6)) == seconds


@pytest.mark.parametrize("odd", [{}, {"kind": "Pod"}, {"kind": "Pod", "metadata": [], "status": 3, "spec": "x"},
    {"kind": "Event", "involvedObject": 3}, {"kind": "NodeClaim", "status": {"conditions": [3, {"type": 1}]}},
    {"kind": "Pod", "status": {"containerStatuses": [None], "initContainerStatuses": [3]}},
    {"kind": "Pod", "spec": {"initContainers": [4]}}])  # fmt: skip
def test_odd_objects_tell_nothing(odd: dict[str, Any]) -> None:
    assert set(calibrate([odd], GENERIC).missing) == set(MEASURABLE)
