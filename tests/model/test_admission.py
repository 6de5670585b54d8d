"""The pod as the scheduler sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pytest
import yaml

from unpend.model.admission import admit
from unpend.model.inventory import Inventory
from unpend.model.pod import EffectivePod
from unpend.model.reading import read_objects
from unpend.settings import Settings, World
from unpend.source.document import objects_of

Read = Callable[..., Inventory]
CLOSED = Settings(world=World.all_closed(), admission="all")
OPEN = Settings(admission="all")


def pod(spec: str | dict[str, Any], *others: str, settings: Settings = CLOSED, **metadata: str) -> EffectivePod:
    """A Pod of namespace `a` among other objects, admitted."""
    data = yaml.safe_load(spec) if isinstance(spec, str) else spec
    data.setdefault("containers", [{"name": "c", "image": "c"}])
    documents = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "a", **metadata}, "spec": data},
        *(yaml.safe_load(text) for text in others),
    ]
    inventory = read_objects(objects_of(documents), settings)
    return admit(inventory.workloads[0], inventory, settings)


def workload(kind: str, spec: str, *others: str, settings: Settings = CLOSED) -> EffectivePod:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": yaml.safe_load(spec)}
    template["spec"].setdefault("containers", [{"name": "c", "image": "c"}])
    data = {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "w", "namespace": "a"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    inventory = read_objects(objects_of([data, *(yaml.safe_load(text) for text in others)]), settings)
    return admit(inventory.workloads[0], inventory, settings)


def _containers(key: str, *requests: str) -> list[dict[str, Any]]:
    """`cpu` or `sidecar cpu`, one container each."""
    found = []
    for index, request in enumerate(requests):
        container: dict[str, Any] = {"name": f"{key}{index}", "image": "x"}
        container["resources"] = {"requests": {"cpu": request.removeprefix("sidecar ")}}
        if request.startswith("sidecar"):
            container["restartPolicy"] = "Always"
        found.append(container)
    return found


@pytest.mark.parametrize(
    ("init", "main", "more", "cpu"),
    [
        (["500m"], ["100m", "200m"], {}, 500),
        (["sidecar 100m", "500m"], ["300m"], {}, 600),
        (["500m", "sidecar 100m"], ["300m"], {}, 500),
        (["sidecar 100m", "300m", "sidecar 200m"], ["50m"], {}, 400),
        (["sidecar 100m", "300m", "sidecar 200m"], ["50m"], {"overhead": {"cpu": "250m"}}, 650),
        (
            ["sidecar 100m", "300m", "sidecar 200m"],
            ["50m"],
            {"overhead": {"cpu": "250m"}, "resources": {"requests": {"cpu": "1"}}},
            1250,
        ),
        ([], ["500u", "500u"], {}, 2),
        (["300m", "400m"], ["100m"], {}, 400),
    ],
)
def test_effective_requests(init: list[str], main: list[str], more: dict[str, Any], cpu: int) -> None:
    spec = {"containers": _containers("c", *main), "initContainers": _containers("i", *init), **more}
    # Overhead by hand is only legal on a pod that is already there.
    assert pod(spec, uid="1").requests == {"cpu": cpu}


@pytest.mark.parametrize(
    ("resources", "requests"),
    [
        ({"limits": {"cpu": 1}}, {"cpu": 1000}),
        ({"requests": {"cpu": 0}, "limits": {"cpu": 1}}, {"cpu": 0}),
        ({"requests": {"memory": "100.5"}}, {"memory": 101_000}),
        ({"requests": {"cpu": "0.0005"}}, {"cpu": 1}),
        ({}, {}),
        ({"limits": {"nvidia.com/gpu": 2}}, {"nvidia.com/gpu": 2000}),
    ],
)
def test_api_defaulting_of_requests(resources: dict[str, Any], requests: dict[str, int]) -> None:
    spec = {"containers": [{"name": "c", "image": "c", "resources": resources}]}
    for settings in (CLOSED, Settings(admission="none")):
        assert pod(spec, settings=settings).requests == requests


def test_each_request_knows_its_places() -> None:
    effective = pod(
        {"containers": _containers("c", "100m", "200m"), "initContainers": _containers("i", "250m")},
    )
    assert [str(place) for place in effective.request_places["cpu"]] == [
        "spec.containers[0].resources.requests.cpu",
        "spec.containers[1].resources.requests.cpu",
    ]
    effective = pod({"containers": [{"name": "c", "image": "c", "resources": {"limits": {"cpu": 1}}}]})
    assert [str(place) for place in effective.request_places["cpu"]] == ["spec.containers[0].resources.limits.cpu"]


@pytest.mark.parametrize(
    ("pod_resources", "containers", "requests"),
    [
        ("{limits: {cpu: 4}}", "{requests: {cpu: 1}}", {"cpu": 1000}),
        ("{limits: {cpu: 4}}", "{}", {"cpu": 4000}),
        (
            "{requests: {cpu: 2}, limits: {cpu: 4}}",
            "{requests: {cpu: 1, a.b/c: 1}, limits: {a.b/c: 1}}",
            {"cpu": 2000, "a.b/c": 1000},
        ),
        ("{limits: {memory: 1Ki}}", "{limits: {memory: 512}}", {"memory": 512_000}),
    ],
)
def test_pod_level_resources(pod_resources: str, containers: str, requests: dict[str, int]) -> None:
    spec = f"{{resources: {pod_resources}, containers: [{{name: c, image: c, resources: {containers}}}]}}"
    assert pod(spec).requests == requests


def test_pod_level_resources_are_dropped_before_1_34() -> None:
    spec = "{resources: {requests: {cpu: 2}}}"
    assert pod(spec, settings=Settings(kubernetes=(1, 33))).requests == {}


def test_host_network_turns_container_ports_into_host_ports() -> None:
    spec = """
