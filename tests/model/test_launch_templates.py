"""Instance types that stand in a launch template of the same plan or stack (autoscaler:C-212)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unpend.model.node_groups.group import NodeGroup
from unpend.model.reading import read_objects
from unpend.settings import Settings
from unpend.source.reading import read_text

GROUP, TEMPLATE = "aws_autoscaling_group", "aws_launch_template"
REFERENCE = {"references": [f"{TEMPLATE}.web.id", f"{TEMPLATE}.web"]}
LATEST = {"references": [f"{TEMPLATE}.web.latest_version", f"{TEMPLATE}.web"]}


def group_of(text: str, uri: str) -> NodeGroup:
    (group,) = read_objects(read_text(text, uri).objects, Settings()).node_groups
    return group


def plan(
    values: dict[str, Any],
    expressions: dict[str, Any],
    template: dict[str, Any],
    *,
    actions: tuple[str, ...] = ("create",),
    kind: str = GROUP,
    unknown: dict[str, Any] | None = None,
    module: bool = False,
) -> NodeGroup:
    before = "module.nodes." if module else ""
    resources = [
        {"address": f"{before}{TEMPLATE}.web", "type": TEMPLATE, "name": "web", "values": template},
        {"address": f"{before}{kind}.web", "type": kind, "name": "web", "values": {"name": "web", **values}},
    ]
    configured: dict[str, Any] = {"resources": [{"address": f"{kind}.web", "expressions": expressions}]}
    planned: dict[str, Any] = {"resources": resources}
    if module:
        configured = {"module_calls": {"nodes": {"module": configured}}}
        planned = {"child_modules": [{"resources": resources}]}
    changes = [
        {"address": f"{before}{TEMPLATE}.web", "change": {"actions": list(actions)}},
        {"address": f"{before}{kind}.web", "change": {"after_unknown": unknown or {}}},
    ]
    data = {
        "format_version": "1.2",
        "planned_values": {"root_module": planned},
        "resource_changes": changes,
        "configuration": {"root_module": configured},
    }
    return group_of(json.dumps(data), "plan.json")


def types(group: NodeGroup) -> list[str]:
    assert bool(group.instance_types) != (group.unknown("instance-types") is not None)
    return [one.name for one in group.instance_types]


LARGE = {"instance_type": "m5.large"}
OLD = {**LARGE, "id": "lt-1", "name": "web", "latest_version": 3, "default_version": 1}
CURRENT = {**OLD, "default_version": 3}


@pytest.mark.parametrize("module", [False, True])
def test_a_new_template_is_found_by_the_configuration(module: bool) -> None:
    group = plan({}, {"launch_template": [{"id": REFERENCE, "version": LATEST}]}, LARGE, module=module)
    assert types(group) == ["m5.large"]
    place = group.instance_types[0].place
    assert str(place).endswith("resources[0].values.instance_type")
    assert place.location() is not None


@pytest.mark.parametrize(
    ("template", "version", "actions", "wanted"),
    [
        (OLD, "$Latest", ("no-op",), ["m5.large"]),
        (OLD, "$Default", ("no-op",), []),
        (OLD, None, ("no-op",), []),
        (OLD, "3", ("no-op",), ["m5.large"]),
        (OLD, "3", ("update",), []),
        (OLD, "2", ("no-op",), []),
        (CURRENT, "$Default", ("no-op",), ["m5.large"]),
        (CURRENT, "$Default", ("update",), []),
        ({**OLD, "update_default_version": True}, "$Default", ("update",), ["m5.large"]),
        ({"id": "lt-1"}, "$Latest", ("no-op",), []),
        ({**OLD, "id": "lt-2"}, "$Latest", ("no-op",), []),
    ],
)
def test_only_the_newest_version_is_known(
    template: dict[str, Any], version: str | None, actions: tuple[str, ...], wanted: list[str]
) -> None:
    used = {"launch_template": [{"id": "lt-1", "version": version}]}
    assert types(plan(used, {}, template, actions=actions)) == wanted


def test_a_choice_between_templates_is_not_known() -> None:
    other = {"references": ["var.large", *REFERENCE["references"]]}
    assert types(plan({}, {"launch_template": [{"id": other, "version": LATEST}]}, LARGE)) == []


def test_overrides_stay_known_beside_a_template_that_is_new() -> None:
    listed = {"override": [{"instance_type": "c5.large"}]}
    unknown = {"launch_template": [{"override": [{}], "launch_template_specification": [{"launch_template_id": True}]}]}
    group = plan(
        {"mixed_instances_policy": [{"launch_template": [listed]}]},
        {},
        LARGE,
        unknown={"mixed_instances_policy": [unknown]},
    )
    assert types(group) == ["c5.large"]
    meant = {"launch_template_specification": [{"launch_template_id": REFERENCE, "version": LATEST}]}
    assert types(plan({}, {"mixed_instances_policy": [{"launch_template": [meant]}]}, LARGE)) == ["m5.large"]


def test_a_managed_group_has_the_type_of_its_template() -> None:
    written = {"launch_template": [{"id": REFERENCE, "version": LATEST}]}
    later = {"launch_template": [{"id": True}], "instance_types": True}
    assert types(plan({}, written, LARGE, kind="aws_eks_node_group", unknown=later)) == ["m5.large"]
    some = {**written, "instance_types": {"references": ["data.x"]}}
    assert types(plan({}, some, LARGE, kind="aws_eks_node_group", unknown=later)) == []


STACK = """
AWSTemplateFormatVersion: "2010-09-09"
Resources:
  Template:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData: {InstanceType: m5.large}
  Workers:
    Type: AWS::AutoScaling::AutoScalingGroup
    Properties:
      MinSize: "0"
      MaxSize: "4"
      AvailabilityZones: [us-east-1a]
      Tags: [{Key: k8s.io/cluster-autoscaler/node-template/label/role, Value: web, PropagateAtLaunch: true}]
      LaunchTemplate:
        LaunchTemplateId: !Ref Template
        Version: !GetAtt Template.LatestVersionNumber
"""


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("", "", ["m5.large"]),
        ("!Ref Template", "{Ref: Template}", ["m5.large"]),
        ("!GetAtt Template.LatestVersionNumber", '{"Fn::GetAtt": [Template, LatestVersionNumber]}', ["m5.large"]),
        ("!GetAtt Template.LatestVersionNumber", "!GetAtt [Template, LatestVersionNumber]", ["m5.large"]),
        ("!GetAtt Template.LatestVersionNumber", "$Latest", ["m5.large"]),
        ("!GetAtt Template.LatestVersionNumber", "!GetAtt Template.DefaultVersionNumber", []),
        ("!GetAtt Template.LatestVersionNumber", "!GetAtt Other.LatestVersionNumber", []),
        ("InstanceType: m5.large", "InstanceType: !Ref Type", []),
        ("!Ref Template", "lt-1", []),
    ],
)
def test_a_stack(old: str, new: str, wanted: list[str]) -> None:
    text = STACK.replace(old, new) if old else STACK
    group = group_of(text, "stack.yaml")
    assert types(group) == wanted
    assert (group.size.minimum, group.size.maximum, group.labels["role"].value) == (0, 4, "web")
    assert [zone.name for zone in group.zones] == ["us-east-1a"]
    managed = text.replace("AWS::AutoScaling::AutoScalingGroup", "AWS::EKS::Nodegroup").replace("TemplateId", "")
    managed = managed.replace("        Launch: ", "        Id: ").replace('"0"', "0").replace('"4"', "4")
    assert types(group_of(managed, "stack.yaml")) == wanted
