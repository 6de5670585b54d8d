"""Landing, soft wishes, drain, scale-down, overlap, metrics: the analyses that rules turn into findings."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from unpend.disruption.autoscaling import utilisation_metrics, verticals
from unpend.disruption.consolidation import consolidating, named, soft_wishes, why_not_consolidated
from unpend.disruption.drain import grace_seconds, is_finite, pre_stops
from unpend.disruption.landing import cluster_autoscaler, landing_of
from unpend.disruption.limits import limits_above
from unpend.disruption.pool_overlap import overlaps
from unpend.disruption.pool_shapes import pool_types
from unpend.disruption.scale_down import is_settled, local_volumes
from unpend.model.inventory import Inventory, Workload
from unpend.model.reading import read_objects
from unpend.rule import Facts
from unpend.settings import Settings, World
from unpend.source.document import objects_of

CLOSED = Settings(world=World.all_closed())
CLASS = """
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
"""


def inventory(*texts: str) -> Inventory:
    return read_objects(objects_of([d for t in texts for d in yaml.safe_load_all(t) if d]), CLOSED)


def pool(name: str, requirements: str = "[]", taints: str = "[]", weight: int = 0, more: str = "") -> str:
    return f"""
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  {"" if not weight else f"weight: {weight}"}
  template:
    spec:
      nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}
      requirements: {requirements}
      taints: {taints}
  disruption: {{consolidateAfter: 1m{more}}}
"""


def pod(spec: str = "", kind: str = "Deployment", name: str = "web") -> str:
    return f"""
