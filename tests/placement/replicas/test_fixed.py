"""Replicas on Node objects, from manifest to verdict: updates, autoscalers, evictions, claims, targets of affinity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import unpend
from unpend.model.inventory import IntOrPercent, Strategy
from unpend.model.reading import read_objects
from unpend.placement.evaluate import evaluate_inventory
from unpend.placement.replicas.update import Surge, surge_of
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import Settings, World
from unpend.source.document import objects_of

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
Manifest = dict[str, Any]


def node(name: str, zone: str = "a", cpu: str = "2") -> Manifest:
    labels = {HOST: name, ZONE: zone}
    status = {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def container(cpu: str) -> Manifest:
    return {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}


def bound(name: str, on: str) -> Manifest:
    meta = {"name": name, "namespace": "d", "labels": {"app": "old"}}
    spec = {"nodeName": on, "priority": 0, "containers": [container("1")]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def deployment(name: str, replicas: int, spec: Manifest | None = None, cpu: str = "1") -> Manifest:
    labels = {"app": name}
    pod = {"containers": [container(cpu)], **(spec or {})}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "d"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }


def term(kind: str, key: str, app: str, **more: object) -> Manifest:
    found = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **more}
    return {"affinity": {kind: {REQUIRED: [found]}}}


def spread(key: str, app: str) -> Manifest:
    selector = {"matchLabels": {"app": app}}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}


def last(objects: Iterable[Manifest]) -> WorkloadVerdict:
    return unpend.evaluate(objects)[-1]


def said(verdict: WorkloadVerdict) -> tuple[str, str | None, int, int]:
    return verdict.verdict, verdict.cause, verdict.replicas.at_least, verdict.replicas.at_most


NODES = [node("a"), node("b", "b")]


def test_an_update_beside_anti_affinity_has_no_node_for_the_new_pod() -> None:
    verdict = last([*NODES, deployment("w", 2, term("podAntiAffinity", HOST, "w"))])
    assert said(verdict) == ("fits", None, 2, 2)
    assert verdict.to_dict()["replicas"]["rollout"] == {"needed": 3, "atMost": 2}
    surge = surge_of(read_objects(objects_of([deployment("w", 2)]), Settings()).workloads[0], 2)
    assert surge == Surge(1, 0)
    assert surge is not None
    assert surge.deadlocks(2, 2)
    assert not surge.deadlocks(2, 3)


def test_a_revision_label_in_the_term_lets_old_and_new_share_a_node() -> None:
    spec = term("podAntiAffinity", HOST, "w", matchLabelKeys=["pod-template-hash"])
    verdict = last([*NODES, deployment("w", 2, spec)])
    assert verdict.to_dict()["replicas"]["rollout"] == {"needed": 3, "atMost": 3}


def test_surge_rounds_up_and_unavailable_rounds_down() -> None:
    workload = read_objects(objects_of([deployment("w", 1)]), Settings()).workloads[0]
    found = {n: surge_of(workload, n) for n in (1, 3, 4, 5, 7, 8, 10)}
    pairs = {n: (s.extra, s.unavailable) for n, s in found.items() if s}
    assert pairs == {1: (1, 0), 3: (1, 0), 4: (1, 1), 5: (2, 1), 7: (2, 1), 8: (2, 2), 10: (3, 2)}
    place = workload.place
    zero = Strategy("RollingUpdate", IntOrPercent(0, None, place), IntOrPercent(None, 10, place), place)
    assert surge_of(replace(workload, strategy=zero), 5) == Surge(0, 1)
    assert surge_of(replace(workload, strategy=Strategy("Recreate", place=place)), 5) is None


def test_two_spread_constraints_under_an_autoscaler_on_two_and_one_nodes() -> None:
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h", "namespace": "d"},
        "spec": {
            "minReplicas": 2,
            "maxReplicas": 6,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "w"},
        },
    }
    spec = {"topologySpreadConstraints": [spread(ZONE, "w"), spread(HOST, "w")]}
    nodes = [node("a", cpu="9"), node("b", cpu="9"), node("c", "b", cpu="2")]
    replicas = last([*nodes, scaler, deployment("w", 2, spec)]).to_dict()["replicas"]
    assert (replicas["needed"], replicas["maximum"]) == (2, {"needed": 6, "atMost": 5})


def test_pods_of_lower_priority_make_the_number_a_fact() -> None:
    important = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "p"}, "value": 9}
    around = [*NODES, bound("x", "a"), bound("y", "b"), important]
    verdict = last([*around, deployment("w", 4, {"priorityClassName": "p"})])
    assert said(verdict) == ("conditional", "unknown-fact", 2, 4)
    assert [fact.name for fact in verdict.facts] == ["preemption"]
    assert said(last([*around, deployment("w", 4)])) == ("partial", "resources", 2, 2)


def test_a_claim_for_one_pod() -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "namespace": "d"},
        "spec": {"accessModes": ["ReadWriteOncePod"]},
    }
    spec = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}
    replicas = last([*NODES, claim, deployment("w", 2, spec)]).replicas
    assert replicas.at_most <= 1


def test_targets_of_affinity() -> None:
    needs = deployment("w", 1, term("podAffinity", HOST, "cache"))
    assert said(last([*NODES, needs]))[:2] == ("never", "affinity")
    stranded = deployment("cache", 1, {"nodeSelector": {"no": "way"}})
    assert said(last([*NODES, stranded, needs]))[:2] == ("never", "affinity")
    assert said(last([*NODES, deployment("cache", 1), needs]))[0] == "fits"
    back = deployment("cache", 1, term("podAffinity", HOST, "w"))
    assert [v.verdict for v in unpend.evaluate([*NODES, needs, back])] == ["never", "never"]


def test_a_target_that_was_not_found_is_a_fact_where_workloads_are_open() -> None:
    objects = objects_of([*NODES, deployment("w", 1, term("podAffinity", HOST, "cache"))])
    settings = Settings(world=replace(World.all_closed(), workloads="open"), admission="templates")
    (verdict,) = evaluate_inventory(read_objects(objects, settings), settings)
    assert said(verdict)[:2] == ("conditional", "unknown-fact")
    assert "affinity-target" in [fact.name for fact in verdict.facts]


def test_pods_of_a_daemonset_are_there_before_the_replicas() -> None:
    agent = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "d"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [container("100m")]}},
        },
    }
    assert last([*NODES, agent, deployment("w", 1, term("podAffinity", HOST, "agent"))]).verdict == "fits"
    avoiding = last([*NODES, agent, deployment("w", 1, term("podAntiAffinity", HOST, "agent"))])
    assert said(avoiding)[:2] == ("never", "affinity")


def test_pods_that_run_already_are_counted_anew() -> None:
    pod = bound("w-1", "a")
    pod["metadata"]["labels"] = {"app": "w"}
    pod["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "w-1", "uid": "u"}]
    verdict = last([*NODES, pod, deployment("w", 2, term("podAntiAffinity", HOST, "w"))])
    assert said(verdict)[2:] == (2, 2)


def test_contention_names_both() -> None:
    verdicts = unpend.evaluate([node("a"), deployment("x", 1), deployment("y", 2)])
    assert {v.cause for v in verdicts} == {"contention"}
    assert verdicts[0].contention == (("Deployment/d/x", "Deployment/d/y"),)
