"""Readers of node groups: the vectors of `docs/semantics/cluster-autoscaler.md` §9, and each format's spelling."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from unpend.model.inventory import Inventory
from unpend.model.node_groups.group import NodeGroup
from unpend.model.node_groups.neutral import FIELDS, PLANNED
from unpend.model.node_groups.tags import label_tags, taint_tag_fault, taint_tags
from unpend.model.pod import Label
from unpend.model.reading import read_objects
from unpend.settings import Settings
from unpend.source.reading import read_text
from unpend_schemas import load_json

Read = Callable[..., Inventory]

ROOT = Path(__file__).parents[2]
CONFIG = "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: prod, region: us-east-1}\n"


def eksctl(read: Read, group: str, key: str = "managedNodeGroups", more: str = "") -> NodeGroup:
    (found,) = read(f"{CONFIG}{more}{key}:\n  - {{name: ng, {group}}}\n").node_groups
    return found


def text(source: str, uri: str = "a.yaml") -> Inventory:
    return read_objects(read_text(source, uri).objects, Settings())


def spelled(group: NodeGroup) -> list[str]:
    return [f"{t.key}={t.value}:{t.effect}" for t in group.taints]


@pytest.mark.parametrize(
    ("written", "low", "high"),
    [
        ("desiredCapacity: 3", 3, 3),
        ("minSize: 1", 1, 1),
        ("maxSize: 5", 2, 5),
        ("", 2, 2),
        ("minSize: 0, maxSize: 5", 0, 5),
        ("desiredCapacity: 3, minSize: 1", 1, 3),
        ("minSize: 0", 0, 1),
    ],
)
def test_eksctl_defaults_sizes(read: Read, written: str, low: int, high: int) -> None:
    group = eksctl(read, written)
    assert (group.size.minimum, group.size.maximum) == (low, high)
    assert not group.refusals


@pytest.mark.parametrize("written", ["maxSize: 1", "desiredCapacity: 2, minSize: 3", "minSize: 2, maxSize: 1"])
def test_eksctl_refuses_sizes_that_do_not_agree(read: Read, written: str) -> None:
    assert [p.semantics for p in eksctl(read, written).refusals] == ["autoscaler:C-621"]


def test_self_managed_groups_without_a_size_are_fixed(read: Read) -> None:
    assert eksctl(read, "minSize: 0", "nodeGroups").size.maximum == 0


@pytest.mark.parametrize(
    ("written", "taint"),
    [
        ('"gpu:NoSchedule"', "dedicated=gpu:NoSchedule"),
        ('":NoExecute"', "dedicated=:NoExecute"),
        ("NoSchedule", "dedicated=:NoSchedule"),
    ],
)
def test_eksctl_map_of_taints(read: Read, written: str, taint: str) -> None:
    group = eksctl(read, f"taints: {{dedicated: {written}}}", "nodeGroups")
    assert spelled(group) == [taint]
    assert not group.refusals


@pytest.mark.parametrize("written", ["gpu", '"a:b:NoSchedule"', "1", "true"])
def test_eksctl_map_of_taints_with_other_values_is_refused(read: Read, written: str) -> None:
    assert eksctl(read, f"taints: {{dedicated: {written}}}", "nodeGroups").refusals


def test_eksctl_map_with_key_value_and_effect_is_three_taints(read: Read) -> None:
    group = eksctl(read, "taints: {key: k, value: v, effect: NoSchedule}", "nodeGroups")
    assert "write a list" in group.refusals[0].message


def test_managed_groups_of_eksctl_take_lists_only(read: Read) -> None:
    assert eksctl(read, 'taints: {a: ":NoSchedule"}').refusals
    assert spelled(eksctl(read, "taints: [{key: a, effect: NoSchedule}]")) == ["a=:NoSchedule"]
    assert "write NoSchedule" in eksctl(read, "taints: [{key: a, effect: NO_SCHEDULE}]").refusals[0].message


def test_eksctl_labels(read: Read) -> None:
    managed = eksctl(read, "spot: true")
    assert managed.provider_labels["eks.amazonaws.com/capacityType"] == "SPOT"
    assert managed.provider_labels["eks.amazonaws.com/nodegroup"] == "ng"
    own = eksctl(read, "amiFamily: AmazonLinux2", "nodeGroups")
    assert own.provider_labels["node-lifecycle"] == "on-demand"
    assert "eks.amazonaws.com/nodegroup" not in own.provider_labels
    assert "node-lifecycle" not in eksctl(read, "minSize: 1", "nodeGroups").provider_labels
    refused = eksctl(read, 'labels: {node-role.kubernetes.io/x: "", node.kubernetes.io/y: ""}')
    assert len(refused.refusals) == 1


def test_eksctl_zones(read: Read) -> None:
    one = eksctl(read, "availabilityZones: [us-east-1b]")
    assert ([z.name for z in one.zones], one.all_zones, one.several_zones) == (["us-east-1b"], True, False)
    assert eksctl(read, "minSize: 1").several_zones is True
    vpc = "vpc: {subnets: {private: {us-east-1a: {id: subnet-1}, second: {id: subnet-2, az: us-east-1b}}}}\n"
    named = eksctl(read, "subnets: [second, subnet-1]", more=vpc)
    assert ([z.name for z in named.zones], named.all_zones) == (["us-east-1b", "us-east-1a"], True)
    assert eksctl(read, "subnets: [subnet-9]", more=vpc).unknown("zones") is not None
    assert eksctl(read, "subnets: [second], availabilityZones: [us-east-1a]", more=vpc).refusals
    assert eksctl(read, "availabilityZones: ['${ZONE}']").unknown("zones") is not None


def test_eksctl_types(read: Read) -> None:
    assert [t.name for t in eksctl(read, "minSize: 1").instance_types] == ["m5.large"]
    assert eksctl(read, "instanceType: a.b, instanceTypes: [c.d]").refusals
    selected = eksctl(read, "instanceSelector: {vCPUs: 4, memory: 16GiB, gpus: 1}")
    assert {name: amount.milli for name, amount in selected.hardware.items()} == {
        "cpu": 4000,
        "memory": 16 * 2**30 * 1000,
        "nvidia.com/gpu": 1000,
    }
    assert selected.unknown("instance-types") is not None
    mixed = eksctl(
        read, "instancesDistribution: {instanceTypes: [a.b, c.d], onDemandPercentageAboveBaseCapacity: 0}", "nodeGroups"
    )
    assert mixed.capacity_types == ("spot",)


def test_propagated_tags_hold_the_value_of_a_taint_alone(read: Read) -> None:
    group = eksctl(
        read,
        "propagateASGTags: true, labels: {role: a}, taints: [{key: t, value: v, effect: NoSchedule}]",
        "nodeGroups",
    )
    assert {key: label.value for key, label in label_tags(group.tags).items()} == {"role": "a"}
    assert taint_tags(group.tags) == ()
    assert group.autoscaler_hint is not None


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ("gpu:NoSchedule", True),
        (":NoSchedule", True),
        ("a:PreferNoSchedule", True),
        ("NoSchedule", False),
        ("gpu:NO_SCHEDULE", False),
        ("gpu", False),
        ("", False),
    ],
)
def test_taint_tags(value: str, taken: bool) -> None:
    key = "k8s.io/cluster-autoscaler/node-template/taint/dedicated"
    tags: Mapping[str, Label] = {key: Label(key, value)}
    assert bool(taint_tags(tags)) is taken
    assert (taint_tag_fault(value) is None) is taken


def test_label_tags_keep_slashes_and_eks_tags_lose_their_prefix() -> None:
    keys = ("k8s.io/cluster-autoscaler/node-template/label/a.b/c", "eks:nodegroup-name")
    found = label_tags({key: Label(key, "d") for key in keys})
    assert sorted(found) == ["a.b/c", "nodegroup-name"]


ACK = """
apiVersion: eks.services.k8s.aws/v1alpha1
kind: Nodegroup
metadata: {name: object}
spec:
  name: ng
  clusterName: prod
  amiType: AL2023_ARM_64_STANDARD
  capacityType: SPOT
  instanceTypes: [m7g.large]
  scalingConfig: {minSize: 0, maxSize: 4, desiredSize: 1}
  labels: {team: a}
  taints: [{key: k, value: v, effect: NO_SCHEDULE}]
  subnets: [subnet-1, subnet-2]
