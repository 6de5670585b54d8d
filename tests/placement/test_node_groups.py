"""Node groups beside kube-scheduler: who scales, what is imagined, how many nodes there can be."""

from __future__ import annotations

import random
from typing import Any

import pytest
import yaml

import unpend
from unpend.model.reading import read_objects
from unpend.placement.cluster_autoscaler.group_facts import groups_of
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import ClusterAutoscalerSettings, Settings
from unpend.source.document import objects_of

AUTOSCALED = Settings(node_group_autoscaler="cluster-autoscaler")


def group(name: str = "ng", **spec: Any) -> dict[str, Any]:
    """A group of ours with one zone and enough room, unless `spec` says otherwise."""
    base: dict[str, Any] = {
        "provider": "gcp",
        "minSize": 0,
        "maxSize": 4,
        "zones": ["z1"],
        "arch": "amd64",
        "allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"},
    }
    base.update(spec)
    return {"apiVersion": "unpend.dev/v1", "kind": "NodeGroup", "metadata": {"name": name}, "spec": base}


def deployment(replicas: int = 1, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    """A Deployment called web."""
    container = {"name": "main", "image": "main:1", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container], **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def eksctl(**fields: Any) -> dict[str, Any]:
    """A ClusterConfig with one self-managed group that Cluster Autoscaler scales."""
    entry = {"name": "ng", "minSize": 0, "maxSize": 4, "availabilityZones": ["us-east-1a"], **fields}
    entry.setdefault("iam", {"withAddonPolicies": {"autoScaler": True}})
    return {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "metadata": {"name": "c", "region": "us-east-1"},
        "nodeGroups": [entry],
    }


def controller(*arguments: str) -> dict[str, Any]:
    """The Deployment of Cluster Autoscaler with these flags."""
    container = {
        "name": "ca",
        "image": "registry.k8s.io/autoscaling/cluster-autoscaler:v1.34.0",
        "command": list(arguments),
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "ca", "namespace": "kube-system"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "ca"}},
            "template": {"metadata": {"labels": {"app": "ca"}}, "spec": {"containers": [container]}},
        },
    }


def judge(*objects: dict[str, Any], settings: Settings = AUTOSCALED) -> WorkloadVerdict:
    """The verdict of `web`."""
    return next(v for v in unpend.evaluate(list(objects), settings) if v.workload.endswith("/web"))


def said(verdict: WorkloadVerdict) -> tuple[str, str | None, int, int]:
    return verdict.verdict, verdict.cause, verdict.replicas.at_least, verdict.replicas.at_most


def test_a_group_grows_up_to_its_maximum() -> None:
    assert said(judge(group(), deployment(12))) == ("fits", None, 12, 12)
    short = judge(group(), deployment(20))
    assert said(short) == ("partial", "limits", 16, 16)
    assert "max node group size reached" in short.conflict[0].message
    assert short.conflict[0].against is not None
    assert str(short.conflict[0].against.place) == "spec.maxSize"


def test_nodes_up_to_the_minimum_are_there_whoever_scales() -> None:
    for settings in (AUTOSCALED, Settings(), Settings(node_group_autoscaler="none")):
        assert said(judge(group(minSize=2), deployment(8), settings=settings)) == ("fits", None, 8, 8)


def test_who_scales_a_group_is_not_guessed() -> None:
    unsaid = judge(group(minSize=1), deployment(8), settings=Settings())
    assert said(unsaid) == ("conditional", "unknown-fact", 4, 8)
    assert [fact.name for fact in unsaid.facts] == ["node-group-autoscaler"]
    assert said(judge(group(minSize=1), deployment(8), settings=Settings(node_group_autoscaler="none")))[:2] == (
        "partial",
        "resources",
    )
    assert said(judge(group(minSize=1), deployment(8), controller(), settings=Settings()))[0] == "fits"
    assert said(judge(group(minSize=1, autoscaling=True), deployment(8), settings=Settings()))[0] == "fits"


def test_without_an_autoscaler_the_desired_size_counts() -> None:
    settings = Settings(node_group_autoscaler="none")
    assert said(judge(group(desiredSize=3), deployment(12), settings=settings)) == ("fits", None, 12, 12)


