"""Numbers beside the verdict of topology rules on NodePools: updates, maxima of autoscalers, certainty, releases."""

from __future__ import annotations

from typing import Any

import unpend
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import KarpenterSettings, Settings

ZONE = "topology.kubernetes.io/zone"
Data = dict[str, Any]


def node_class() -> Data:
    terms = [{"tags": {"team": "a"}}]
    spec = {"amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "node"}
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": spec | {"subnetSelectorTerms": terms, "securityGroupSelectorTerms": terms},
    }


def pool(name: str, zones: str, **spec: Any) -> Data:
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    requirements = [
        {"key": ZONE, "operator": "In", "values": [f"us-east-1{zone}" for zone in zones]},
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.large"]},
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
    ]
    labels = {"labels": {"pool": name}}
    template = {"metadata": labels, "spec": {"nodeClassRef": reference, "requirements": requirements}}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template, **spec},
    }


def web(replicas: int, **spec: Any) -> Data:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "1500m"}}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container], **spec}},
        },
    }


def spread(**more: Any) -> Data:
    rule = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [rule | {"labelSelector": {"matchLabels": {"app": "web"}}} | more]}


def apart() -> Data:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def autoscaler(maximum: int) -> Data:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": maximum},
    }


def judge(*objects: Data, version: str = "1.14") -> WorkloadVerdict:
    settings = Settings(karpenter=KarpenterSettings(version=version))
    return unpend.evaluate([node_class(), *objects], settings=settings)[0]


def test_a_new_pod_of_an_update_needs_a_zone_of_its_own() -> None:
    verdict = judge(pool("main", "abc"), web(3, **apart()))
    assert verdict.verdict == "fits"
    assert verdict.replicas.rollout is not None
    assert verdict.replicas.rollout.at_most == 3
    assert judge(pool("main", "abcd"), web(3, **apart())).replicas.rollout is None


def test_the_pods_of_a_revision_may_count_alone() -> None:
    few = judge(pool("main", "abc"), web(3, **spread(minDomains=4)))
    assert few.verdict == "fits"
    assert few.replicas.rollout is not None
    told_apart = judge(pool("main", "abc"), web(3, **spread(minDomains=4, matchLabelKeys=["pod-template-hash"])))
    assert told_apart.replicas.rollout is None


def test_the_maximum_of_an_autoscaler_is_counted_by_itself() -> None:
    verdict = judge(pool("main", "abc"), web(2, **apart()), autoscaler(5))
    assert (verdict.verdict, verdict.replicas.at_most) == ("fits", 2)
    assert verdict.replicas.maximum is not None
    assert (verdict.replicas.maximum.needed, verdict.replicas.maximum.at_most) == (5, 3)
    limited = judge(pool("main", "abc", limits={"cpu": "6"}), web(2), autoscaler(5))
    assert limited.replicas.maximum is not None
    assert limited.replicas.maximum.at_most == 3


def test_what_is_derived_is_assumed() -> None:
    verdict = judge(pool("main", "ab"), pool("other", "abc"), web(3, nodeSelector={"pool": "main"}, **spread()))
    assert (verdict.verdict, verdict.certainty, verdict.replicas.at_most) == ("partial", "assumed", 2)
    assert [o.semantics for o in verdict.conflict] == ["karpenter:T-15"]


def test_releases_that_leave_out_pools_that_the_pod_cannot_use() -> None:
    objects = (pool("main", "ab"), pool("other", "abc"), web(3, nodeSelector={"pool": "main"}, **spread()))
    assert judge(*objects, version="1.11.0").verdict == "fits"
    assert judge(*objects, version="1.11.1").verdict == "partial"


def test_policies_count_from_1_3_on() -> None:
    tainted = pool("other", "abc")
    tainted["spec"]["template"]["spec"]["taints"] = [{"key": "d", "effect": "NoSchedule"}]
    objects = (pool("main", "ab"), tainted, web(3, **spread(nodeTaintsPolicy="Honor")))
    assert judge(*objects).verdict == "fits"
    assert judge(*objects, version="1.2").verdict == "partial"