"""


def test_ack(read: Read) -> None:
    (group,) = read(ACK).node_groups
    assert (group.name, group.arch, group.capacity_types, group.size.maximum) == ("ng", "arm64", ("spot",), 4)
    assert spelled(group) == ["k=v:NoSchedule"]
    assert (group.several_zones, group.all_zones) == (True, False)
    assert group.size.starts_empty is None
    (wrong,) = read(ACK.replace("NO_SCHEDULE", "NoSchedule")).node_groups
    assert "write NO_SCHEDULE" in wrong.refusals[0].message
    (default,) = read(
        "{apiVersion: eks.services.k8s.aws/v1, kind: Nodegroup, metadata: {name: x}, spec: {}}"
    ).node_groups
    assert [t.name for t in default.instance_types] == ["t3.medium"]


@pytest.mark.parametrize(
    "scaling", ["{minSize: 1, maxSize: 4, desiredSize: 1}", "[{minSize: 1, maxSize: 4, desiredSize: 1}]"]
)
def test_crossplane_takes_an_object_or_a_list_of_one(read: Read, scaling: str) -> None:
    (group,) = read(
        f"""
apiVersion: eks.aws.upbound.io/v1beta1
kind: NodeGroup
metadata: {{name: ng, annotations: {{crossplane.io/external-name: real}}}}
spec:
  forProvider: {{region: us-east-1, scalingConfig: {scaling}, taint: [{{key: a, value: b, effect: NO_EXECUTE}}]}}
