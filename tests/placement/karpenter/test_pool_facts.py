"""What single NodePools are, and why a pod and a NodePool do not go together."""

from __future__ import annotations

from typing import Any

import pytest

from unpend.model.admission import admit
from unpend.model.inventory import Inventory
from unpend.model.pod import Taint
from unpend.model.problems import sentence
from unpend.model.reading import read_objects
from unpend.placement.demand import demand_of
from unpend.placement.karpenter.manifest_problems import manifest_problems
from unpend.placement.karpenter.pod_facts import (
    kept_out_by_limits,
    kept_out_by_storage,
    offered_resources,
    reached_architectures,
    root_volume,
)
from unpend.placement.karpenter.pool_facts import (
    daemon_share,
    managed_pools,
    no_types,
    only_devices,
    short_of_values,
)
from unpend.placement.karpenter.startup_agents import agent_for, removed_by_the_cluster, removers
from unpend.settings import Settings, World
from unpend.source.document import objects_of

SETTINGS = Settings(world=World.all_closed(), zones=("us-east-1a", "us-east-1b"))
TERMS = [{"tags": {"karpenter.sh/discovery": "x"}}]
GIB = 1024**3 * 1000


def node_class(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {
            "role": "node",
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": TERMS,
            "securityGroupSelectorTerms": TERMS,
            **spec,
        },
    }


def pool(*requirements: dict[str, Any], kind: str = "EC2NodeClass", **spec: Any) -> dict[str, Any]:
    ref = {"group": "karpenter.k8s.aws" if kind == "EC2NodeClass" else "example.com", "kind": kind, "name": "default"}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "p"},
        "spec": {"template": {"spec": {"nodeClassRef": ref, "requirements": list(requirements)}}, **spec},
    }


def needs(key: str, operator: str, *values: str, **more: Any) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values), **more}


def pod(requests: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "a", "image": "a:1", "resources": {"requests": requests or {}}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": containers, **spec},
    }


def read(*objects: dict[str, Any]) -> Inventory:
    return read_objects(objects_of(list(objects)), SETTINGS)


FAMILY = "karpenter.k8s.aws/instance-family"
MEMORY = "karpenter.k8s.aws/instance-memory"
ARCH = "kubernetes.io/arch"


@pytest.mark.parametrize(
    ("requirements", "guilty"),
    [
        ([needs(FAMILY, "In", "m5")], None),
        ([needs(FAMILY, "In", "m5", "m99i")], None),
        ([needs(FAMILY, "In", "m5"), needs(ARCH, "In", "arm64")], [FAMILY, ARCH]),
        ([needs("example.com/team", "In", "a"), needs(FAMILY, "In", "m5"), needs(ARCH, "In", "arm64")], [FAMILY, ARCH]),
        ([needs(ARCH, "In", "arm64"), needs(ARCH, "NotIn", "arm64")], [ARCH, ARCH]),
        (
            [needs("beta.kubernetes.io/arch", "In", "arm64"), needs(ARCH, "In", "amd64")],
            ["beta.kubernetes.io/arch", ARCH],
        ),
    ],
)
def test_requirements_that_leave_no_type(requirements: list[dict[str, Any]], guilty: list[str] | None) -> None:
    """Only those that take part are named, with or without the node class (`karpenter.md` §7.4)."""
    for objects in ([pool(*requirements), node_class()], [pool(*requirements)]):
        pools = managed_pools(read(*objects), SETTINGS)
        found = no_types(pools.pools[0], pools)
        assert (None if found is None else [r.key for r in found.requirements]) == guilty


def test_gibibytes_in_a_label_that_counts_mebibytes() -> None:
    pools = managed_pools(read(pool(needs(MEMORY, "Gt", "16"), needs(MEMORY, "Lt", "64"))), SETTINGS)
    found = no_types(pools.pools[0], pools)
    assert found is not None
    assert "MiB" in found.hint


def test_what_the_catalogue_does_not_know_is_told() -> None:
    pools = managed_pools(read(pool(needs(FAMILY, "In", "m99i")), node_class()), SETTINGS)
    found = no_types(pools.pools[0], pools)
    assert found is not None
    assert found.news is not None
    assert "m99i" in found.news


@pytest.mark.parametrize(
    ("requirements", "carried"),
    [
        ([needs(FAMILY, "In", "m5", "m6i", "m7i", minValues=3)], []),
        ([needs(FAMILY, "In", "m5"), needs("node.kubernetes.io/instance-type", "Exists", minValues=50)], [9]),
        ([needs("example.com/team", "In", "a", "b", minValues=2)], [0]),
        ([needs(FAMILY, "In", "m5", "m98i", "m99i", minValues=3)], []),
        # Types are sold in both ways, whatever the pool takes of it.
        ([needs("karpenter.sh/capacity-type", "Exists", minValues=2), needs(FAMILY, "In", "m5")], []),
    ],
)
def test_min_values(requirements: list[dict[str, Any]], carried: list[int]) -> None:
    """`karpenter.md` §2.8."""
    pools = managed_pools(read(pool(*requirements), node_class()), SETTINGS)
    found = [short.carried for short in short_of_values(pools.pools[0], pools)]
    assert len(found) == len(carried)
    assert all(0 < got < 50 if wanted else got == 0 for got, wanted in zip(found, carried, strict=True))


def test_pools_of_accelerators() -> None:
    def answer(*requirements: dict[str, Any], **spec: Any) -> bool:
        return only_devices(managed_pools(read(pool(*requirements, **spec), node_class()), SETTINGS).pools[0])

    assert answer(needs(FAMILY, "In", "g5", "p5", "inf2"))
    assert not answer(needs(FAMILY, "In", "g5", "m5"))
    assert not answer()
    assert not answer(needs(FAMILY, "In", "g5"), limits={"nvidia.com/gpu": "0"})
    assert not answer(kind="OtherClass")