def test_several_groups_add_up() -> None:
    assert said(judge(group("a", maxSize=1), group("b", maxSize=2), deployment(12))) == ("fits", None, 12, 12)
    assert said(judge(group("a", maxSize=1), group("b", maxSize=2), deployment(13)))[3] == 12


def test_a_maximum_of_zero_gives_nothing() -> None:
    assert said(judge(group(maxSize=0), deployment()))[:2] == ("never", "pool-unusable")


def test_an_unknown_maximum_is_no_bound() -> None:
    verdict = judge(group(maxSize=None), deployment(50))
    assert verdict.verdict == "conditional"
    assert verdict.replicas.at_most == 50


def test_unknown_machines_are_conditional_unless_a_taint_or_label_refuses() -> None:
    unknown = group(allocatable=None, instanceTypes=["n9-mega"], labels={"team": "a"})
    assert said(judge(unknown, deployment()))[:2] == ("conditional", "unknown-fact")
    assert said(judge(unknown, deployment(nodeSelector={"team": "b"})))[:2] == ("never", "labels")
    tainted = group(allocatable=None, taints=[{"key": "a", "effect": "NoSchedule"}])
    assert said(judge(tainted, deployment()))[:2] == ("never", "taint")


def test_a_group_in_a_loop_may_starve_the_right_one() -> None:
    bad = group("bad", taints=[{"key": "t", "value": "v", "effect": "NoSchedule"}], planned={"taints": []})
    assert said(judge(bad, deployment()))[:2] == ("loop", "scheduler-refuses")
    assert said(judge(bad, group("good"), deployment()))[:2] == ("conditional", "starved")
    assert said(judge(bad, group("good", minSize=1), deployment()))[:2] == ("fits", None)


def test_planned_labels_that_lack_one_mean_no_node() -> None:
    blind = group(labels={"team": "a"}, planned={"labels": {}})
    verdict = judge(blind, deployment(nodeSelector={"team": "a"}))
    assert said(verdict)[:2] == ("conditional", "existing-node")
    (pool,) = verdict.pools
    assert (pool.autoscaler_says, pool.scheduler_says) == ("no", "yes")
    assert "pod didn't trigger scale-up" in pool.obstacles[0].message
    assert said(judge(group(minSize=1, labels={"team": "a"}), deployment(nodeSelector={"team": "a"})))[0] == "fits"


def test_allocatable_of_an_eks_node_and_what_the_autoscaler_reckons_with() -> None:
    inventory = read_objects(objects_of([eksctl(instanceType="m5.large")]), AUTOSCALED)
    (found,) = groups_of(inventory, AUTOSCALED).groups
    (real,), (imagined,) = found.actual.shapes, found.imagined.shapes
    assert (real.free["cpu"].low, imagined.free["cpu"].low) == (1930, 2000)
    assert real.free["memory"].high < 8 * 2**30 == imagined.free["memory"].low
    assert (real.slots.low, imagined.slots.low) == (29, 110)
    assert "ephemeral-storage" not in imagined.free


@pytest.mark.parametrize(("cpu", "verdict"), [("1930m", "fits"), ("1950m", "loop"), ("2001m", "never")])
def test_requests_between_real_and_nominal_size(cpu: str, verdict: str) -> None:
    assert judge(eksctl(instanceType="m5.large"), deployment(cpu=cpu)).verdict == verdict


def test_daemonsets_take_room_in_both_views() -> None:
    agent = yaml.safe_load(
        """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: agent, resources: {requests: {cpu: 150m}}}]}
"""
    )
    assert judge(eksctl(instanceType="m5.large"), agent, deployment(cpu="1950m")).verdict == "never"
    assert judge(eksctl(instanceType="m5.large"), agent, deployment(cpu="1780m")).verdict == "fits"


def test_first_type_decides() -> None:
    def mixed(*types: str) -> dict[str, Any]:
        distribution = {"instanceTypes": list(types), "onDemandPercentageAboveBaseCapacity": 0}
        return eksctl(instancesDistribution=distribution)

    assert said(judge(mixed("m5.4xlarge", "m5.large"), deployment(cpu="8")))[:2] == ("conditional", "launch-choice")
    assert said(judge(mixed("m5.large", "m5.4xlarge"), deployment(cpu="8")))[:2] == ("conditional", "existing-node")
    assert judge(mixed("m5.large", "m5a.large"), deployment(cpu="1")).verdict == "fits"


