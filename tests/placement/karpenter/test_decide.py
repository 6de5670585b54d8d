"""One pod against NodePools: the tables P0 to P12, and traps of `docs/semantics/karpenter.md` §11."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import unpend
from unpend.model.reading import read_objects
from unpend.placement.blame import blame
from unpend.placement.evaluate import evaluate_inventory
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import KarpenterSettings, Settings, World
from unpend.source.document import objects_of

Data = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"
FAMILY = "karpenter.k8s.aws/instance-family"


def node_class(**spec: Any) -> Data:
    terms = [{"tags": {"team": "a"}}]
    base = {"amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "node"}
    base |= {"subnetSelectorTerms": terms, "securityGroupSelectorTerms": terms}
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": base | spec,
    }


def requirement(key: str, operator: str, *values: str, **more: Any) -> Data:
    entry: Data = {"key": key, "operator": operator, **more}
    return entry | {"values": list(values)} if values else entry


def pool(name: str = "main", *requirements: Data, **more: Any) -> Data:
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    template: Data = {"spec": {"nodeClassRef": reference, "requirements": list(requirements)}}
    template["spec"] |= {key: more.pop(key) for key in ("taints", "startupTaints") if key in more}
    if "labels" in more:
        template["metadata"] = {"labels": more.pop("labels")}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template, **more},
    }


def pod(name: str = "pod", requests: Data | None = None, **spec: Any) -> Data:
    container = {"name": "main", "image": "x", "resources": {"requests": requests or {}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container], **spec},
    }


def affinity(*terms: list[Data], preferred: list[Data] | None = None) -> Data:
    node: Data = {}
    if terms:
        node["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": [{"matchExpressions": term} for term in terms]
        }
    if preferred:
        node["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": 100, "preference": {"matchExpressions": preferred}}
        ]
    return {"nodeAffinity": node}


def taint(key: str = "gpu", effect: str = "NoSchedule") -> Data:
    return {"key": key, "effect": effect}


def answer(*objects: Data, settings: Settings | None = None, name: str = "pod") -> WorkloadVerdict:
    verdicts = unpend.evaluate([node_class(), *objects], settings=settings)
    return next(v for v in verdicts if v.workload.endswith("/" + name))


def answer_in(world: World, *objects: Data) -> WorkloadVerdict:
    settings = Settings(world=world, admission="all")
    return evaluate_inventory(read_objects(objects_of([node_class(), *objects]), settings), settings)[-1]


def said(found: WorkloadVerdict) -> tuple[str, str | None]:
    return found.verdict, found.cause


TEAM = requirement("team", "In", "a", "b")

NEVER_LAUNCHED: dict[str, tuple[list[Data], Data, str | None]] = {
    # Trap of §11.1: objects, pod, the semantics that the obstacle names.
    "1 preference": (
        [pool()],
        pod(affinity=affinity(preferred=[requirement("karpenter.sh/nodepool", "DoesNotExist")])),
        "P-1",
    ),
    "2 first term": (
        [pool()],
        pod(
            affinity=affinity(
                [requirement("karpenter.sh/nodepool", "DoesNotExist")],
                [requirement("karpenter.sh/capacity-type", "In", "spot")],
            )
        ),
        "P-1",
    ),
    "4 hostname in a later term": (
        [pool()],
        pod(
            affinity=affinity(
                [requirement("kubernetes.io/arch", "In", "amd64")], [requirement("kubernetes.io/hostname", "In", "n")]
            )
        ),
        "P-2",
    ),
    "5 hostname": ([pool()], pod(nodeSelector={"kubernetes.io/hostname": "n"}), "P-2"),
    "6 node class": ([pool()], pod(nodeSelector={"karpenter.k8s.aws/ec2nodeclass": "default"}), "P-2"),
    "7 initialized": ([pool()], pod(nodeSelector={"karpenter.sh/initialized": "true"}), "P-2"),
    "8 undefined label": ([pool()], pod(nodeSelector={"team": "a"}), None),
    "9 invented label": ([pool()], pod(nodeSelector={"node.kubernetes.io/instance-family": "m5"}), None),
    "11 absent, label": (
        [pool(labels={"team": "a"})],
        pod(affinity=affinity([requirement("team", "DoesNotExist")])),
        None,
    ),
    "12 absent, Exists": (
        [pool("main", requirement("team", "Exists"))],
        pod(affinity=affinity([requirement("team", "DoesNotExist")])),
        None,
    ),
    "13 memory in GiB": (
        [
            pool(
                "main",
                requirement("karpenter.k8s.aws/instance-memory", "Gt", "16"),
                requirement("karpenter.k8s.aws/instance-memory", "Lt", "64"),
            )
        ],
        pod(),
        "§7.4",
    ),
    "14 ondemand": ([pool("main", requirement("karpenter.sh/capacity-type", "In", "ondemand"))], pod(), "N-12"),
    "15 taint twice": (
        [pool(taints=[taint()], startupTaints=[taint()])],
        pod(tolerations=[{"operator": "Exists"}]),
        "N-11",
    ),
    "16 limit": (
        [pool("main", requirement("karpenter.k8s.aws/instance-cpu", "Gt", "1"), limits={"cpu": "1"})],
        pod(),
        "L-4",
    ),
    "17 disk": ([pool()], pod(requests={"ephemeral-storage": "25Gi"}), None),
    "19 device": ([pool()], pod(requests={"smarter-devices/fuse": "1"}), None),
    "21 millions": ([pool()], pod(requests={"cpu": "1000000"}), None),
    "41 minValues": (
        [pool("main", requirement("node.kubernetes.io/instance-type", "Exists", minValues=2))],
        pod(nodeSelector={"node.kubernetes.io/instance-type": "m5.large"}),
        "§2.8",
    ),
    "42 minValues on a custom key": ([pool("main", requirement("team", "Exists", minValues=1))], pod(), "§2.8"),
    "43 two spellings": (
        [pool()],
        pod(
            nodeSelector={"beta.kubernetes.io/arch": "amd64"},
            affinity=affinity([requirement("kubernetes.io/arch", "In", "arm64")]),
        ),
        None,
    ),
}

LAUNCHED: dict[str, tuple[list[Data], Data]] = {
    "2 terms swapped": (
        [pool()],
        pod(
            affinity=affinity(
                [requirement("karpenter.sh/capacity-type", "In", "spot")],
                [requirement("karpenter.sh/nodepool", "DoesNotExist")],
            )
        ),
    ),
    "10 minted label": ([pool("main", requirement("team", "NotIn", "x"))], pod(nodeSelector={"team": "a"})),
    "16 limit within": ([pool(limits={"cpu": "4"})], pod(requests={"cpu": "1"})),
    "17 disk within": ([pool()], pod(requests={"ephemeral-storage": "15Gi"})),
    "45 only a preferred taint": ([pool(taints=[taint(effect="PreferNoSchedule")])], pod()),
    "W-1 preference given up": (
        [pool("main", TEAM)],
        pod(affinity=affinity(preferred=[requirement("team", "In", "c")])),
    ),
    "X-1 last term without the preference": (
        [pool("main", TEAM)],
        pod(
            affinity=affinity(
                [requirement("team", "In", "z")],
                [requirement("team", "In", "a")],
                preferred=[requirement("colour", "In", "red")],
            )
        ),
    ),
}


@pytest.mark.parametrize("trap", NEVER_LAUNCHED)
def test_nothing_is_launched(trap: str) -> None:
    objects, asked, semantics = NEVER_LAUNCHED[trap]
    found = answer(*objects, asked)
    assert found.verdict in ("never", "loop") or found.cause == "bootstrap-nodes"
    (only,) = found.pools
    assert only.autoscaler_says in ("no", "unknown")
    assert only.obstacles
    if semantics is not None:
        assert f"karpenter:{semantics}" in {o.semantics for o in only.obstacles}


@pytest.mark.parametrize("trap", LAUNCHED)
def test_a_node_is_launched(trap: str) -> None:
    objects, asked = LAUNCHED[trap]
    found = answer(*objects, asked)
    assert said(found) == ("fits", None)
    assert found.witness is not None
    assert found.witness.pool == "NodePool/main"
    assert found.witness.type


def test_required_terms_are_used_up_before_preferences() -> None:
    """X-1: the first term would do without the preference, but only the last one is ever tried without it."""
    asked = pod(
        affinity=affinity(
            [requirement("team", "In", "a")],
            [requirement("team", "In", "z")],
            preferred=[requirement("colour", "In", "red")],
        )
    )
    found = answer(pool("main", TEAM), asked)
    assert said(found) == ("never", "autoscaler-refuses")
    assert found.nearest is not None
    assert len(found.nearest.changes) == 1
    open_world = answer_in(replace(World.all_closed(), workloads="open"), pool("main", TEAM), asked)
    assert said(open_world) == ("conditional", "existing-node")


def test_preferences_do_not_count_under_ignore() -> None:
    settings = Settings(karpenter=KarpenterSettings(preference_policy="Ignore"))
    asked = pod(
        affinity=affinity(
            [requirement("team", "In", "a")],
            [requirement("team", "In", "z")],
            preferred=[requirement("colour", "In", "red")],
        )
    )
    assert said(answer(pool("main", TEAM), asked, settings=settings)) == ("fits", None)


def test_p1_a_pool_that_is_not_ready() -> None:
    broken = pool() | {"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "NodeClassNotReady"}]}}
    assert said(answer(broken, pod())) == ("never", "pool-unusable")
    assert said(answer(broken, pool("other"), pod())) == ("fits", None)


def test_p1_a_node_class_that_is_not_there() -> None:
    missing = pool()
    missing["spec"]["template"]["spec"]["nodeClassRef"]["name"] = "other"
    assert said(answer(missing, pod())) == ("never", "pool-unusable")


def test_p2_nodes_that_nobody_knows() -> None:
    unknown = pool()
    unknown["spec"]["template"]["spec"]["nodeClassRef"] = {"group": "example.com", "kind": "Box", "name": "x"}
    box = {"apiVersion": "example.com/v1", "kind": "Box", "metadata": {"name": "x"}}
    found = answer(unknown, box, pod())
    assert said(found) == ("conditional", "unknown-fact")
    unknown["spec"]["template"]["spec"]["taints"] = [taint()]
    assert said(answer(unknown, box, pod())) == ("never", "taint")


def test_p4_labels_that_only_karpenter_takes() -> None:
    """An empty required term matches no node, and asks Karpenter for nothing (trap 55)."""
    found = answer(
        pool(),
        pod(
            affinity={
                "nodeAffinity": affinity()["nodeAffinity"]
                | {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}]}}
            }
        ),
    )
    assert said(found) == ("loop", "scheduler-refuses")
    (only,) = found.pools
    assert (only.autoscaler_says, only.scheduler_says) == ("yes", "no")


def test_p4_two_negative_requirements_that_leave_nothing() -> None:
    """Karpenter lets two complements overlap always (R-3): the node gets a number that kube-scheduler refuses."""
    limited = pool("main", requirement("slot", "Gt", "3"), requirement("slot", "Lt", "5"))
    asked = pod(affinity=affinity([requirement("slot", "NotIn", "4")]))
    assert answer(limited, asked).verdict in ("loop", "conditional")


def test_p5_both_refuse() -> None:
    found = answer(pool(taints=[taint()]), pod())
    assert said(found) == ("never", "taint")
    (only,) = found.pools
    assert {o.semantics for o in only.obstacles} == {"scheduler:P-402", "karpenter:A-1"}
    assert any("did not tolerate taint (taint=gpu:NoSchedule)" in o.message for o in only.obstacles)
    assert found.nearest is not None
    assert found.nearest.changes[0].message == "add a toleration for gpu:NoSchedule"


def test_p7_another_workload_makes_the_node() -> None:
    asked = pod(nodeSelector={"karpenter.sh/registered": "true"})
    assert said(answer(pool(), asked)) == ("never", "autoscaler-refuses")
    assert said(answer(pool(), asked, pod("other"))) == ("conditional", "existing-node")


def test_p10_candidates_of_the_unknown_dimension() -> None:
    """Without zones the pool has at least one of the region: any will do, a certain one will perhaps."""
    settings = Settings(region="us-east-1")
    assert said(answer(pool(), pod(), settings=settings)) == ("fits", None)
    asked = pod(nodeSelector={ZONE: "us-east-1a"})
    assert said(answer(pool(), asked, settings=settings)) == ("conditional", "unknown-fact")
    listed = pool("main", requirement(ZONE, "In", "us-east-1a", "us-east-1b"))
    found = answer(listed, asked, settings=settings)
    assert said(found) == ("fits", None)
    assert found.zones == ("us-east-1a",)
    assert "A2" in found.assumptions
    asked = pod(nodeSelector={ZONE: "eu-west-1a"})
    assert answer(pool(), asked, settings=settings).verdict == "never"


def test_subnets_of_the_node_class_say_the_zones() -> None:
    subnets = {"status": {"subnets": [{"id": "subnet-1", "zone": "us-east-1a", "zoneID": "use1-az1"}]}}
    listed = pool("main", requirement(ZONE, "In", "us-east-1a", "us-east-1b"))
    verdicts = unpend.evaluate([node_class() | subnets, listed, pod(nodeSelector={ZONE: "us-east-1b"})])
    assert verdicts[0].verdict == "never"


def test_a_type_that_the_catalogue_does_not_know_is_not_refused() -> None:
    new = pool("main", requirement("node.kubernetes.io/instance-type", "In", "m99x.large"))
    assert said(answer(new, pod())) == ("conditional", "unknown-fact")


def test_p11_only_some_of_the_types_are_taken() -> None:
    """What a LimitRange adds to a DaemonSet of one architecture is unknown to Karpenter (I-3)."""
    agent = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "ops"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {
                "metadata": {"labels": {"app": "agent"}},
                "spec": {
                    "nodeSelector": {"kubernetes.io/arch": "arm64"},
                    "containers": [{"name": "a", "image": "x"}],
                },
            },
        },
    }
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "d", "namespace": "ops"},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]},
    }
    small = pool("main", requirement("node.kubernetes.io/instance-type", "In", "m5.large", "m6g.large"))
    found = answer(small, agent, limits, pod(requests={"cpu": "1500m"}))
    assert said(found) == ("conditional", "launch-choice")


def test_starved_by_a_pool_that_is_tried_before() -> None:
    blocked = pool("first", weight=100, startupTaints=[taint("karpenter.sh/unregistered")])
    found = answer(blocked, pool("second"), pod())
    assert said(found) == ("conditional", "starved")
    assert said(answer(blocked, pool("second", weight=100) | {"metadata": {"name": "zzz"}}, pod())) == ("fits", None)


def test_static_pools_launch_nothing() -> None:
    assert said(answer(pool(replicas=2), pod())) == ("conditional", "existing-node")
    assert answer(pool(replicas=0), pod()).verdict == "never"


def test_pools_that_may_not_be_all_of_them() -> None:
    found = answer_in(World(), pool(taints=[taint()]), pod())
    assert said(found) == ("conditional", "unknown-fact")
    assert found.facts[0].name == "other-pools"


def test_nodes_and_node_pools_count_both() -> None:
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n", "labels": {"disk": "ssd"}},
        "status": {"allocatable": amounts, "capacity": amounts},
    }
    on_node = answer(node, pool(), pod(nodeSelector={"disk": "ssd"}))
    assert said(on_node) == ("fits", None)
    assert [p.pool for p in on_node.pools] == ["Node/n", "NodePool/main"]
    on_pool = answer(node, pool(), pod(requests={"cpu": "16"}))
    assert said(on_pool) == ("fits", None)
    assert on_pool.witness is not None
    assert on_pool.witness.pool == "NodePool/main"


def test_bootstrap_nodes() -> None:
    found = answer(pool(), pod(affinity=affinity([requirement("karpenter.sh/nodepool", "DoesNotExist")])))
    assert said(found) == ("conditional", "bootstrap-nodes")


def test_limits_bound_the_replicas() -> None:
    workload = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": 10,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod(requests={"cpu": "3"})["spec"]},
        },
    }
    limited = pool("main", requirement("node.kubernetes.io/instance-type", "In", "m5.xlarge"), limits={"cpu": "16"})
    found = answer(limited, workload, name="web")
    assert said(found) == ("partial", "limits")
    assert found.replicas.at_most == 4
    wide = pool("main", requirement("node.kubernetes.io/instance-type", "In", "m5.xlarge"), limits={"cpu": "40"})
    assert said(answer(wide, workload, name="web")) == ("fits", None)


def test_daemon_sets_of_pools() -> None:
    def agent(cpu: str) -> Data:
        spec = pod(requests={"cpu": cpu}, tolerations=[{"operator": "Exists"}])["spec"]
        return {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": {"name": "agent", "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": {"app": "agent"}},
                "template": {"metadata": {"labels": {"app": "agent"}}, "spec": spec},
            },
        }

    small = pool("main", requirement("node.kubernetes.io/instance-type", "In", "m5.large"))
    assert said(answer(small, agent("1"), name="agent")) == ("fits", None)
    assert said(answer(small, agent("3"), name="agent")) == ("never", "resources")


def test_memory_within_what_karpenter_may_learn() -> None:
    """A7: m5.large has 6903 MiB for pods as configured (W-6), and at most what its nominal 8192 MiB leave."""
    small = pool("main", requirement("node.kubernetes.io/instance-type", "In", "m5.large"))
    near = answer(small, pod(requests={"memory": "7000Mi"}))
    assert (near.verdict, near.assumptions) == ("never", ("A7",))
    far = answer(small, pod(requests={"memory": "9000Mi"}))
    assert (far.verdict, far.assumptions) == ("never", ())
    assert said(answer(small, pod(requests={"memory": "6900Mi"}))) == ("fits", None)


def test_json_shape() -> None:
    data = answer(pool(), pool("gpu", taints=[taint()]), pod()).to_dict()
    first, second = data["pools"]
    assert first["pool"] == "NodePool/main"
    assert first["deciders"] == {"karpenter": "yes", "scheduler": "yes"}
    assert second["deciders"] == {"karpenter": "no", "scheduler": "no"}
    assert data["spot"]["types"] > 100


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_the_cause_is_that_of_the_pool_with_the_cheapest_repair(order: tuple[str, str]) -> None:
    far, near = order
    found = answer(
        pool(far, requirement("kubernetes.io/arch", "In", "arm64"), labels={"team": "x"}),
        pool(near, labels={"team": "y"}, taints=[taint("one")]),
        pod(nodeSelector={"team": "y", "kubernetes.io/arch": "amd64"}),
    )
    assert found.nearest is not None
    assert (said(found), found.nearest.pool) == (("never", "taint"), f"NodePool/{near}")
    named = blame(found)
    assert named is not None
    assert (named.pool.pool, named.obstacle.cause) == (f"NodePool/{near}", "taint")
