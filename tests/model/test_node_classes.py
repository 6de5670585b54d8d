from __future__ import annotations

from typing import Any

import pytest

from unpend.model.inventory import Inventory
from unpend.model.karpenter import NodeClass, Subnet
from unpend.model.reading import read_objects
from unpend.settings import Settings
from unpend.source.document import objects_of

TERMS = [{"tags": {"karpenter.sh/discovery": "demo"}}]


def read(*objects: dict[str, Any]) -> Inventory:
    return read_objects(objects_of(list(objects)), Settings())


def ec2(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {
            "role": "node",
            "amiSelectorTerms": [{"alias": "bottlerocket@v1.20.0"}],
            "subnetSelectorTerms": TERMS,
            "securityGroupSelectorTerms": TERMS,
            **spec,
        },
    }


def only(inventory: Inventory) -> NodeClass:
    (found,) = inventory.node_classes
    return found


def test_what_decides_a_node_is_read() -> None:
    data = ec2(
        blockDeviceMappings=[
            {"deviceName": "/dev/xvda", "rootVolume": True, "ebs": {"volumeSize": "4Gi"}},
            {"deviceName": "/dev/xvdb", "ebs": {"snapshotID": "snap-1"}},
        ],
        instanceStorePolicy="RAID0",
        kubelet={
            "maxPods": 40,
            "podsPerCore": 4,
            "kubeReserved": {"memory": "1Gi"},
            "evictionHard": {"memory.available": "5%"},
        },
        networkInterfaces=[{"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"}],
        userData="#!/bin/sh",
        capacityReservationSelectorTerms=[{"id": "cr-1"}],
    )
    data["status"] = {"subnets": [{"id": "subnet-1", "zone": "eu-west-1a", "zoneID": "euw1-az3"}]}
    inventory = read(data)
    found = only(inventory)
    assert inventory.problems == ()
    assert (found.ami_family, found.alias) == ("Bottlerocket", "bottlerocket@v1.20.0")
    assert found.subnets == (Subnet("subnet-1", "eu-west-1a", "euw1-az3"),)
    first, second = found.block_devices
    assert first.size is not None
    assert (first.root, first.size.milli, second.size, second.snapshot) == (True, 4 * 2**30 * 1000, None, "snap-1")
    assert (found.kubelet.max_pods, found.kubelet.pods_per_core) == (40, 4)
    assert found.kubelet.kube_reserved["memory"].text == "1Gi"
    assert found.kubelet.eviction_hard == {"memory.available": "5%"}
    assert found.network_interfaces is not None
    assert found.network_interfaces[0].kind == "efa-only"
    assert found.instance_store_raid
    assert found.selects_reservations


def test_zones_are_unknown_without_a_status() -> None:
    assert only(read(ec2())).subnets is None


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"subnetSelectorTerms": []}, "spec.subnetSelectorTerms"),
        ({"subnetSelectorTerms": [{"tags": {"a": ""}}]}, "spec.subnetSelectorTerms[0].tags.a"),
        ({"subnetSelectorTerms": [{"id": "subnet-1", "tags": {"a": "b"}}]}, "spec.subnetSelectorTerms[0]"),
        ({"securityGroupSelectorTerms": [{}]}, "spec.securityGroupSelectorTerms[0]"),
        ({"amiSelectorTerms": [{"alias": "AL2023@latest"}]}, "spec.amiSelectorTerms"),
        ({"amiSelectorTerms": [{"alias": "windows2022@v1"}]}, "spec.amiSelectorTerms"),
        ({"amiSelectorTerms": [{"alias": "al2023@latest"}, {"id": "ami-1"}]}, "spec.amiSelectorTerms"),
        ({"amiSelectorTerms": [{"id": "ami-1"}]}, "spec.amiFamily"),
        ({"amiFamily": "AL2"}, "spec.amiFamily"),
        ({"amiFamily": "Ubuntu", "amiSelectorTerms": [{"id": "ami-1"}]}, "spec.amiFamily"),
        ({"instanceProfile": "x"}, "spec.role"),
        ({"role": None}, "spec.role"),
        ({"instanceStorePolicy": "RAID1"}, "spec.instanceStorePolicy"),
        ({"blockDeviceMappings": [{"rootVolume": True}, {"rootVolume": True}]}, "spec.blockDeviceMappings"),
        ({"blockDeviceMappings": [{"deviceName": "/dev/xvda"}] * 51}, "spec.blockDeviceMappings"),
        ({"blockDeviceMappings": [{"ebs": {"volumeType": "gp3"}}]}, "spec.blockDeviceMappings[0].ebs"),
        (
            {"blockDeviceMappings": [{"ebs": {"volumeSize": "20Gi", "volumeInitializationRate": 100}}]},
            "spec.blockDeviceMappings[0].ebs.volumeInitializationRate",
        ),
        ({"tags": {"karpenter.sh/nodepool": "x"}}, "spec.tags['karpenter.sh/nodepool']"),
        ({"tags": {"kubernetes.io/cluster/x": "owned"}}, "spec.tags['kubernetes.io/cluster/x']"),
        ({"placementGroupSelector": {"id": "pg-1", "name": "x"}}, "spec.placementGroupSelector"),
        ({"amiSelectorTerms": [{"alias": "bottlerocket@v1.20.0-0123456789abcdef"}]}, "spec.amiSelectorTerms"),
    ],
)
def test_what_the_api_refuses(spec: dict[str, Any], path: str) -> None:
    """`karpenter.md` §10.1."""
    assert [str(p.place) for p in only(read(ec2(**spec))).refusals] == [path]


@pytest.mark.parametrize(
    "spec",
    [
        {"amiFamily": "Custom"},
        {"amiFamily": "Bottlerocket"},
        {"amiFamily": "AL2023", "amiSelectorTerms": [{"name": "mine-*"}, {"tags": {"a": "*"}}]},
        {"role": None, "instanceProfile": "x"},
        {"blockDeviceMappings": [{"ebs": {"snapshotID": "snap-1", "volumeInitializationRate": 100}}]},
        {"tags": {"team": "shop"}, "placementGroupSelector": {"name": "x"}},
    ],
)
def test_what_is_fine(spec: dict[str, Any]) -> None:
    assert only(read(ec2(**spec))).refusals == ()


def test_a_node_class_of_another_provider_is_known_by_name() -> None:
    inventory = read({"apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass", "metadata": {"name": "x"}})
    found = only(inventory)
    assert (found.group, found.kind, found.name, found.ready) == ("karpenter.azure.com", "AKSNodeClass", "x", None)
    assert inventory.problems == ()


def overlay(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "karpenter.sh/v1alpha1",
        "kind": "NodeOverlay",
        "metadata": {"name": "o"},
        "spec": {"requirements": [], **spec},
    }


def test_node_overlays() -> None:
    """`karpenter.md` §9.10."""
    (fine,) = read(overlay(priceAdjustment="-10%", weight=5, capacity={"example.com/slots": "2"})).node_overlays
    assert (fine.price, fine.price_adjustment, fine.weight) == (None, "-10%", 5)
    assert fine.capacity["example.com/slots"].milli == 2000
    (bad,) = read(overlay(price="1", priceAdjustment="+1", capacity={"cpu": "1"}, weight=0)).node_overlays
    assert {str(p.place) for p in bad.refusals} == {"spec.price", "spec.capacity.cpu", "spec.weight"}
