"""Allocatable of AWS nodes (karpenter M-1 to M-10), with numbers worked out by hand."""

from dataclasses import replace

import pytest

from unpend.catalog.allocatable import (
    EFA,
    GB,
    GIB,
    MIB,
    POD_ENI,
    WINDOWS_ADDRESS,
    Hardware,
    address_limited_pods,
    allocatable,
    capacity,
    kube_reserved_cpu,
    memory_capacity,
    pods,
    signal,
)
from unpend.catalog.aws import aws_catalog
from unpend.catalog.instance import Interval
from unpend.catalog.profile import BlockDevice, NodeProfile

LARGE = Hardware(False, 2, 8192, 3, 10, Interval(9, 9), 75, {})
"""An m5d.large."""
DEFAULT = NodeProfile()


@pytest.mark.parametrize(
    ("cpu", "reserved"), [(1, 60), (2, 70), (4, 80), (8, 90), (16, 110), (64, 230), (96, 310), (448, 1190)]
)
def test_cpu_reserved(cpu: int, reserved: int) -> None:
    assert kube_reserved_cpu(cpu) == reserved


def test_default_node() -> None:
    amounts = allocatable(LARGE, DEFAULT)
    assert amounts["cpu"] == (1930, 1930)
    assert amounts["pods"] == (29_000, 29_000)
    assert amounts["ephemeral-storage"] == (17 * GIB, 17 * GIB)
    # 8192 - ceil(8192 x 7.5 %) - (11 x 29 + 255) - 100
    assert amounts["memory"].low == 6903 * MIB
    assert amounts["memory"].high == (8192 - 574 - 100) * MIB
    assert amounts[POD_ENI] == (9000, 9000)
    assert EFA not in amounts


def test_memory_is_an_interval_up_to_the_nominal_size() -> None:
    assert memory_capacity(LARGE, 0.075) == ((8192 - 615) * MIB, 8192 * MIB)
    assert memory_capacity(LARGE, 0.0) == (8192 * MIB, 8192 * MIB)
    arm = replace(LARGE, arm=True)
    assert memory_capacity(arm, 0.075) == ((8128 - 610) * MIB, 8192 * MIB)


def test_pods_come_from_addresses_settings_and_cores() -> None:
    assert address_limited_pods(LARGE) == 29
    assert address_limited_pods(LARGE, 1) == 20
    assert address_limited_pods(LARGE, 3) == 0
    assert pods(LARGE, NodeProfile(max_pods=110)) == 110
    assert pods(LARGE, NodeProfile(max_pods=110, pods_per_core=10)) == 20
    assert pods(LARGE, NodeProfile(ami_family="Bottlerocket", pods_per_core=1)) == 29
    assert pods(LARGE, NodeProfile(ami_family="Windows2022")) == 110
    assert pods(LARGE, NodeProfile(reserved_enis=1)) == 20
    assert pods(LARGE, NodeProfile(efa_only=1, efa_only_on_default_card=1)) == 20


def test_max_pods_frees_memory_on_bottlerocket_only() -> None:
    few = NodeProfile(max_pods=10)
    assert allocatable(LARGE, few)["memory"] == allocatable(LARGE, DEFAULT)["memory"]
    assert allocatable(LARGE, NodeProfile(reserved_enis=2))["memory"] == allocatable(LARGE, DEFAULT)["memory"]
    bottlerocket = NodeProfile(ami_family="Bottlerocket", max_pods=10)
    freed = allocatable(LARGE, bottlerocket)["memory"].low - allocatable(LARGE, DEFAULT)["memory"].low
    assert freed == 11 * 19 * MIB


def test_written_reservations() -> None:
    profile = NodeProfile(
        kube_reserved=(("cpu", 500),), system_reserved=(("cpu", 100), ("memory", GIB)), memory_available="5%"
    )
    amounts = allocatable(LARGE, profile)
    assert amounts["cpu"].low == 2000 - 500 - 100
    usable = (8192 - 615) * MIB
    assert amounts["memory"].low == usable - 574 * MIB - GIB - -(-usable // 1000 * 5 // 100) * 1000
    assert amounts["memory"].low < amounts["memory"].high


def test_too_much_reserved_fits_nothing() -> None:
    profile = NodeProfile(kube_reserved=(("memory", 16 * GIB),))
    assert allocatable(LARGE, profile)["memory"].high < 0


def test_eviction_signal() -> None:
    assert signal(None, 1000, 7) == 7
    assert signal("200Mi", 0, 7) == 200 * MIB
    assert signal("100%", 10**9, 7) == 0
    assert signal("10%", 105_000, 7) == 11_000
    assert signal("soon", 1000, 7) == 7


def test_storage() -> None:
    def size(profile: NodeProfile) -> int:
        return capacity(LARGE, profile)["ephemeral-storage"].low

    hundred = 100 * GIB
    assert size(DEFAULT) == 20 * GIB
    assert size(NodeProfile(ami_family="Windows2022")) == 50 * GIB
    assert size(NodeProfile(raid0=True)) == 75 * GB
    assert size(NodeProfile(block_devices=(BlockDevice("/dev/xvda", hundred),))) == hundred
    assert size(NodeProfile(block_devices=(BlockDevice("/dev/xvdb", hundred),))) == 20 * GIB
    assert size(NodeProfile(ami_family="Bottlerocket", block_devices=(BlockDevice("/dev/xvdb", hundred),))) == hundred
    assert size(NodeProfile(block_devices=(BlockDevice("/dev/sdz", hundred, root=True),))) == hundred
    assert size(NodeProfile(block_devices=(BlockDevice("/dev/xvda", None),))) == 20 * GIB
    two = (BlockDevice("/dev/a", GIB), BlockDevice("/dev/b", hundred))
    assert size(NodeProfile(ami_family="Custom", block_devices=two)) == hundred
    kept = allocatable(LARGE, NodeProfile(block_devices=(BlockDevice("/dev/xvda", hundred),), nodefs_available="10Gi"))
    assert kept["ephemeral-storage"].low == 89 * GIB


def test_devices() -> None:
    catalog = aws_catalog()
    shapes = catalog.shapes()

    def amounts(name: str) -> dict[str, int]:
        number = catalog.number(name)
        assert number is not None
        return {key: amount.low // 1000 for key, amount in shapes.type(number).allocatable.items()}

    assert amounts("p4d.24xlarge")["nvidia.com/gpu"] == 8
    assert amounts("p4d.24xlarge")[EFA] == 4
    assert amounts("trn1.32xlarge")["aws.amazon.com/neuron"] == 16
    assert amounts("trn1.32xlarge")["aws.amazon.com/neuroncore"] == 32
    assert "nvidia.com/gpu" not in amounts("g6f.large")
    assert WINDOWS_ADDRESS not in amounts("m5.large")
    assert capacity(LARGE, NodeProfile(ami_family="Windows2022"))[WINDOWS_ADDRESS].low == 9000
    assert capacity(LARGE, NodeProfile(efa_only=2))[EFA].low == 2000