hostNetwork: true
containers: [{name: c, image: c, ports: [{containerPort: 80}, {containerPort: 81, hostPort: 81, protocol: UDP}]}]
initContainers:
  - {name: i, image: i, ports: [{containerPort: 90}]}
  - {name: s, image: s, restartPolicy: Always, ports: [{containerPort: 91}]}
"""
    assert [(p.host_port, p.protocol) for p in pod(spec).host_ports] == [(80, "TCP"), (81, "UDP"), (91, "TCP")]
    assert pod(spec.replace("true", "false")).host_ports[0].host_port == 81


GVISOR = """
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: gvisor}
handler: runsc
overhead: {podFixed: {cpu: 250m, memory: 100Mi}}
scheduling:
  nodeSelector: {runtime: gvisor}
  tolerations: [{key: runtime, operator: Exists}, {key: other, operator: Exists}]
"""


def test_a_runtime_class_is_merged_into_the_pod() -> None:
    effective = pod(
        "{runtimeClassName: gvisor, nodeSelector: {a: b}, tolerations: [{key: other, operator: Exists}],"
        " containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]}",
        GVISOR,
    )
    assert effective.refusals == ()
    assert effective.requests == {"cpu": 1250, "memory": 100 * 2**20 * 1000}
    assert [(label.key, label.value) for label in effective.spec.node_selector] == [("a", "b"), ("runtime", "gvisor")]
    added = effective.spec.node_selector[1].place
    assert added.object.data["kind"] == "RuntimeClass"
    assert str(added) == "scheduling.nodeSelector.runtime"
    assert [t.key for t in effective.spec.tolerations[:2]] == ["other", "runtime"]
    assert effective.request_places["memory"][0].object.data["kind"] == "RuntimeClass"


def test_a_runtime_class_may_refuse_the_pod() -> None:
    effective = pod("{runtimeClassName: gvisor, nodeSelector: {runtime: runc}, overhead: {cpu: 1}}", GVISOR)
    assert [r.semantics for r in effective.refusals] == ["scheduler:A-212", "scheduler:A-213"]
    refusal = effective.refusals[1]
    assert str(refusal.place) == "spec.nodeSelector.runtime"
    assert [str(place) for _, place in refusal.related] == ["scheduling.nodeSelector.runtime"]
    same = pod(
        "{runtimeClassName: gvisor, nodeSelector: {runtime: gvisor}, overhead: {cpu: 0.25, memory: 100Mi}}", GVISOR
    )
    assert same.refusals == ()
    assert same.requests["cpu"] == 250


def test_a_missing_runtime_class_is_refused_only_where_classes_are_complete() -> None:
    assert [r.semantics for r in pod("{runtimeClassName: kata}").refusals] == ["scheduler:A-211"]
    effective = pod("{runtimeClassName: kata}", settings=OPEN)
    assert effective.refusals == ()
    assert [r.semantics for r in effective.unknown] == ["scheduler:A-211"]


PRIORITY = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
preemptionPolicy: Never
"""


def test_priority_classes() -> None:
    assert pod("{priorityClassName: high}", PRIORITY).spec.priority == 1000
    assert pod("{priorityClassName: high}", PRIORITY).spec.preemption_policy == "Never"
    assert pod("{priorityClassName: system-node-critical}").spec.priority == 2_000_001_000
    assert [r.semantics for r in pod("{priorityClassName: gone}").refusals] == ["scheduler:A-231"]
    assert pod("{priorityClassName: gone}", settings=OPEN).refusals == ()
    assert [r.semantics for r in pod("{priorityClassName: high, priority: 5}", PRIORITY).refusals] == [
        "scheduler:A-1547"
    ]
    assert pod("{}", PRIORITY + "globalDefault: true").spec.priority == 1000