apiVersion: apps/v1
kind: {kind}
metadata: {{name: {name}}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: app, image: i, resources: {{requests: {{cpu: 100m, memory: 1Gi}}}}}}]{spec}}}
"""


def one(text: str) -> Workload:
    return inventory(text).workloads[0]


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet"])
def test_landing_follows_taints_and_labels(kind: str) -> None:
    pools = [
        pool("plain"),
        pool("tainted", taints="[{key: gpu, effect: NoSchedule}]"),
        pool("arm", requirements="[{key: kubernetes.io/arch, operator: In, values: [arm64]}]"),
    ]
    found = inventory(CLASS, *pools, pod(", nodeSelector: {kubernetes.io/arch: amd64}", kind))
    landed = landing_of(Facts(found, CLOSED)).pools(found.workloads[0])
    assert [p.name for p in landed] == ["plain"]


def test_a_refused_pool_takes_nothing() -> None:
    found = inventory(CLASS, pool("wrong", requirements="[{key: a, operator: Like, values: [x]}]"), pod())
    assert landing_of(Facts(found, CLOSED)).pools(found.workloads[0]) == ()


GROUP = """
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: c, region: us-east-1}
managedNodeGroups: [{name: g, instanceType: m5.large, minSize: 1, maxSize: MAX}]
"""


def test_who_resizes_node_groups() -> None:
    growing, fixed = GROUP.replace("MAX", "5"), GROUP.replace("MAX", "1")
    assert cluster_autoscaler(inventory(growing), CLOSED)
    assert not cluster_autoscaler(inventory(fixed), CLOSED)
    assert not cluster_autoscaler(inventory(growing, pool("p")), CLOSED)
    assert cluster_autoscaler(inventory(pool("p")), Settings(node_group_autoscaler="cluster-autoscaler"))
    assert not cluster_autoscaler(inventory(growing), Settings(node_group_autoscaler="none"))


def test_soft_wishes_are_about_own_pods() -> None:
    anti = ", affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [%s]}}"
    term = (
        "{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: %s}}}}"
    )
    assert [w.per_node for w in soft_wishes(one(pod(anti % (term % "web"))))] == [True]
    assert list(soft_wishes(one(pod(anti % (term % "other"))))) == []


def test_which_pools_are_consolidated() -> None:
    found = inventory(
        pool("merged"),
        pool("empty", more=", consolidationPolicy: WhenEmpty"),
        pool("zero", more=', budgets: [{nodes: "0"}]'),
        pool("drift", more=', budgets: [{nodes: "0", reasons: [Drifted]}]'),
    )
    assert [p.name for p in consolidating(Facts(found, CLOSED), found.node_pools)] == ["merged", "drift"]
    assert named(found.node_pools) == "NodePools merged, empty and 2 more"
    reasons = [why_not_consolidated(p) for p in found.node_pools]
    assert [r[0] if r else None for r in reasons][1:3] == ["its policy is WhenEmpty", "its budgets never allow it"]


@pytest.mark.parametrize(
    ("hook", "seconds"),
    [
        ("{sleep: {seconds: 20}}", 20),
        ("{exec: {command: [sleep, '20']}}", 20),
        ("{exec: {command: [/bin/sh, -c, 'sleep 5 && kill 1; sleep 1m']}}", 65),
        ("{exec: {command: [bash, -c, 'while true; do sleep 5; done']}}", None),
        ("{exec: {command: [/app, --sleep, '20']}}", None),
        ("{exec: {command: [/bin/sh, -c, 'nosleep 20']}}", None),
        ("{httpGet: {path: /, port: 80}}", None),
    ],
)
def test_literal_sleeps(hook: str, seconds: float | None) -> None:
    text = pod().replace("image: i,", f"image: i, lifecycle: {{preStop: {hook}}},")
    spec = one(text).template.spec
    assert [h.seconds for h in pre_stops(spec)] == ([] if seconds is None else [seconds])
    assert grace_seconds(spec) == 30


def test_what_ends_by_itself() -> None:
    assert not is_finite(one(pod()))
    job = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {template: {spec: {restartPolicy: Never}}}\n"
    assert is_finite(one(job))


def test_local_storage() -> None:
    volumes = (
        ", volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {medium: Memory}}, {name: c, hostPath: {path: /}}]"
    )
    workload = one(pod(volumes))
    assert [v.name for v in local_volumes(workload)] == ["a", "c"]
    assert not is_settled(workload)
    assert is_settled(one(pod(volumes, "DaemonSet")))


@pytest.mark.parametrize(
    ("first", "second", "meet"),
    [
        (pool("a"), pool("b"), True),
        (pool("a"), pool("b", weight=5), False),
        (pool("a"), pool("b", taints="[{key: x, effect: NoSchedule}]"), False),
        (pool("a"), pool("b", taints="[{key: x, effect: PreferNoSchedule}]"), True),
        (pool("a"), pool("b", "[{key: team, operator: In, values: [x]}]"), False),
        (pool("a"), pool("b", "[{key: kubernetes.io/arch, operator: In, values: [arm64]}]"), True),
        (
            pool("a", "[{key: kubernetes.io/arch, operator: In, values: [amd64]}]"),
            pool("b", "[{key: kubernetes.io/arch, operator: NotIn, values: [amd64]}]"),
            False,
        ),
    ],
)
def test_overlap(first: str, second: str, meet: bool) -> None:
    found = list(overlaps(inventory(first, second), CLOSED))
    assert [(o.first.name, o.second.name) for o in found] == ([("b", "a")] if meet else [])


def test_types_of_a_pool() -> None:
    requirement = "[{key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge]}]"
    found = inventory(CLASS, pool("p", requirement))
    types = pool_types(Facts(found, CLOSED), found.node_pools[0])
    assert types is not None
    assert (types.names, types.smallest) == (("m5.large", "m5.xlarge"), "m5.large")
    assert types.capacity["cpu"] == (2000, 4000)
    foreign = inventory(pool("p").replace("karpenter.k8s.aws", "example.com"))
    assert pool_types(Facts(foreign, CLOSED), foreign.node_pools[0]) is None


def test_limits_above_requests() -> None:
    text = pod().replace("memory: 1Gi}", "memory: 1Gi}, limits: {memory: 1536Mi, cpu: 100m, ephemeral-storage: 1Gi}")
    found = list(limits_above(one(text).template.spec))
    assert [(a.resource, a.ratio) for a in found] == [("memory", "1.5 times")]


def hpa(spec: dict[str, Any], kind: str = "HorizontalPodAutoscaler") -> Inventory:
    group = "keda.sh/v1alpha1" if kind == "ScaledObject" else "autoscaling/v2"
    data = {"apiVersion": group, "kind": kind, "metadata": {"name": "h"}, "spec": spec}
    return read_objects(objects_of([data]), CLOSED)


def test_metrics_that_need_a_request() -> None:
    def seen(spec: dict[str, Any], kind: str = "HorizontalPodAutoscaler") -> list[tuple[str, str | None]]:
        return [(m.resource, m.container) for m in utilisation_metrics(hpa(spec, kind).autoscalers[0])]

    cpu = {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}
    value = {"name": "cpu", "target": {"type": "AverageValue", "averageValue": "1"}}
    assert seen({}) == [("cpu", None)]
    assert seen({"metrics": [{"type": "Resource", "resource": cpu}]}) == [("cpu", None)]
    assert seen({"metrics": [{"type": "Resource", "resource": value}]}) == []
    assert seen({"metrics": [{"type": "ContainerResource", "containerResource": {**cpu, "container": "a"}}]}) == [
        ("cpu", "a")
    ]
    assert seen(
        {"triggers": [{"type": "memory", "metricType": "Utilization", "metadata": {"value": "50"}}]}, "ScaledObject"
    ) == [("memory", None)]
    assert seen({"triggers": [{"type": "cron"}]}, "ScaledObject") == []


def test_vertical_autoscalers_that_act() -> None:
    def vpa(**spec: Any) -> dict[str, Any]:
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
        return {
            "apiVersion": "autoscaling.k8s.io/v1",
            "kind": "VerticalPodAutoscaler",
            "metadata": {"name": "v"},
            "spec": {"targetRef": target, **spec},
        }

    def seen(**spec: Any) -> list[tuple[str, ...]]:
        return [v.resources for v in verticals(read_objects(objects_of([vpa(**spec)]), CLOSED)).values()]

    assert seen() == [("cpu", "memory")]
    assert seen(updatePolicy={"updateMode": "Off"}) == []
    assert seen(resourcePolicy={"containerPolicies": [{"controlledResources": ["memory"]}]}) == [("memory",)]