"""
    ).node_groups
    assert (group.name, group.region, group.size.minimum, group.size.maximum) == ("real", "us-east-1", 1, 4)
    assert spelled(group) == ["a=b:NoExecute"]


def plan(values: dict[str, Any], unknown: dict[str, Any] | None = None, kind: str = "aws_eks_node_group") -> str:
    address = f"module.eks.{kind}.this"
    resource = {"address": address, "type": kind, "name": "this", "values": values}
    subnet = {
        "address": "aws_subnet.a",
        "type": "aws_subnet",
        "name": "a",
        "values": {"id": "subnet-1", "availability_zone": "us-east-1a"},
    }
    return json.dumps(
        {
            "format_version": "1.2",
            "planned_values": {"root_module": {"resources": [subnet], "child_modules": [{"resources": [resource]}]}},
            "resource_changes": [{"address": address, "change": {"after_unknown": unknown or {}}}],
        }
    )


def test_terraform_plan() -> None:
    values = {
        "node_group_name": "ng",
        "instance_types": ["m5.large"],
        "labels": None,
        "taint": [],
        "scaling_config": [{"min_size": 0, "max_size": 3, "desired_size": 0}],
        "subnet_ids": ["subnet-1"],
    }
    (group,) = text(plan(values), "plan.json").node_groups
    assert (group.name, group.size.maximum, [z.name for z in group.zones]) == ("ng", 3, ["us-east-1a"])
    assert (group.labels, group.taints) == ({}, ())
    place = group.instance_types[0].place
    assert str(place) == "planned_values.root_module.child_modules[0].resources[0].values.instance_types[0]"
    assert place.location() is not None
    del values["labels"]
    (later,) = text(plan(values, {"labels": True, "subnet_ids": [True]}), "plan.json").node_groups
    assert later.unknown("labels") is not None


def test_terraform_group_is_known_by_its_tags() -> None:
    values = {
        "name": "workers",
        "min_size": 0,
        "max_size": 5,
        "availability_zones": ["us-east-1b"],
        "mixed_instances_policy": [{"launch_template": [{"override": [{"instance_type": "m5.large"}]}]}],
        "tag": [
            {"key": "k8s.io/cluster-autoscaler/enabled", "value": "true"},
            {"key": "k8s.io/cluster-autoscaler/node-template/label/role", "value": "web"},
        ],
    }
    (group,) = text(plan(values, kind="aws_autoscaling_group"), "plan.json").node_groups
    assert (group.labels["role"].value, [t.name for t in group.instance_types]) == ("web", ["m5.large"])
    assert {"labels", "taints"} == group.hidden
    assert group.autoscaler_hint is not None


def test_cloud_formation_intrinsics_are_unknown() -> None:
    inventory = text(
        """