def limit_range(items: str) -> str:
    return f"{{apiVersion: v1, kind: LimitRange, metadata: {{name: l, namespace: a}}, spec: {{limits: [{items}]}}}}"


def test_a_limit_range_with_only_a_maximum_makes_it_the_request() -> None:
    effective = pod("{}", limit_range("{type: Container, max: {cpu: 4}}"))
    assert effective.requests == {"cpu": 4000}
    (place,) = effective.request_places["cpu"]
    assert (place.object.data["kind"], str(place)) == ("LimitRange", "spec.limits[0].max.cpu")


@pytest.mark.parametrize(
    ("item", "resources", "requests", "limits"),
    [
        ("default: {cpu: 2}", "{}", {"cpu": 2000}, {"cpu": 2000}),
        ("default: {cpu: 2}, defaultRequest: {cpu: 1}", "{}", {"cpu": 1000}, {"cpu": 2000}),
        ("default: {cpu: 2}, defaultRequest: {cpu: 1}", "{limits: {cpu: 3}}", {"cpu": 3000}, {"cpu": 3000}),
        ("min: {cpu: 100m}", "{}", {"cpu": 100}, {}),
        ("min: {cpu: 100m}, max: {cpu: 4}", "{}", {"cpu": 4000}, {"cpu": 4000}),
        ("min: {cpu: 100m}, max: {cpu: 4}, default: {cpu: 1}", "{}", {"cpu": 1000}, {"cpu": 1000}),
        ("defaultRequest: {memory: 1Ki}", "{requests: {cpu: 1}}", {"cpu": 1000, "memory": 1_024_000}, {}),
    ],
)
def test_limit_range_defaults(item: str, resources: str, requests: dict[str, int], limits: dict[str, int]) -> None:
    spec = f"{{containers: [{{name: c, image: c, resources: {resources}}}]}}"
    effective = pod(spec, limit_range(f"{{type: Container, {item}}}"))
    assert effective.refusals == ()
    assert effective.requests == requests
    assert {name: amount.milli for name, amount in effective.spec.containers[0].limits.items()} == limits


@pytest.mark.parametrize(
    ("item", "resources", "semantics"),
    [
        ("type: Container, default: {cpu: 1}", "{requests: {cpu: 2}}", ["scheduler:A-223"]),
        ("type: Container, min: {cpu: 1}", "{requests: {cpu: 500m}}", ["scheduler:A-224"]),
        ("type: Container, max: {cpu: 1}", "{limits: {cpu: 2}}", ["scheduler:A-224"]),
        (
            "type: Container, maxLimitRequestRatio: {cpu: 2}",
            "{requests: {cpu: 1}, limits: {cpu: 4}}",
            ["scheduler:A-224"],
        ),
        ("type: Container, maxLimitRequestRatio: {cpu: 4}", "{requests: {cpu: 1}, limits: {cpu: 4}}", []),
        ("type: Container, maxLimitRequestRatio: {cpu: 4}", "{requests: {cpu: 1}}", ["scheduler:A-224"]),
        ("type: Pod, max: {cpu: 1}", "{requests: {cpu: 1}, limits: {cpu: 1}}", []),
        ("type: Pod, max: {cpu: 1}", "{requests: {cpu: 1}}", ["scheduler:A-224"]),
        ("type: Pod, min: {cpu: 2}", "{requests: {cpu: 1}, limits: {cpu: 1}}", ["scheduler:A-224"]),
    ],
)
def test_limit_range_checks(item: str, resources: str, semantics: list[str]) -> None:
    spec = f"{{containers: [{{name: c, image: c, resources: {resources}}}]}}"
    effective = pod(spec, limit_range(f"{{{item}}}"))
    assert [r.semantics for r in effective.refusals] == semantics
    for refusal in effective.refusals:
        ((_, place),) = refusal.related
        assert place.object.data["kind"] == "LimitRange"


def test_limit_ranges_that_disagree_are_a_fact() -> None:
    one, two = limit_range("{type: Container, default: {cpu: 1}}"), limit_range("{type: Container, default: {cpu: 2}}")
    effective = pod("{}", one, two)
    assert {r.semantics for r in effective.unknown} == {"scheduler:A-226"}
    assert effective.requests == {"cpu": 1000}
    own = "{containers: [{name: c, image: c, resources: {requests: {cpu: 1}, limits: {cpu: 1}}}]}"
    assert pod(own, one, two).unknown == ()