def test_first_zone_decides() -> None:
    wide = eksctl(availabilityZones=["us-east-1b", "us-east-1a"])
    zone = "topology.kubernetes.io/zone"
    assert said(judge(wide, deployment(nodeSelector={zone: "us-east-1b"})))[:2] == ("conditional", "existing-node")
    assert said(judge(wide, deployment(nodeSelector={zone: "us-east-1a"})))[:2] == ("conditional", "launch-choice")
    assert judge(wide, deployment(nodeSelector={zone: "us-east-1c"})).verdict == "never"
    assert judge(eksctl(), deployment(nodeSelector={zone: "us-east-1a"})).verdict == "fits"
    assert judge(eksctl(), deployment(nodeSelector={"topology.kubernetes.io/region": "us-east-1"})).verdict == "fits"


def test_startup_taints_are_declared_by_flag_or_prefix() -> None:
    def tainted(key: str) -> dict[str, Any]:
        tag = f"k8s.io/cluster-autoscaler/node-template/taint/{key}"
        return eksctl(taints=[{"key": key, "value": "true", "effect": "NoExecute"}], tags={tag: "true:NoExecute"})

    cilium = "node.cilium.io/agent-not-ready"
    assert judge(tainted(cilium), deployment()).cause == "existing-node"
    assert judge(tainted(cilium), deployment(), controller(f"--startup-taint={cilium}")).verdict == "fits"
    assert judge(tainted(cilium), deployment(), controller("--startup-taint", cilium)).verdict == "fits"


def test_pods_below_the_cutoff_get_no_node() -> None:
    low = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "low"}, "value": -20}
    web = deployment(priorityClassName="low")
    settings = Settings(node_group_autoscaler="cluster-autoscaler", admission="all")
    assert judge(group(), low, web, settings=settings).cause == "existing-node"
    assert judge(group(minSize=1), low, web, settings=settings).verdict == "fits"
    flagged = controller("./cluster-autoscaler", "--expendable-pods-priority-cutoff=-30")
    assert judge(group(), low, web, flagged, settings=settings).verdict == "fits"
    lower = Settings(
        node_group_autoscaler="cluster-autoscaler",
        admission="all",
        cluster_autoscaler=ClusterAutoscalerSettings(expendable_pods_priority_cutoff=-30),
    )
    assert judge(group(), low, web, settings=lower).verdict == "fits"


def test_one_pod_per_host_is_bounded_by_the_number_of_nodes() -> None:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    assert said(judge(group(), deployment(4, "100m", affinity=apart))) == ("fits", None, 4, 4)
    assert said(judge(group(), deployment(5, "100m", affinity=apart)))[:2] == ("partial", "limits")
    assert said(judge(group(minSize=2), deployment(5, "100m", affinity=apart)))[3] == 4


def test_refused_groups_have_no_nodes() -> None:
    verdict = judge(group(minSize=3, maxSize=2), deployment())
    assert said(verdict)[:2] == ("never", "pool-unusable")


def test_nodes_and_groups_together() -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}},
        "status": {"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "10"}},
    }
    verdict = judge(node, group(maxSize=1), deployment(6))
    assert said(verdict) == ("fits", None, 6, 6)
    assert [pool.pool for pool in verdict.pools] == ["Node/n1", "NodeGroup/ng"]


def test_an_open_world_has_other_pools() -> None:
    result = unpend.check([group(maxSize=0), deployment()], Settings())
    (verdict,) = result.workloads
    assert (verdict.verdict, verdict.cause) == ("conditional", "unknown-fact")


def test_what_agents_and_device_plugins_add_is_no_refusal() -> None:
    labelled = deployment(nodeSelector={"feature.node.kubernetes.io/cpu-cpuid.AVX512F": "true"})
    assert judge(eksctl(), labelled).cause == "existing-node"
    device = deployment()
    requests = device["spec"]["template"]["spec"]["containers"][0]["resources"]
    requests["limits"] = requests["requests"] = {"example.com/fpga": "1"}
    assert judge(eksctl(), device).cause == "existing-node"
    requests["limits"] = requests["requests"] = {"nvidia.com/gpu": "1"}
    assert judge(eksctl(), device).verdict == "never"


