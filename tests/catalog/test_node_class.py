"""Profiles of node classes, and the amounts that real clusters saw."""

from typing import Any

import pytest

from unpend.catalog.allocatable import GIB, MIB
from unpend.catalog.aws import aws_catalog
from unpend.catalog.node_class import ami_family, profile_of
from unpend.catalog.profile import BlockDevice, NodeProfile
from unpend.settings import KarpenterSettings

AL2023 = {"amiSelectorTerms": [{"alias": "al2023@v20260801"}]}


def memory(spec: dict[str, Any], name: str, percent: float = 0.075) -> int:
    catalog = aws_catalog()
    number = catalog.number(name)
    assert number is not None
    profile = profile_of(spec, KarpenterSettings(vm_memory_overhead_percent=percent))
    return catalog.resources(profile).amount("memory", number)[0] // MIB


def test_defaults() -> None:
    assert profile_of(AL2023) == NodeProfile()
    assert profile_of({}) == NodeProfile(ami_family="Custom")


def test_everything_that_is_written() -> None:
    profile = profile_of(
        {
            "amiFamily": "Bottlerocket",
            "kubelet": {
                "maxPods": 50,
                "podsPerCore": 5,
                "kubeReserved": {"memory": "1Gi", "cpu": "200m"},
                "systemReserved": {"cpu": 1},
                "evictionHard": {"memory.available": "5%", "nodefs.available": "10Gi"},
                "evictionSoft": {"memory.available": "50%"},
            },
            "blockDeviceMappings": [
                {"deviceName": "/dev/xvda", "ebs": {"volumeSize": "4Gi"}},
                {"deviceName": "/dev/xvdb", "rootVolume": True, "ebs": {"snapshotID": "snap-1"}},
            ],
            "instanceStorePolicy": "RAID0",
            "networkInterfaces": [
                {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
                {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"},
                {"networkCardIndex": 1, "deviceIndex": 1, "interfaceType": "efa-only"},
            ],
        },
        KarpenterSettings(version="1.8.2", vm_memory_overhead_percent=0.05, options={"reservedENIs": "1"}),
    )
    assert profile == NodeProfile(
        ami_family="Bottlerocket",
        max_pods=50,
        pods_per_core=5,
        kube_reserved=(("cpu", 200), ("memory", GIB)),
        system_reserved=(("cpu", 1000),),
        memory_available="5%",
        nodefs_available="10Gi",
        block_devices=(BlockDevice("/dev/xvda", 4 * GIB), BlockDevice("/dev/xvdb", None, root=True)),
        raid0=True,
        reserved_enis=1,
        efa_only=2,
        efa_only_on_default_card=1,
        memory_overhead=0.05,
        karpenter=(1, 8),
    )


@pytest.mark.parametrize(
    ("spec", "family"),
    [
        ({"amiSelectorTerms": [{"alias": "windows2022@latest"}]}, "Windows2022"),
        ({"amiSelectorTerms": [{"alias": "al2@latest"}]}, "AL2"),
        ({"amiFamily": "Custom", "amiSelectorTerms": [{"alias": "al2@latest"}]}, "Custom"),
        ({"amiFamily": "AL2", "amiSelectorTerms": [{"id": "ami-1"}]}, "AL2"),
        ({"amiSelectorTerms": [{"id": "ami-1"}]}, "Custom"),
        ({"amiSelectorTerms": "al2"}, "Custom"),
    ],
)
def test_family(spec: dict[str, Any], family: str) -> None:
    assert ami_family(spec) == family


def test_wrong_types_count_as_not_written() -> None:
    wrong = {
        "kubelet": {"maxPods": "50", "kubeReserved": {"cpu": "a lot"}, "evictionHard": []},
        "blockDeviceMappings": 1,
    }
    assert profile_of(AL2023 | wrong) == NodeProfile()


def test_memory_that_real_clusters_saw() -> None:
    # 32768 - 2458 overhead - (11 x 58 + 255) - 100: the 28Gi pod with 775Mi of agents did not fit
    assert memory(AL2023, "m6a.2xlarge") == 29317
    assert memory(AL2023 | {"kubelet": {"maxPods": 110}}, "m6a.2xlarge") == 29317
    assert (
        memory({"amiFamily": "Bottlerocket", "kubelet": {"maxPods": 110}}, "m6a.2xlarge") == 32768 - 2458 - 1465 - 100
    )
    assert memory(AL2023, "m6a.2xlarge", 0.0) == 32768 - 893 - 100