def test_the_smallest_type_on_which_daemonsets_fit() -> None:
    daemon = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": pod({"cpu": "100m", "memory": "700Mi"})},
    }
    daemon["spec"]["template"]["metadata"] = {"labels": {"a": "b"}}  # type: ignore[index]
    pools = managed_pools(read(pool(needs(FAMILY, "In", "t3")), node_class(), daemon), SETTINGS)
    share = daemon_share(pools.pools[0], pools, "memory")
    assert share is not None
    assert share.type == "t3.small", "it does not fit on t3.nano and t3.micro"
    assert 0.4 < share.share < 0.7
    assert [owner for owner, _ in share.daemons] == ["DaemonSet/agent"]


def test_limits_and_disks_that_keep_a_pod_out() -> None:
    inventory = read(pool(limits={"cpu": "4", "memory": "512Gi"}), node_class(), pod({"cpu": "7"}))
    found = managed_pools(inventory, SETTINGS).pools[0]
    effective = admit(inventory.workloads[0], inventory, SETTINGS)
    demand = demand_of(effective)
    assert kept_out_by_limits(found, demand, {"cpu": 7000, "pods": 1000}) == ("cpu",)
    assert kept_out_by_limits(found, demand, {"cpu": 3000, "pods": 1000}) == ()
    assert kept_out_by_limits(found, demand, {"cpu": 5_000_000, "pods": 1000}) == ()
    storage = kept_out_by_storage(found, demand, {"cpu": 1000, "ephemeral-storage": 25 * GIB})
    assert storage is not None
    assert storage.most == 17 * GIB
    assert kept_out_by_storage(found, demand, {"cpu": 1000, "ephemeral-storage": 17 * GIB}) is None
    assert kept_out_by_storage(found, demand, {"cpu": 5_000_000, "ephemeral-storage": 25 * GIB}) is None


@pytest.mark.parametrize(
    ("spec", "path", "phrase"),
    [
        ({}, "spec", "the default volume of 20Gi"),
        (
            {"blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "50Gi"}}]},
            "spec.blockDeviceMappings[0]",
            "its volume /dev/xvda of 50Gi",
        ),
        (
            {
                "amiSelectorTerms": [{"alias": "bottlerocket@latest"}],
                "blockDeviceMappings": [{"deviceName": "/dev/xvda", "ebs": {"volumeSize": "50Gi"}}],
            },
            "spec.blockDeviceMappings",
            "/dev/xvda is not where Bottlerocket keeps the data of pods",
        ),
    ],
)
def test_the_volume_that_counts(spec: dict[str, Any], path: str, phrase: str) -> None:
    """`karpenter:M-5`."""
    volume = root_volume(read(node_class(**spec)).node_classes[0])
    assert str(volume.place) == path
    assert phrase in volume.phrase


def test_offered_resources_and_architectures() -> None:
    inventory = read(pool(needs(FAMILY, "In", "g5", "g5g")), node_class(), pod(nodeSelector={FAMILY: "g5g"}))
    pools = managed_pools(inventory, SETTINGS)
    offered = offered_resources(inventory, pools)
    assert "nvidia.com/gpu" in offered
    assert "aws.amazon.com/neuron" not in offered
    effective = admit(inventory.workloads[0], inventory, SETTINGS)
    assert reached_architectures(pools.pools[0], demand_of(effective)) == ("arm64",)


def test_every_problem_has_one_matter_and_one_owner() -> None:
    bad = pool(
        needs("karpenter.sh/capacity-type", "In", "SPOT"),
        needs("karpenter.k8s.aws/instance-tenancy", "In", "shared"),
        needs(FAMILY, "In", "m5", minValues=2),
        needs(ARCH, "In"),
        needs("karpenter.sh/nodepool", "Exists"),
        weight=200,
    )
    inventory = read(bad, node_class(role=None))
    problems = manifest_problems(inventory)
    told = [(matter, str(one.problem.place), one.owns) for matter, found in problems.items() for one in found]
    assert len(told) == len(inventory.problems)
    requirements = "spec.template.spec.requirements"
    assert set(told) == {
        ("capacity-type", f"{requirements}[0].values", True),
        ("pool-field", f"{requirements}[1].values", False),
        ("min-values", f"{requirements}[2].minValues", True),
        ("pool-field", f"{requirements}[3].values", False),
        ("label", f"{requirements}[4].key", True),
        ("pool-field", "spec.weight", True),
        ("class-field", "spec.role", True),
    }
    sentences = [sentence(one.problem.message) for found in problems.values() for one in found]
    # A name at the beginning, such as `karpenter.sh/v1beta1`, stays as it is written.
    assert all(s[0].isupper() or s[0] in '`"' or "/" in s.split()[0] for s in sentences)
    assert all(s[-1] in ".?" for s in sentences)


def test_who_removes_a_startup_taint() -> None:
    cilium = Taint("node.cilium.io/agent-not-ready", "true", "NoExecute")
    own = Taint("example.com/not-ready", "", "NoSchedule")
    assert agent_for(cilium.key) is not None
    assert agent_for("readiness.k8s.io/network") is not None
    assert agent_for(own.key) is None
    assert removed_by_the_cluster(Taint("node.kubernetes.io/not-ready", "", "NoSchedule"))
    agent = pod()
    agent["spec"]["containers"][0]["image"] = "quay.io/cilium/cilium:v1"
    knows = pod(tolerations=[{"key": own.key, "operator": "Exists"}])
    knows["metadata"]["name"] = "b"
    inventory = read(agent, knows)
    assert [w.name for w in removers(cilium, inventory)] == ["a"]
    assert [w.name for w in removers(own, inventory)] == ["b"]
