"""Topology rules over node groups that grow: examples, and bounds against a search over what kube-scheduler allows."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

import unpend
from unpend.model.reading import read_objects
from unpend.placement.evaluate import evaluate_inventory
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import Settings, World
from unpend.source.document import objects_of

ZONE = "topology.kubernetes.io/zone"
AUTOSCALED = Settings(node_group_autoscaler="cluster-autoscaler", world=World.all_closed())
SELECTOR = {"matchLabels": {"app": "web"}}


def group(name: str, *zones: str, least: int = 0, most: int = 4, cpu: str = "4", **spec: Any) -> dict[str, Any]:
    base = {"provider": "gcp", "minSize": least, "maxSize": most, "zones": list(zones), "arch": "amd64", **spec}
    base["allocatable"] = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    return {"apiVersion": "unpend.dev/v1", "kind": "NodeGroup", "metadata": {"name": name}, "spec": base}


def workload(replicas: int, name: str = "web", cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "main:1", "resources": {"requests": {"cpu": cpu}}}
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container], **spec}},
        },
    }


def spread(skew: int = 1, **more: Any) -> list[dict[str, Any]]:
    return [
        {"maxSkew": skew, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR} | more
    ]


def peers(kind: str, key: str = ZONE, app: str = "web") -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def judge(*objects: dict[str, Any], settings: Settings = AUTOSCALED) -> WorkloadVerdict:
    return next(v for v in unpend.evaluate(list(objects), settings) if v.workload.endswith("/web"))


def said(verdict: WorkloadVerdict) -> tuple[str, str | None, int]:
    return verdict.verdict, verdict.cause, verdict.replicas.at_most


THREE = (group("a", "z1"), group("b", "z2"), group("c", "z3"))


def test_one_group_for_each_zone_is_relied_on() -> None:
    assert said(judge(*THREE, workload(6, topologySpreadConstraints=spread()))) == ("fits", None, 6)


def test_one_group_over_all_zones_is_not() -> None:
    verdict = judge(group("all", "z1", "z2", "z3", most=9), workload(6, topologySpreadConstraints=spread()))
    assert said(verdict) == ("conditional", "unknown-fact", 6)
    assert "one zone for all nodes" in verdict.facts[0].message


def test_one_pod_of_each_zone() -> None:
    apart = peers("podAntiAffinity")
    assert said(judge(*THREE, workload(3, affinity=apart))) == ("fits", None, 3)
    verdict = judge(*THREE, workload(4, affinity=apart))
    assert said(verdict) == ("partial", "affinity", 3)
    assert verdict.conflict[0].semantics == "scheduler:S-923"
    several = judge(group("all", "z1", "z2", "z3", most=9), workload(4, affinity=apart))
    assert said(several) == ("partial", "affinity", 3)


def test_fewer_zones_than_min_domains() -> None:
    verdict = judge(*THREE, workload(4, topologySpreadConstraints=spread(minDomains=4)))
    assert said(verdict) == ("partial", "topology", 3)


def test_a_node_that_nobody_tolerates_keeps_the_minimum_at_zero() -> None:
    taint = [{"key": "gpu", "effect": "NoSchedule"}]
    dead = group("gpu", "z4", least=1, taints=taint)
    verdict = judge(*THREE, dead, workload(4, topologySpreadConstraints=spread()))
    assert said(verdict) == ("partial", "topology", 3)
    honoured = judge(*THREE, dead, workload(4, topologySpreadConstraints=spread(nodeTaintsPolicy="Honor")))
    assert said(honoured) == ("fits", None, 4)


def test_a_zone_that_fills_up_leaves_it_open() -> None:
    small = group("c", "z3", most=1, cpu="1")
    verdict = judge(*THREE[:2], small, workload(8, topologySpreadConstraints=spread()))
    assert (verdict.verdict, verdict.replicas.at_least, verdict.replicas.at_most) == ("conditional", 5, 8)


def test_nodes_that_are_there_and_nodes_to_come_raise_each_others_limit() -> None:
    # Two pods on the nodes that are there until zone three grows: then four more.
    there = (group("a", "z1", least=1, most=1), group("b", "z2", least=1, most=1), group("c", "z3", least=1, cpu="1"))
    assert judge(*there, workload(9, topologySpreadConstraints=spread())).replicas.at_most == 9


def test_pods_that_wait_for_nobody() -> None:
    lonely = workload(1, affinity=peers("podAffinity", app="cache"))
    verdict = judge(*THREE, lonely)
    assert said(verdict) == ("never", "affinity", 0)
    assert verdict.conflict
    opened = replace(AUTOSCALED, world=replace(World.all_closed(), workloads="open"))
    inventory = read_objects(tuple(objects_of([*THREE, lonely])), opened)
    assert [v.verdict for v in evaluate_inventory(inventory, opened)] == ["conditional"]


def test_pods_that_wait_for_each_other() -> None:
    web = workload(1, affinity=peers("podAffinity", app="cache"))
    cache = workload(1, "cache", affinity=peers("podAffinity", app="web"))
    assert said(judge(*THREE, web, cache)) == ("never", "affinity", 0)


Group = tuple[tuple[str, ...], int, int, int]
"""Zones, fewest and most nodes, pods that fit on a node."""
Node = tuple[str, int, int]
"""Zone, group, pods."""


def most_pods(groups: list[Group], replicas: int, skew: int, least: int, rule: str) -> int:
    """The most pods that kube-scheduler lets run, whatever nodes are made in whatever order."""
    starts: set[tuple[Node, ...]] = {()}
    for number, (zones, fewest, _, _) in enumerate(groups):
        for _ in range(fewest):
            starts = {tuple(sorted((*state, (zone, number, 0)))) for state in starts for zone in zones}
    best, seen, todo = 0, set(starts), list(starts)
    while todo:
        state = todo.pop()
        held: dict[str, int] = {}
        for zone, _, pods in state:
            held[zone] = held.get(zone, 0) + pods
        best = max(best, sum(held.values()))
        if best >= replicas:
            return replicas
        minimum = 0 if len(held) < least else min(held.values(), default=0)
        following: list[tuple[Node, ...]] = []
        for place, (zone, number, pods) in enumerate(state):
            open_to_it = held[zone] + 1 - minimum <= skew if rule == "spread" else not held[zone]
            if open_to_it and pods < groups[number][3]:
                following.append((*state[:place], (zone, number, pods + 1), *state[place + 1 :]))
        for number, (zones, _, most, _) in enumerate(groups):
            if sum(1 for node in state if node[1] == number) < most:
                following.extend((*state, (zone, number, 0)) for zone in zones)
        for after in following:
            ordered = tuple(sorted(after))
            if ordered not in seen:
                seen.add(ordered)
                todo.append(ordered)
    return best


@pytest.mark.parametrize("seed", range(3))
def test_bounds_hold(seed: int) -> None:
    pick = random.Random(seed)
    exact = 0
    for _ in range(60):
        groups: list[Group] = []
        for _ in range(pick.randint(1, 3)):
            fewest = pick.randint(0, 1)
            zones = tuple(sorted(pick.sample(("z1", "z2", "z3"), 1 if fewest else pick.randint(1, 2))))
            groups.append((zones, fewest, pick.randint(max(fewest, 1), 2), pick.randint(1, 2)))
        replicas, skew, least = pick.randint(2, 5), pick.randint(1, 2), pick.choice((1, 1, 2, 3))
        rule = pick.choice(("spread", "spread", "apart"))
        more = {"minDomains": least} if least > 1 else {}
        spec = (
            {"topologySpreadConstraints": spread(skew, **more)}
            if rule == "spread"
            else {"affinity": peers("podAntiAffinity")}
        )
        made = [
            group(f"g{n}", *zones, least=fewest, most=most, cpu=str(copies))
            for n, (zones, fewest, most, copies) in enumerate(groups)
        ]
        verdict = judge(*made, workload(replicas, **spec))
        reached = most_pods(groups, replicas, skew, least, rule)
        assert verdict.replicas.at_most >= reached, (groups, replicas, skew, least, rule, verdict.verdict)
        if verdict.verdict == "fits":
            assert reached == replicas, (groups, replicas, skew, least, rule)
        exact += verdict.replicas.at_most == reached
    assert exact >= 45
