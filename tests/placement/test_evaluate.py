"""Verdicts on Nodes: what runs there already, who is asked, what is open, and what would help."""

from __future__ import annotations

from typing import Any

import pytest

from unpend.model.reading import read_objects
from unpend.placement.blame import blame
from unpend.placement.evaluate import evaluate_inventory
from unpend.placement.pools import ALL_NODES, DAEMONSET_FACT, LEAVING_FACT, PREEMPTION_FACT, TOLERATION_FACT
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import Settings, World
from unpend.source.document import objects_of

Json = dict[str, Any]


def node(name: str, labels: Json | None = None, taints: list[Json] | None = None, **allocatable: str) -> Json:
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110", **allocatable}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"taints": taints or []},
        "status": {"allocatable": amounts},
    }


def container(**requests: str) -> Json:
    return {"name": "c", "image": "i", "resources": {"requests": requests}}


def workload(
    name: str = "web", replicas: int | None = 1, kind: str = "Deployment", spec: Json | None = None, **requests: str
) -> Json:
    pod = {"containers": [container(**requests)], **(spec or {})}
    template = {"metadata": {"labels": {"app": name}}, "spec": pod}
    body: Json = {"selector": {"matchLabels": {"app": name}}, "template": template}
    if replicas is not None:
        body["replicas"] = replicas
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "shop"}, "spec": body}