AWSTemplateFormatVersion: "2010-09-09"
Resources:
  Bucket: {Type: "AWS::S3::Bucket"}
  Workers:
    Type: AWS::EKS::Nodegroup
    Properties:
      NodegroupName: !Sub "${Stack}-workers"
      InstanceTypes: [!Ref Type]
      ScalingConfig: {MinSize: 0, MaxSize: 4, DesiredSize: 0}
      Labels: {team: a}
      Taints: [{Key: k, Value: v, Effect: NO_SCHEDULE}]
      Subnets: {"Fn::Split": [",", x]}
"""
    )
    (group,) = inventory.node_groups
    assert (group.name, group.size.maximum, spelled(group)) == ("Workers", 4, ["k=v:NoSchedule"])
    assert {one.field for one in group.unknowns} == {"instance-types", "zones"}
    assert "eks.amazonaws.com/nodegroup" not in {k: v for k, v in group.provider_labels.items() if v != "Workers"}


CAPI = """
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {{name: md, annotations: {{{annotations}}}}}
spec:
  replicas: 2
  template:
    metadata: {{labels: {{team: a, node-role.kubernetes.io/worker: ""}}}}
    spec: {{failureDomain: us-east-1a, infrastructureRef: {{kind: AWSMachineTemplate, name: t}}}}
