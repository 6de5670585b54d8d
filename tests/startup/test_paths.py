"""The paths of whole manifests: which there are, in which order they are, what they are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unpend.startup.analysis import ColdStart, Starts
from unpend.startup.profile import builtin_data
from unpend.startup.stages import NODE_STAGES, Interval, Path

Start = Callable[..., Starts]

POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}]
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
"""
NODE = """
apiVersion: v1
kind: Node
metadata: {name: worker-1, labels: {kubernetes.io/hostname: worker-1}}
status:
  allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
  images: [{names: ["example.com/web:1"], sizeBytes: 125000000}]
"""
GROUP = """
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
managedNodeGroups:
  - {name: workers, instanceType: m5.large, minSize: 0, maxSize: 5, iam: {withAddonPolicies: {autoScaler: true}}}
"""


def pod(more: str = "", container: str = "", image: str = "example.com/web:1") -> str:
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  {more or "restartPolicy: Always"}
  containers:
    - name: web
      image: {image}
      resources: {{requests: {{cpu: 100m, memory: 64Mi}}}}
      {container or "workingDir: /"}
"""


def only(starts: Starts) -> ColdStart:
    (found,) = starts.all()
    return found


def not_faster(one: Path, other: Path) -> bool:
    a, b = one.total, other.total
    return all(x >= y - 1e-9 for x, y in ((a.best, b.best), (a.typical, b.typical), (a.worst, b.worst)))


def test_three_paths_on_a_pool_that_makes_nodes(start: Start) -> None:
    (pool,) = only(start("---".join((POOL, pod())))).pools
    assert (pool.pool, pool.profile, pool.why_no_node) == ("NodePool/general", "eks-karpenter", "")
    assert [path.kind for path in pool.paths] == ["cached", "pull", "new-node"]
    assert pool.longest.kind == "new-node"
    assert [s.name for s in pool.paths[0].stages] == ["scheduling", "runtime", "application"]
    assert [s.name for s in pool.paths[2].stages if s.name in NODE_STAGES] == [
        "detection",
        "decision",
        "cloud-api",
        "boot",
        "kubelet",
        "network",
    ]


def test_nodes_have_warm_paths_only(start: Start) -> None:
    (pool,) = only(start("---".join((NODE, NODE.replace("worker-1", "worker-2"), pod())))).pools
    assert (pool.pool, pool.profile) == ("Nodes", "fixed-nodes")
    assert [path.kind for path in pool.paths] == ["cached", "pull"]
    assert pool.why_no_node == "these nodes are given, none is added"


def test_node_groups_have_the_profile_of_their_autoscaler(start: Start) -> None:
    (pool,) = only(start("---".join((GROUP, pod())))).pools
    assert pool.profile == "eks-cluster-autoscaler"
    assert pool.path("new-node") is not None
    assert "warm-pool" in {lever.name for lever in pool.levers}
    (fixed,) = only(start("---".join((GROUP.replace("minSize: 0", "minSize: 5"), pod())))).pools
    assert fixed.path("new-node") is None


def test_static_pools_make_no_node_for_a_pod(start: Start) -> None:
    found = only(start("---".join((POOL.replace("spec:\n  template", "spec:\n  replicas: 2\n  template", 1), pod()))))
    assert all(pool.path("new-node") is None and pool.why_no_node for pool in found.pools)


def test_a_pod_that_nobody_takes_has_no_path(start: Start) -> None:
    found = only(start("---".join((POOL, pod("nodeSelector: {no: such}")))))
    assert found.verdict == "never"
    assert found.pools == ()
    assert found.reason.startswith("no pool takes it")
    assert found.slowest is None
    assert found.over_budget is None


def test_a_pod_that_waits_for_nodes_of_others_has_no_path_of_a_new_one(start: Start) -> None:
    """karpenter:P-2: no node is made for a pod that asks for a label which only running nodes have."""
    other = pod().replace("name: web, namespace", "name: other, namespace")
    text = "---".join((POOL, pod('nodeSelector: {"karpenter.sh/initialized": "true"}'), other))
    found = next(s for s in start(text).all() if s.workload == "Pod/shop/web")
    assert (found.verdict, found.cause) == ("conditional", "existing-node")
    assert [[path.kind for path in pool.paths] for pool in found.pools] == [["cached", "pull"]]
    assert "no node is made for it" in found.pools[0].why_no_node


def test_sizes_come_from_what_nodes_and_config_say(start: Start) -> None:
    plain = only(start("---".join((NODE, pod())))).pools[0]
    pull = plain.paths[1].stage("image-pull")
    assert pull is not None
    # 125 MB: 1 s at 1 Gbit/s and 0.625 s to unpack, and one question to the registry
    assert pull.interval == Interval(0.05 + 1 + 0.625, 0.2 + 2 + 1.25, 2 + 10 + 2.5)
    small = {"example.com/web:*": Interval(0, 0, 0)}
    text = "---".join((POOL, pod()))
    stage = only(start(text, sizes=small)).pools[0].paths[1].stage("image-pull")
    assert stage is not None
    assert stage.interval == Interval(0.05, 0.2, 2)
    own = only(start(text, data={"name": "own", "images": {"example.com/web": 0}})).pools[0]
    assert own.profile == "own"
    assert own.paths[1].total == only(start(text, sizes=small)).pools[0].paths[1].total


@pytest.mark.parametrize(("image", "policy", "asks"), [
    ("a:1", "", False), ("a", "", True), ("a:latest", "", True), ("a:1", "imagePullPolicy: Always", True),
    ("a", "imagePullPolicy: IfNotPresent", False), ("a@sha256:ab", "", False),
])  # fmt: skip
def test_a_cached_image_may_be_asked_for(start: Start, image: str, policy: str, asks: bool) -> None:
    (pool,) = only(start("---".join((NODE, pod(container=policy, image=image))))).pools
    assert (pool.paths[0].stage("image-pull") is not None) is asks


def test_what_else_a_new_node_waits_for(start: Start) -> None:
    pool = POOL.replace(
        "requirements: [",
        "startupTaints: [{key: a, effect: NoSchedule}, {key: b, effect: NoSchedule}]\n      requirements: [",
    )
    daemon = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: agent, image: agent:1}]
"""
    slow = pool.replace("role: nodes", "role: nodes\n  userData: |\n    #!/bin/bash\n    sleep 1")
    (found,) = only(start("---".join((slow, daemon, pod())))).pools
    path = found.path("new-node")
    assert path is not None
    assert [s.name for s in path.stages][3:9] == [
        "boot",
        "user-data",
        "kubelet",
        "network",
        "startup-taints",
        "daemonsets",
    ]
    taints = path.stage("startup-taints")
    assert taints is not None
    assert taints.interval == Interval(5, 15, 120)