def test_one_pod_needs_no_known_zone_for_its_spread() -> None:
    spread = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    wide = group(minSize=2, zones=None)
    assert said(judge(wide, deployment(topologySpreadConstraints=[spread])))[0] == "fits"
    assert said(judge(wide, deployment(2, topologySpreadConstraints=[spread])))[0] == "conditional"


def test_startup_taints_of_the_settings() -> None:
    key = "ebs.csi.aws.com/agent-not-ready"
    tag = f"k8s.io/cluster-autoscaler/node-template/taint/{key}"
    tainted = eksctl(taints=[{"key": key, "value": "x", "effect": "NoExecute"}], tags={tag: "x:NoExecute"})
    stated = Settings(cluster_autoscaler=ClusterAutoscalerSettings(startup_taints=(key,)))
    assert judge(tainted, deployment()).cause == "existing-node"
    assert judge(tainted, deployment(), settings=stated).verdict == "fits"


def agent(cpu: str, **spec: Any) -> dict[str, Any]:
    """A DaemonSet called web."""
    found = deployment(cpu=cpu, **spec)
    found["kind"] = "DaemonSet"
    del found["spec"]["replicas"]
    return found


def test_daemonsets_on_groups_that_may_be_empty() -> None:
    assert said(judge(group(), agent("1")))[:2] == ("fits", None)
    assert said(judge(group(), agent("5")))[:2] == ("never", "resources")
    assert said(judge(group(minSize=1), agent("5")))[:2] == ("never", "resources")
    assert said(judge(group(), group("big", allocatable={"cpu": "8", "pods": "10"}), agent("5")))[0] == "conditional"
    assert said(judge(group(taints=[{"key": "a", "effect": "NoSchedule"}]), agent("1")))[:2] == ("skipped", None)
    assert said(judge(group(labels={"team": "a"}), agent("1", nodeSelector={"team": "b"})))[:2] == ("skipped", None)


def test_numbers_and_reasons_agree_whatever_the_groups_are() -> None:
    """A seeded mix of groups and pods: bounds are in order, and every verdict that is not `fits` says why."""
    chance = random.Random(3)
    for _ in range(150):
        taints = [{"key": chance.choice("ab"), "value": chance.choice(["", "x"]), "effect": "NoSchedule"}]
        groups = [
            {
                "name": f"g{number}",
                "minSize": chance.randint(0, 2),
                "maxSize": chance.randint(2, 4),
                "labels": {key: chance.choice("xy") for key in chance.sample(["p", "q"], chance.randint(0, 2))},
                "taints": taints[: chance.randint(0, 1)],
                "availabilityZones": chance.sample(["us-east-1a", "us-east-1b"], chance.randint(1, 2)),
                "propagateASGTags": chance.random() < 0.5,
                "instanceType": chance.choice(["m5.large", "t3.medium", "m6g.large", "zz.top"]),
            }
            for number in range(chance.randint(1, 3))
        ]
        config = {**eksctl(), chance.choice(["nodeGroups", "managedNodeGroups"]): groups}
        selected = {
            chance.choice(["p", "topology.kubernetes.io/zone", "kubernetes.io/arch"]): chance.choice(["x", "arm64"])
        }
        spec: dict[str, Any] = {"nodeSelector": selected} if chance.random() < 0.5 else {}
        verdict = judge(config, deployment(chance.randint(1, 6), chance.choice(["100m", "1950m", "3"]), **spec))
        counts = verdict.replicas
        assert 0 <= counts.at_least <= counts.at_most <= counts.needed
        assert verdict.verdict != "fits" or counts.at_least == counts.needed
        assert verdict.verdict not in ("never", "loop") or (counts.at_most == 0 and verdict.conflict)
        assert verdict.verdict != "partial" or 0 < counts.at_most < counts.needed
        assert verdict.verdict != "conditional" or verdict.facts
        assert len(verdict.to_dict()["pools"]) >= len(groups)
