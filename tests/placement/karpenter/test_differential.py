"""Random NodePools and pods against a naive simulator of both deciders (`tools/diff_karpenter.py`)."""

from __future__ import annotations

import random
from typing import Any

import pytest

import unpend
from diff_karpenter import graded, random_case
from unpend.settings import Settings

NODE_CLASS = {"apiVersion": "test.sh/v1", "kind": "TestNodeClass", "metadata": {"name": "default"}}


@pytest.mark.parametrize("topology", [False, True])
def test_no_verdict_denies_what_both_deciders_allow(topology: bool) -> None:
    wrong = []
    for seed in range(60):
        found = graded(random_case(random.Random(seed), topology), random.Random(seed))
        if found.grade == "wrong alarm":
            wrong.append((seed, found))
    assert not wrong


def catalog(*types: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 1,
        "name": "own",
        "provides": [{"group": "test.sh", "kind": "TestNodeClass"}],
        "instanceTypes": [*types],
    }


def machine(name: str, cpu: int, *offerings: dict[str, Any]) -> dict[str, Any]:
    labels = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
    capacity = {"cpu": str(cpu), "memory": "8Gi", "pods": "10"}
    return {"name": name, "labels": labels, "capacity": capacity, "offerings": [*offerings]}


def pool(*requirements: dict[str, Any]) -> dict[str, Any]:
    reference = {"group": "test.sh", "kind": "TestNodeClass", "name": "default"}
    body = {"nodeClassRef": reference, "requirements": [*requirements]}
    spec = {"template": {"spec": body}}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "p"}, "spec": spec}


def pod(expressions: list[dict[str, Any]], preferred: list[dict[str, Any]], cpu: str = "100m") -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    affinity: dict[str, Any] = {}
    if expressions:
        terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = terms
    if preferred:
        soft = [{"weight": 1, "preference": {"matchExpressions": preferred}}]
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = soft
    spec = {"containers": [container], "affinity": {"nodeAffinity": affinity}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "main"}, "spec": spec}


def verdict(types: dict[str, Any], *objects: dict[str, Any]) -> str:
    found = unpend.evaluate([NODE_CLASS, *objects], Settings(catalogs=(types,)))
    return found[0].verdict


def test_a_pod_mints_the_label_that_it_asks_for() -> None:
    """`Exists` and `NotIn` of one custom key make `NotIn`, which every pool passes and which a random number meets."""
    types = catalog(machine("t", 4, {"zone": "z1"}))
    exists, others = {"key": "team", "operator": "Exists"}, {"key": "team", "operator": "NotIn", "values": ["a"]}
    assert verdict(types, pool(), pod([exists, others], [])) == "fits"
    assert verdict(types, pool(), pod([exists], [others])) == "fits"
    assert verdict(types, pool(), pod([exists], [])) == "never"


def test_a_zone_that_is_sold_out_counts_for_min_values() -> None:
    """T-8: what can be had now does not change the zones of a type (§2.8)."""
    types = catalog(
        machine("small", 1, {"zone": "z1"}, {"zone": "z2"}),
        machine("large", 4, {"zone": "z1"}, {"zone": "z2", "available": False}),
    )
    zones = {"key": "topology.kubernetes.io/zone", "operator": "Exists", "minValues": 2}
    assert verdict(types, pool(zones), pod([], [], "2")) == "fits"


def test_nodes_have_the_random_numbers_that_other_pods_mint() -> None:
    types = catalog(machine("t", 4, {"zone": "z1"}))
    other = pod([{"key": "team", "operator": "NotIn", "values": ["a"]}], [])
    other["metadata"]["name"] = "other"
    assert verdict(types, pool(), pod([{"key": "team", "operator": "Exists"}], []), other) == "conditional"
    assert verdict(types, pool(), pod([{"key": "team", "operator": "In", "values": ["b"]}], []), other) == "never"


def test_daemons_with_the_same_host_port_do_not_both_take_room() -> None:
    types = catalog(machine("t", 1, {"zone": "z1"}))
    types["instanceTypes"][0]["capacity"]["pods"] = "2"
    daemons: list[dict[str, Any]] = []
    for name in ("one", "two"):
        labels = {"app": name}
        container = {"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 81}]}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"selector": {"matchLabels": labels}, "template": template}
        daemons.append({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name}, "spec": spec})
    static = pool()
    static["spec"]["replicas"] = 1
    assert verdict(types, pod([], []), static, daemons[0], daemons[1]) != "never"


def test_a_domain_that_is_drawn_without_luck_relaxes_the_pod_further() -> None:
    """The preferred type is in z2 only: with z1 drawn the preference goes, and a node that is taken comes."""
    arm = machine("arm", 4, {"zone": "z2"})
    arm["labels"]["kubernetes.io/arch"] = "arm64"
    types = catalog(machine("amd", 4, {"zone": "z1"}), arm)
    wanted = pod([], [{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}])
    amd = {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [amd]}, {}]}
    wanted["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = terms
    assert verdict(types, pool(), wanted) == "loop"
    wanted["metadata"]["labels"] = {"app": "main"}
    zone = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
    wanted["spec"]["topologySpreadConstraints"] = [zone | {"labelSelector": {"matchLabels": {"app": "main"}}}]
    assert verdict(types, pool(), wanted) == "conditional"


def test_a_random_number_is_none_of_the_excluded_ones() -> None:
    """What `tier NotIn ["1"]` mints is drawn from 2^63 numbers; within written bounds it may be the excluded one."""
    types = catalog(machine("t", 4, {"zone": "z1"}))
    not_one = {"key": "tier", "operator": "NotIn", "values": ["1"]}
    assert verdict(types, pool(), pod([not_one], [])) == "fits"
    bounded = pool({"key": "tier", "operator": "Lt", "values": ["3"]})
    assert verdict(types, bounded, pod([not_one], [])) == "conditional"


def test_domains_of_a_pool_with_a_soft_taint_are_no_sure_domains() -> None:
    """With nodeTaintsPolicy Honor, PreferNoSchedule keeps the zones of a pool out at first (T-2, A-1)."""
    types = catalog(machine("t", 1, {"zone": "z1"}), machine("u", 1, {"zone": "z2"}))
    good = pool({"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z1"]})
    soft = pool({"key": "team", "operator": "In", "values": ["a"]})
    soft["metadata"]["name"] = "soft"
    soft["spec"]["template"]["spec"]["taints"] = [{"key": "gpu", "value": "y", "effect": "PreferNoSchedule"}]
    wanted = pod([{"key": "team", "operator": "DoesNotExist"}], [], "600m")["spec"]
    zone = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
    zone |= {"nodeTaintsPolicy": "Honor", "labelSelector": {"matchLabels": {"app": "main"}}}
    wanted["topologySpreadConstraints"] = [zone]
    labels = {"app": "main"}
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": wanted},
    }
    workload = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "main"}, "spec": spec}
    assert verdict(types, good, soft, workload) == "conditional"