"""
_PREFIX = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-"


@pytest.mark.parametrize(
    ("low", "high", "sizes", "problems"),
    [
        (None, "5", (0, 5), 0),
        ("1", "5", (1, 5), 0),
        ("3", "2", (2, 2), 1),
        ("1", "x", (2, 2), 1),
        (None, "0", (2, 2), 0),
        (None, None, (2, 2), 0),
    ],
)
def test_cluster_api_sizes(
    read: Read, low: str | None, high: str | None, sizes: tuple[int, int], problems: int
) -> None:
    written = {_PREFIX + "min-size": low, _PREFIX + "max-size": high}
    annotations = ", ".join(f'{key}: "{value}"' for key, value in written.items() if value is not None)
    inventory = read(CAPI.format(annotations=annotations))
    (group,) = inventory.node_groups
    assert (group.size.minimum, group.size.maximum) == sizes
    assert len(inventory.problems) == problems
    assert list(group.labels) == ["node-role.kubernetes.io/worker"]
    assert [z.name for z in group.zones] == ["us-east-1a"]


def test_cluster_api_reads_what_a_group_refers_to(read: Read) -> None:
    template = """
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachineTemplate
metadata: {name: t}
spec: {template: {spec: {instanceType: m5.large, spotMarketOptions: {}}}}
"""
    (group,) = read(CAPI.format(annotations=""), template).node_groups
    assert ([t.name for t in group.instance_types], group.provider, group.capacity_types) == (
        ["m5.large"],
        "aws",
        ("spot",),
    )


def test_managed_machine_pool_takes_the_bounds_of_its_machine_pool(read: Read) -> None:
    (group,) = read(
        f"""
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachinePool
metadata: {{name: mp, annotations: {{{_PREFIX}max-size: "7"}}}}
spec: {{template: {{spec: {{infrastructureRef: {{kind: AWSManagedMachinePool, name: pool}}}}}}}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSManagedMachinePool
metadata: {{name: pool}}
spec:
  eksNodegroupName: real
  instanceType: m5.large
  capacityType: spot
  scaling: {{minSize: 1, maxSize: 3}}
  taints: [{{key: a, value: b, effect: no-schedule}}]
"""
    ).node_groups
    assert (group.name, group.size.maximum, group.capacity_types) == ("real", 7, ("spot",))
    assert spelled(group) == ["a=b:NoSchedule"]


def test_topology_workers_are_groups(read: Read) -> None:
    (group,) = read(
        """
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: c}
spec: {topology: {workers: {machineDeployments: [{class: w, name: md, replicas: 3}]}}}
"""
    ).node_groups
    assert (group.name, group.size.minimum, group.size.maximum) == ("c-md", 3, 3)


def test_owned_machine_sets_are_no_groups(read: Read) -> None:
    owned = "ownerReferences: [{kind: MachineDeployment, name: md, controller: true}]"
    text_ = "{apiVersion: cluster.x-k8s.io/v1beta1, kind: MachineSet, metadata: {name: x, %s}, spec: {replicas: 1}}"
    assert read(text_ % owned).node_groups == ()
    assert len(read(text_ % "labels: {}").node_groups) == 1


def test_our_own_kind_and_its_schema_name_the_same_fields() -> None:
    spec = load_json("node-group.schema.json")["properties"]["spec"]
    assert set(spec["properties"]) == FIELDS
    assert set(spec["properties"]["planned"]["properties"]) == PLANNED


OWN: list[tuple[dict[str, Any], bool]] = [
    ({"minSize": 0, "maxSize": 3, "zones": ["a"], "labels": {"x": "y"}}, True),
    ({"provider": "gcp", "allocatable": {"cpu": "4", "memory": "8Gi"}, "desiredSize": 2}, True),
    ({"provider": "gpc"}, False),
    ({"maxSize": -1}, False),
    ({"taints": [{"key": "a", "effect": "NO_SCHEDULE"}]}, False),
    ({"capacityTypes": ["SPOT"]}, False),
    ({"zones": "a"}, False),
]


@pytest.mark.parametrize(("spec", "legal"), OWN)
def test_reader_and_schema_agree_on_our_own_kind(spec: dict[str, Any], legal: bool) -> None:
    data = {"apiVersion": "unpend.dev/v1", "kind": "NodeGroup", "metadata": {"name": "x"}, "spec": spec}
    validator = jsonschema.Draft202012Validator(load_json("node-group.schema.json"))
    assert validator.is_valid(data) is legal
    (group,) = text(json.dumps(data), "a.json").node_groups
    assert (not group.refusals) is legal


def test_fargate_profiles(read: Read) -> None:
    inventory = read(
        CONFIG + "fargateProfiles: [{name: fp, selectors: [{namespace: a, labels: {x: y}}, {labels: {}}]}]\n"
    )
    assert [(s.namespace, s.labels) for s in inventory.fargate] == [("a", (("x", "y"),))]


def test_auto_mode_opens_the_pools(read: Read) -> None:
    assert read(CONFIG + "autoModeConfig: {enabled: true}\n").unread_capacity
    assert not read(CONFIG).unread_capacity


def test_the_tables_of_fields_are_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools" / "gen_node_group_fields.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize("junk", ["1", "[]", "x", "{a: 1}", "[1, [2], {name: 3}]"])
def test_hostile_values_never_raise(junk: str) -> None:
    for key in ("nodeGroups", "managedNodeGroups", "vpc", "availabilityZones", "fargateProfiles", "autoModeConfig"):
        text(f"{CONFIG}{key}: {junk}\n")
    fields = (
        "labels",
        "taints",
        "tags",
        "iam",
        "instancesDistribution",
        "instanceSelector",
        "subnets",
        "minSize",
        "name",
    )
    for field in fields:
        text(f"{CONFIG}nodeGroups: [{{{field}: {junk}}}]\nmanagedNodeGroups: [{{{field}: {junk}}}]\n")
    for api in ("eks.services.k8s.aws/v1", "unpend.dev/v1", "cluster.x-k8s.io/v1beta1", "eks.aws.upbound.io/v1beta1"):
        for kind in ("Nodegroup", "NodeGroup", "MachineDeployment", "Cluster", "FargateProfile"):
            text(f"{{apiVersion: {api}, kind: {kind}, metadata: {junk}, spec: {junk}}}")
    text(f"{{format_version: '1', planned_values: {junk}, resource_changes: {junk}}}")
    text(f"Resources: {{a: {{Type: 'AWS::EKS::Nodegroup', Properties: {junk}}}}}")