def test_a_limit_range_holds_for_its_own_namespace() -> None:
    assert (
        pod("{}", limit_range("{type: Container, max: {cpu: 4}}").replace("namespace: a", "namespace: b")).requests
        == {}
    )


def test_a_limit_range_refuses_the_claims_of_a_stateful_set() -> None:
    data = yaml.safe_load(
        """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: a}
spec:
  selector: {matchLabels: {a: b}}
  volumeClaimTemplates: [{metadata: {name: d}, spec: {resources: {requests: {storage: 20Gi}}}}]
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: c}]}}
"""
    )
    limits = yaml.safe_load(limit_range("{type: PersistentVolumeClaim, max: {storage: 10Gi}}"))
    inventory = read_objects(objects_of([data, limits]), CLOSED)
    (refusal,) = admit(inventory.workloads[0], inventory, CLOSED).refusals
    assert (refusal.semantics, refusal.place.value) == ("scheduler:A-225", "20Gi")


def _tolerations(effective: EffectivePod) -> list[tuple[str, str]]:
    return [(t.key.removeprefix("node.kubernetes.io/"), t.effect) for t in effective.spec.tolerations]


def test_default_toleration_seconds() -> None:
    both = [("not-ready", "NoExecute"), ("unreachable", "NoExecute")]
    assert _tolerations(pod("{}")) == both
    assert pod("{}").spec.tolerations[0].seconds == 300
    own = "{tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}]}"
    assert _tolerations(pod(own)) == both
    assert pod(own).spec.tolerations[0].seconds is None
    assert _tolerations(pod("{tolerations: [{operator: Exists}]}")) == [("", "")]
    other = "{tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoSchedule}]}"
    assert len(_tolerations(pod(other))) == 3


def test_tolerations_of_a_daemon_set() -> None:
    names = ["not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"]
    assert [key for key, _ in _tolerations(workload("DaemonSet", "{}"))] == names
    assert [key for key, _ in _tolerations(workload("DaemonSet", "{hostNetwork: true}"))] == [
        *names,
        "network-unavailable",
    ]
    # The controller adds them, whatever admission does.
    assert len(_tolerations(workload("DaemonSet", "{}", settings=Settings(admission="none")))) == 6


def test_injected_and_possible_tolerations() -> None:
    settings = Settings(injected_tolerations=({"key": "team", "operator": "Exists"},))
    spec = "{containers: [{name: c, image: c, resources: {limits: {nvidia.com/gpu: 1}}}]}"
    effective = pod(spec, settings=settings)
    assert ("team", "") in _tolerations(effective)
    assert [(t.key, t.effect) for t in effective.possible_tolerations] == [("nvidia.com/gpu", "NoSchedule")]


def test_namespace_annotations_and_enforced_levels() -> None:
    namespace = """
apiVersion: v1
kind: Namespace
metadata:
  name: a
  labels: {pod-security.kubernetes.io/enforce: baseline}
  annotations: {scheduler.alpha.kubernetes.io/node-selector: "env=prod"}
"""
    effective = pod("{hostNetwork: true, volumes: [{name: v, hostPath: {path: /}}]}", namespace)
    assert [r.semantics for r in effective.unknown] == ["scheduler:A-234"]
    assert [(r.semantics, str(r.place)) for r in effective.refusals] == [
        ("scheduler:A-239", "spec.hostNetwork"),
        ("scheduler:A-239", "spec.volumes[0]"),
    ]
    assert pod("{volumes: [{name: v, emptyDir: {}}]}", namespace).refusals == ()


@pytest.mark.parametrize(
    ("admission", "template", "bare"),
    [("all", True, True), ("templates", True, False), ("none", False, False), (None, True, True)],
)
def test_for_whom_the_plug_ins_run(
    admission: Literal["all", "templates", "none"] | None, template: bool, bare: bool
) -> None:
    settings = Settings(world=World.all_closed(), admission=admission)
    spec = "{priorityClassName: gone, tolerations: [{key: '!', operator: Exists, effect: NoSchedule}]}"
    assert bool(workload("Deployment", spec, settings=settings).refusals) == template
    effective = pod(spec, settings=settings)
    assert [r.semantics for r in effective.refusals] == (["scheduler:A-1531", "scheduler:A-231"] if bare else [])
    assert len(effective.spec.tolerations) == (3 if bare else 1)


def test_a_pod_that_is_already_there_is_not_judged_again() -> None:
    effective = pod("{priorityClassName: gone, runtimeClassName: gone}", uid="1")
    assert (effective.refusals, effective.unknown, effective.spec.tolerations) == ((), (), ())