def bound(name: str, on: str, owner: str = "", app: str = "other", spec: Json | None = None, **requests: str) -> Json:
    metadata: Json = {"name": name, "namespace": "shop", "labels": {"app": app}}
    if owner:
        metadata["ownerReferences"] = [{"kind": owner, "name": "x", "controller": True}]
    pod = {"nodeName": on, "containers": [container(**requests)], **(spec or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod, "status": {"phase": "Running"}}


def evaluate(*objects: Json, world: World | None = None, admission: Any = "all") -> dict[str, WorkloadVerdict]:
    settings = Settings(world=world or World.all_closed(), admission=admission)
    verdicts = evaluate_inventory(read_objects(objects_of(list(objects)), settings), settings)
    return {v.workload.split("/")[-1]: v for v in verdicts}


def changes(verdict: WorkloadVerdict) -> list[str]:
    assert verdict.nearest is not None
    return [change.message for change in verdict.nearest.changes]


def test_bound_pods_occupy_and_finished_ones_do_not() -> None:
    full = evaluate(node("n"), workload(cpu="2"), bound("b", "n", cpu="3"))["web"]
    assert (full.verdict, full.cause) == ("never", "resources")
    assert "1 of 4 left" in full.conflict[0].message
    done = bound("b", "n", cpu="3")
    done["status"]["phase"] = "Succeeded"
    assert evaluate(node("n"), workload(cpu="2"), done)["web"].verdict == "fits"


def test_the_own_pods_of_a_workload_are_replaced_by_it() -> None:
    objects = (node("n"), workload(replicas=2, cpu="2"), bound("a", "n", "ReplicaSet", "web", cpu="2"))
    assert evaluate(*objects)["web"].verdict == "fits"
    others = (node("n"), workload(replicas=2, cpu="2"), bound("a", "n", "ReplicaSet", "api", cpu="2"))
    assert (evaluate(*others)["web"].verdict, evaluate(*others)["web"].replicas.at_most) == ("partial", 1)


def test_a_daemonset_takes_its_share_once() -> None:
    agent = workload("agent", None, "DaemonSet", cpu="2")
    assert evaluate(node("n"), agent, workload(cpu="3"))["web"].verdict == "never"
    # Its pod is there already: not counted a second time.
    there = bound("agent-x", "n", "DaemonSet", "agent", cpu="2")
    assert evaluate(node("n"), agent, there, workload(cpu="2"))["web"].verdict == "fits"
    assert evaluate(node("n"), agent, there)["agent"].verdict == "fits"


def test_daemonsets_that_do_not_fit_side_by_side_leave_the_answer_open() -> None:
    agents = [workload(name, None, "DaemonSet", cpu="3") for name in ("one", "two")]
    found = evaluate(node("n"), *agents, workload(cpu="1"))
    assert (found["one"].verdict, found["one"].cause) == ("conditional", "unknown-fact")
    assert (found["web"].verdict, [f.name for f in found["web"].facts]) == ("conditional", [DAEMONSET_FACT])
    assert evaluate(node("n"), *agents, workload(cpu="5"))["web"].verdict == "never"


def test_a_daemonset_is_judged_node_by_node() -> None:
    agent = workload("agent", None, "DaemonSet", cpu="2")
    small = node("small", cpu="1")
    tainted = node("gpu", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    found = evaluate(node("n"), small, tainted, agent)["agent"]
    assert [(p.pool, p.verdict) for p in found.pools] == [
        ("Node/n", "fits"),
        ("Node/small", "never"),
        ("Node/gpu", "skipped"),
    ]
    assert (found.verdict, found.cause, found.replicas.needed, found.replicas.at_most) == (
        "conditional",
        "resources",
        2,
        1,
    )
    assert evaluate(tainted, agent)["agent"].verdict == "skipped"


def test_pods_of_lower_priority_may_have_to_leave() -> None:
    high = workload(spec={"priorityClassName": "system-cluster-critical"}, cpu="3")
    found = evaluate(node("n"), high, bound("b", "n", cpu="3"))["web"]
    assert (found.verdict, [f.name for f in found.facts]) == ("conditional", [PREEMPTION_FACT])
    # More than the whole node: no eviction helps (S-1302).
    larger = workload(spec={"priorityClassName": "system-cluster-critical"}, cpu="5")
    assert evaluate(node("n"), larger, bound("b", "n", cpu="3"))["web"].verdict == "never"


def test_a_toleration_that_some_control_planes_add_leaves_the_answer_open() -> None:
    gpu = node("n", taints=[{"key": "nvidia.com/gpu", "effect": "NoSchedule"}])
    gpu["status"]["allocatable"]["nvidia.com/gpu"] = "1"
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}
    found = evaluate(gpu, workload(spec=spec))["web"]
    assert (found.verdict, [f.name for f in found.facts]) == ("conditional", [TOLERATION_FACT])
    assert evaluate(gpu, workload())["web"].verdict == "never"


def test_many_nodes_are_shown_together() -> None:
    nodes = [node(f"n{i}", {"pool": "general"}) for i in range(21)]
    found = evaluate(*nodes, workload(spec={"nodeSelector": {"pool": "gpu"}}), workload("api"))
    (pool,) = found["web"].pools
    assert (pool.pool, pool.verdict, pool.cause, pool.obstacles) == (
        ALL_NODES,
        "never",
        "labels",
        found["web"].conflict,
    )
    assert [p.verdict for p in found["api"].pools] == ["fits"]


def test_in_an_open_world_nothing_is_sure_but_the_reason_stays() -> None:
    found = evaluate(node("n"), workload(cpu="9"), world=World())["web"]
    assert (found.verdict, found.cause, found.conflict[0].cause) == ("conditional", "unknown-fact", "resources")
    assert found.pools[0].verdict == "never"
    fits = evaluate(node("n"), workload(), world=World())["web"]
    assert (fits.verdict, fits.certainty, fits.assumptions) == ("fits", "assumed", ("A5",))


def test_without_any_node() -> None:
    assert evaluate(workload())["web"].cause == "pool-unusable"
    assert evaluate(workload(), world=World())["web"].cause == "unknown-fact"
    assert evaluate(workload(replicas=0))["web"].verdict == "skipped"


def test_capacity_that_nobody_can_read_opens_the_pools() -> None:
    foreign = {"apiVersion": "karpenter.example.com/v1", "kind": "NodePool", "metadata": {"name": "x"}, "spec": {}}
    found = evaluate(node("n"), workload(cpu="9"), foreign)["web"]
    assert found.verdict in ("conditional", "never")


@pytest.mark.parametrize(
    ("spec", "fact"),
    [
        ({"schedulingGates": [{"name": "x.io/wait"}]}, "scheduling-gate"),
        ({"schedulerName": "other"}, "scheduler-name"),
        ({"nodeName": "n"}, "node-name"),
        ({"resourceClaims": [{"name": "x", "resourceClaimName": "k"}]}, "resource-claims"),
    ],
)
def test_what_the_scheduler_does_not_decide(spec: Json, fact: str) -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "k", "namespace": "shop"},
    }
    found = evaluate(node("n"), claim, workload(spec=spec))["web"]
    assert (found.verdict, found.cause) == ("conditional", "not-looked-at")
    assert [f.name for f in found.facts] == [fact]