def test_devices_are_waited_for(start: Start) -> None:
    gpu = POOL.replace("instance-category, operator: In, values: [m]", "instance-category, operator: In, values: [g]")
    text = pod().replace("memory: 64Mi}", "memory: 64Mi}, limits: {nvidia.com/gpu: 1}")
    (pool,) = only(start("---".join((gpu, text)))).pools
    path = pool.path("new-node")
    assert path is not None
    assert path.stage("devices") is not None


def test_init_containers_run_in_order(start: Start) -> None:
    inits = """initContainers:
    - {name: one, image: "a:1"}
    - {name: side, image: "a:1", restartPolicy: Always,
       startupProbe: {exec: {command: [x]}, periodSeconds: 1, failureThreshold: 7}}
    - {name: wait, image: "a:1", command: [sh, -c, "until nc -z db 1; do sleep 1; done"]}"""
    (pool,) = only(start("---".join((NODE, pod(inits))))).pools
    stage = pool.paths[0].stage("init")
    assert stage is not None
    assert stage.interval == Interval(0.1 + 0.05 + 0.1, 2 + 1 + 5, 30 + 7 + 300)
    assert "1 in a loop" in stage.condition


@pytest.mark.parametrize(
    ("handler", "family"),
    [("runsc", "gvisor"), ("kata-qemu", "kata"), ("kata-fc", "firecracker"), ("spin", "wasm-aot"), ("own", None)],
)
def test_handlers_are_of_a_family(start: Start, handler: str, family: str | None) -> None:
    runtime = f"apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {{name: fast}}\nhandler: {handler}\n"
    text = "---\n".join((runtime, NODE, pod("runtimeClassName: fast")))
    found = only(start(text))
    assert (found.runtime_class, found.handler, found.family) == ("fast", handler, family)
    taught = only(start(text, data={"name": "own", "handlers": {"own": "kata"}}))
    assert taught.family == (family or "kata")


