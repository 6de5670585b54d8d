from __future__ import annotations

from typing import NamedTuple

import pytest

from unpend.disruption.eviction_cost import eviction_cost
from unpend.model.karpenter_labels import (
    CORE_WELL_KNOWN,
    aws_well_known,
    in_domain,
    is_restricted,
    normalized,
    release,
)
from unpend.placement.karpenter.capacity import Offering, allocatable, offering_groups
from unpend.placement.karpenter.host_ports import conflict
from unpend.placement.karpenter.node_taints import is_ephemeral
from unpend.placement.karpenter.overlay import adjusted_price

NOW = (1, 14)


class Taint(NamedTuple):
    key: str
    value: str
    effect: str


class Port(NamedTuple):
    host_ip: str
    host_port: int
    protocol: str


@pytest.mark.parametrize(
    ("taint", "version", "expected"),
    [
        (Taint("node.kubernetes.io/unreachable", "", "NoSchedule"), NOW, True),
        (Taint("node.kubernetes.io/unreachable", "", "NoExecute"), NOW, False),
        (Taint("node.cloudprovider.kubernetes.io/uninitialized", "true", "NoSchedule"), NOW, True),
        (Taint("node.cloudprovider.kubernetes.io/uninitialized", "", "NoSchedule"), NOW, False),
        (Taint("karpenter.sh/unregistered", "", "NoExecute"), NOW, True),
        (Taint("karpenter.sh/disrupted", "", "NoSchedule"), NOW, False),
        (Taint("readiness.k8s.io/cni", "x", "NoSchedule"), (1, 12), False),
        (Taint("readiness.k8s.io/cni", "x", "NoSchedule"), (1, 13), True),
    ],
)
def test_taints_that_go_away_by_themselves(taint: Taint, version: tuple[int, int], expected: bool) -> None:
    """`karpenter:A-3`."""
    assert is_ephemeral(taint, version) is expected


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        (Port("", 80, ""), Port("10.0.0.1", 80, "TCP"), True),
        (Port("10.0.0.1", 80, "TCP"), Port("10.0.0.2", 80, "TCP"), False),
        (Port("fd00::1", 80, "TCP"), Port("fd00:0::1", 80, "TCP"), True),
        (Port("::ffff:10.0.0.1", 80, "TCP"), Port("10.0.0.1", 80, "TCP"), True),
        (Port("0::0", 80, "TCP"), Port("10.0.0.1", 80, "TCP"), True),
        (Port("fd00::1", 80, "TCP"), Port("not:an:address", 80, "TCP"), False),
        (Port("", 80, "UDP"), Port("", 80, "TCP"), False),
    ],
)
def test_host_ports(one: Port, two: Port, expected: bool) -> None:
    """`karpenter:I-4`."""
    assert conflict(one, two) is expected
    assert conflict(two, one) is expected


def test_reserved_more_than_there_is_stays_negative() -> None:
    """`karpenter:I-5`, `karpenter:M-7`: then nothing fits."""
    assert allocatable({"cpu": 1000, "memory": 5}, [{"memory": 4}, {"memory": 4}]) == {"cpu": 1000, "memory": -3}
    assert allocatable({"memory": 5, "hugepages-2Mi": 9}, []) == {"memory": 0, "hugepages-2Mi": 9}


def test_unavailable_offerings_are_in_no_group() -> None:
    groups = offering_groups({"cpu": 4}, [], [Offering(False), Offering(), Offering(capacity={"cpu": 5}), Offering()])
    assert [(g.allocatable, g.offerings) for g in groups] == [({"cpu": 4}, (1, 3)), ({"cpu": 5}, (2,))]


@pytest.mark.parametrize("text", ["ten", "10 %", "+-5", "%", "1e3"])
def test_a_price_adjustment_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="is not a price adjustment"):
        adjusted_price(1.0, text)


@pytest.mark.parametrize(
    ("deletion_cost", "priority", "expected"),
    [
        (None, None, 1.0),
        ("-134217728", None, 0.0),
        (None, -33554432, 0.0),
        ("abc", None, 1.0),
        ("2147483647", 2_000_000_000, 10.0),
        (None, -2147483648, -10.0),
    ],
)
def test_eviction_cost(deletion_cost: str | None, priority: int | None, expected: float) -> None:
    """`karpenter:C-3`."""
    assert eviction_cost(deletion_cost, priority) == expected


@pytest.mark.parametrize(
    ("key", "version", "expected"),
    [
        ("kubernetes.io/hostname", NOW, True),
        ("karpenter.sh/capacity-type", NOW, False),
        ("karpenter.sh/registered", NOW, True),
        ("sub.karpenter.sh/x", NOW, True),
        ("mykarpenter.sh/x", NOW, False),
        ("karpenter.sh", NOW, False),
        ("karpenter.k8s.aws/ec2nodeclass", NOW, True),
        ("karpenter.k8s.aws/instance-pods", NOW, True),
        ("karpenter.k8s.aws/instance-tenancy", NOW, False),
        ("karpenter.k8s.aws/instance-tenancy", (1, 8), True),
        ("karpenter.k8s.aws/nitro-sandbox", NOW, True),
        ("node-role.kubernetes.io/worker", NOW, False),
        ("node-role.kubernetes.io/worker", (1, 8), True),
        ("node.kubernetes.io/x", (1, 8), False),
        ("kops.k8s.io/instancegroup", (1, 8), False),
        ("kubernetes.io/arch", (1, 8), False),
        ("beta.kubernetes.io/arch", (1, 8), False),
        ("example.com/team", NOW, False),
    ],
)
def test_restricted_keys(key: str, version: tuple[int, int], expected: bool) -> None:
    """`karpenter:N-8`, `karpenter:N-9`, `karpenter:P-2`."""
    assert is_restricted(key, aws_well_known(version), version) is expected


def test_well_known_keys_follow_the_release() -> None:
    assert len(CORE_WELL_KNOWN) == 8
    assert aws_well_known((1, 6)) < aws_well_known((1, 9)) < aws_well_known(NOW)
    assert normalized("beta.kubernetes.io/os") == "kubernetes.io/os"
    assert normalized("team") == "team"
    assert in_domain("a.b.c/x", "b.c")
    assert not in_domain("b.c", "b.c")
    assert [release(text) for text in ("1.14", "v1.9.2", "1.10-rc1")] == [(1, 14), (1, 9), (1, 10)]
    assert release("newest") > NOW
    assert "karpenter.k8s.aws/nitro-sandbox" in aws_well_known(release("main"))
    assert "karpenter.k8s.aws/nitro-sandbox" not in aws_well_known(release("newest"))