def test_repairs_name_the_fewest_changes() -> None:
    typo = evaluate(node("a", {"pool": "general"}), workload(spec={"nodeSelector": {"pool": "genral"}}))["web"]
    assert changes(typo) == ["change nodeSelector pool from 'genral' to 'general'"]
    taint = [{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]
    both = evaluate(
        node("small", {"pool": "general"}),
        node("batch", {"pool": "batch"}, taint, cpu="3900m"),
        workload(spec={"nodeSelector": {"pool": "batch"}}, cpu="8"),
    )["web"]
    # Two changes either way: the node that the labels ask for comes first.
    assert both.nearest is not None
    assert both.nearest.pool == "Node/batch"
    assert changes(both) == [
        "add a toleration for dedicated=batch:NoSchedule",
        "lower the cpu request from 8 to at most 3900m",
    ]
    large = evaluate(node("a", cpu="2"), node("b", cpu="6"), workload(cpu="8"))["web"]
    assert changes(large) == ["lower the cpu request from 8 to at most 6"]
    assert large.conflict[0].against is not None
    assert large.conflict[0].against.object == "Node/b"
    full = evaluate(node("a", pods="0"), workload(cpu="8"))["web"]
    assert full.nearest is None


def test_host_ports_name_their_holder() -> None:
    spec = {"containers": [{**container(), "ports": [{"containerPort": 9100, "hostPort": 9100}]}]}
    exporter = workload("exporter", None, "DaemonSet", spec=spec)
    found = evaluate(node("n"), exporter, workload(spec=spec))["web"]
    assert found.cause == "ports"
    assert found.conflict[0].against is not None
    assert found.conflict[0].against.object == "DaemonSet/shop/exporter"


def test_what_runs_out_first_is_named() -> None:
    found = evaluate(node("a"), node("b"), workload(replicas=9, cpu="1500m", memory="1Gi"))["web"]
    assert (found.verdict, found.cause, found.replicas.at_most) == ("partial", "resources", 4)
    assert found.conflict[0].message == (
        "4 of the 9 pods find room: each asks for 1500m of cpu, and 2 nodes that can take one have 8 left in all"
    )


def test_a_daemon_set_that_the_api_refuses_takes_no_room() -> None:
    agent = workload("agent", None, "DaemonSet", cpu="1")
    agent["spec"]["template"]["spec"]["nodeSelector"] = {"disk": True}
    found = evaluate(node("a"), agent, workload(replicas=4, cpu="1"))
    assert (found["agent"].verdict, found["agent"].cause) == ("never", "rejected")
    assert found["web"].verdict == "fits"
    stored = evaluate(node("a"), agent, workload(replicas=4, cpu="1"), admission="none")
    assert stored["web"].verdict == "partial"


def terminating(pod: Json) -> Json:
    """The same pod while it is being deleted."""
    return {**pod, "metadata": {**pod["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}


def test_a_pod_that_waits_for_terminating_pods_is_conditional() -> None:
    old = terminating(bound("old", "n1", cpu="3"))
    (fact,) = evaluate(node("n1"), old, workload(cpu="2"))["web"].facts
    assert (fact.name, "Pod/shop/old" in fact.message) == (LEAVING_FACT, True)
    verdicts = {
        request: evaluate(node("n1"), old, workload(cpu=request))["web"] for request in ("1", "2", "3500m", "5")
    }
    assert {request: v.verdict for request, v in verdicts.items()} == {
        "1": "fits",
        "2": "conditional",
        "3500m": "conditional",
        "5": "never",
    }
    assert verdicts["5"].cause == "resources"
    # `unpend.evaluate` answers for this moment, as kube-scheduler does.
    assert evaluate(node("n1"), old, workload(cpu="2"), admission="templates")["web"].verdict == "never"
    # What really runs counts as ever, and so does a node that has room now.
    assert evaluate(node("n1"), bound("old", "n1", cpu="3"), workload(cpu="2"))["web"].verdict == "never"
    assert evaluate(node("n1"), node("n2"), old, workload(cpu="2"))["web"].verdict == "fits"


def test_terminating_pods_make_the_number_of_replicas_depend_on_them() -> None:
    found = evaluate(node("n1"), terminating(bound("old", "n1", cpu="3")), workload(replicas=3, cpu="1"))["web"]
    assert (found.verdict, found.replicas.at_least, found.replicas.at_most) == ("conditional", 1, 3)
    assert [fact.name for fact in found.facts] == [LEAVING_FACT]
    found = evaluate(node("n1"), terminating(bound("old", "n1", cpu="3")), workload(replicas=5, cpu="1"))["web"]
    assert (found.verdict, found.replicas.at_most) == ("partial", 4)


def test_ports_and_slots_of_terminating_pods_come_free() -> None:
    ports = {"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}]}
    old = terminating(bound("old", "n1", spec=ports))
    assert evaluate(node("n1"), old, workload(spec=ports))["web"].verdict == "conditional"
    assert evaluate(node("n1", pods="1"), old, workload())["web"].verdict == "conditional"


@pytest.mark.parametrize("reverse", [False, True])
def test_the_cause_is_that_of_the_nearest_pool(reverse: bool) -> None:
    taint = [{"key": "t", "value": "v", "effect": "NoSchedule"}]
    nodes = [node("far", {"pool": "y"}, taint), node("near", {"pool": "x"}, taint), node("small", {"pool": "y"})]
    found = evaluate(*(reversed(nodes) if reverse else nodes), workload(spec={"nodeSelector": {"pool": "x"}}))["web"]
    assert found.nearest is not None
    (nearest,) = (pool for pool in found.pools if pool.pool == found.nearest.pool)
    assert (found.verdict, found.cause) == ("never", nearest.cause)
    named = blame(found)
    assert named is not None
    assert (named.pool.pool, named.obstacle.cause) == (found.nearest.pool, found.cause)