def test_the_runtime_counts_only_where_node_and_image_are_warm(start: Start) -> None:
    ready = "readinessProbe: {httpGet: {path: /, port: 80}, periodSeconds: 1}"
    own = {"name": "own", "stages": {"application": {"best": 0, "typical": 0, "worst": 0}}}
    (pool,) = only(start("---".join((POOL, pod(container=ready))), data=own)).pools
    cached, new = pool.path("cached"), pool.path("new-node")
    assert cached is not None
    assert new is not None
    on = {path.kind: {lever.name: lever for lever in pool.levers_on(path)}["runtime"] for path in (cached, new)}
    assert on["new-node"].share < 0.002
    assert on["cached"].most_share > 0.9
    assert all(lever.most >= lever.typical for lever in pool.levers)
    assert all(lever.most <= lever.path.total.worst for lever in pool.levers)


def test_budgets(start: Start) -> None:
    text = "---".join((POOL, pod()))
    annotated = text.replace("namespace: shop", "namespace: shop, annotations: {unpend.dev/cold-start-budget: 2m}")
    assert only(start(text)).budget is None
    for budgets, expected in (
        ({"default": 30.0}, 30), ({"default": 30.0, "Pod/shop/*": 40.0}, 40), ({"web": 50.0, "Pod/*": 40.0}, 40),
        ({"other": 1.0}, None),
    ):  # fmt: skip
        found = only(start(text, budget=budgets)).budget
        assert (None if found is None else found.seconds) == expected
    nearest = only(start(annotated, budget={"default": 30.0}))
    assert nearest.budget is not None
    assert nearest.budget.seconds == 120
    assert nearest.over_budget is False
    assert only(start(text, budget={"default": 30.0})).over_budget is True
    broken = only(start(annotated.replace("2m}", "soon}"), budget={"default": 30.0})).budget
    assert broken is not None
    assert broken.origin == "budget 'default'"


figures = st.tuples(*[st.floats(0, 500).map(lambda x: round(x, 2))] * 3).map(sorted)
rates = st.tuples(*[st.floats(1e5, 1e9)] * 3).map(lambda t: sorted(t, reverse=True))
NAMES = tuple(builtin_data("generic")["stages"])


def entry(values: list[float]) -> dict[str, float]:
    return dict(zip(("best", "typical", "worst"), values, strict=True))


@given(
    st.dictionaries(st.sampled_from([*NAMES, "image-pull"]), figures.map(entry)),
    rates.map(entry),
    rates.map(entry),
    st.sampled_from(["", "imagePullPolicy: Always", "startupProbe: {exec: {command: [x]}, failureThreshold: 5}"]),
)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_warm_cached_path_is_never_slower(
    start: Start, stages: Any, bandwidth: Any, unpack: Any, container: str
) -> None:
    data = {"name": "own", "stages": stages, "image": {"bandwidth": bandwidth, "unpack": unpack}}
    (pool,) = only(start("---".join((POOL, pod(container=container))), data=data)).pools
    cached, pulled, new = pool.paths
    assert not_faster(pulled, cached)
    assert not_faster(new, pulled)
    assert all(0 <= lever.typical <= lever.path.total.typical + 1e-9 for lever in pool.levers)
    assert all(0 <= lever.share <= 1 + 1e-9 for lever in pool.levers)
