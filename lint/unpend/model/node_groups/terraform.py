"""`terraform show -json` of a plan or a state: `aws_eks_node_group` and `aws_autoscaling_group` (§6.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.builder import Builder
from unpend.model.node_groups.eks_api import Names, Source, eks_group
from unpend.model.node_groups.group import Named, NodeGroup, Size, Unknown
from unpend.model.node_groups.labels import AWS_PERHAPS
from unpend.model.node_groups.tags import discovery_tag, label_tags
from unpend.model.node_groups.terraform_templates import LaunchTemplates, Resource
from unpend.model.pod import Label
from unpend.model.problems import Problems
from unpend.source.document import Object
from unpend.source.place import Place

NAMES = Names(
    types="instance_types",
    ami="ami_type",
    capacity="capacity_type",
    disk="disk_size",
    taints="taint",
    scaling="scaling_config",
    sizes=("min_size", "max_size", "desired_size"),
    subnets=("subnet_ids",),
    template="launch_template",
)
IGNORED = {
    "cluster_name": "one cluster is judged at a time",
    "force_update_version": "decides how nodes are replaced",
    "node_repair_config": "nodes are replaced, not refused",
    "node_role_arn": "says nothing about placement",
    "release_version": "the image of the same family",
    "remote_access": "says nothing about placement",
    "tags_all": "they do not reach the Auto Scaling group, and hold no labels (trap 4)",
    "timeouts": "says nothing about placement",
    "update_config": "decides how nodes are replaced",
    "version": "says nothing about placement",
}
"""Attributes of `aws_eks_node_group` that are known and decide nothing here, each with why."""

NAMED = frozenset({"node_group_name", "node_group_name_prefix"})
GROUP_USED = frozenset(
    {
        "availability_zones",
        "desired_capacity",
        "launch_configuration",
        "launch_template",
        "max_size",
        "min_size",
        "mixed_instances_policy",
        "name",
        "tag",
        "vpc_zone_identifier",
    }
)
"""Attributes of `aws_autoscaling_group` that decide something here."""
GROUP_IGNORED = {
    "capacity_rebalance": "nodes are replaced, not refused",
    "health_check_type": "says nothing about placement",
    "max_instance_lifetime": "nodes are replaced, not refused",
    "placement_group": "a placement group refuses instances at launch only",
    "protect_from_scale_in": "says nothing about placement",
    "suspended_processes": "says nothing about placement",
    "target_group_arns": "says nothing about placement",
    "termination_policies": "says nothing about placement",
    "warm_pool": "says nothing about placement",
}

_AFTER_APPLY = "the value is known after apply"


def read_state(obj: Object, builder: Builder) -> None:
    """The node groups of a plan (`planned_values`) or state (`values`), modules included."""
    resources = list(_resources(obj))
    unknown = _unknown_after_apply(obj.data)
    zones = {
        one.values["id"]: one.values["availability_zone"]
        for one in resources
        if one.kind == "aws_subnet"
        and isinstance(one.values.get("id"), str)
        and isinstance(one.values.get("availability_zone"), str)
    }
    tags = _group_tags(resources)
    region = _region(obj.data)
    templates = LaunchTemplates(obj.data, resources)
    for one in resources:
        later = unknown.get(one.address, {})
        missing = {key: _AFTER_APPLY for key, value in later.items() if _holds_true(value)}
        if one.kind == "aws_eks_node_group":
            problems = Problems()
            name = _text(one.values, "node_group_name") or _text(one.values, "node_group_name_prefix") or one.name
            template_type = templates.type_of(one)
            if template_type is not None and not templates.is_written(one, NAMES.types):
                # The provider computes it: it is known after apply, and stays empty.
                missing.pop(NAMES.types, None)
            found = Source(obj, one.values, one.place, name, one.kind, missing, region, zones, template_type)
            builder.add("node_groups", eks_group(found, NAMES, problems))
            builder.problems.found.extend(problems.found)
        elif one.kind == "aws_autoscaling_group":
            builder.add("node_groups", _scaling_group(obj, one, later, zones, tags, region, templates))


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""


def _resources(obj: Object) -> Iterator[Resource]:
    top = "planned_values" if "planned_values" in obj.data else "values"
    values = obj.data.get(top)
    pending = [(values.get("root_module"), obj.root.at(top, "root_module"))] if isinstance(values, dict) else []
    while pending:
        module, place = pending.pop(0)
        if not isinstance(module, dict):
            continue
        for number, resource in enumerate(_list(module, "resources")):
            found = resource.get("values") if isinstance(resource, dict) else None
            if isinstance(found, dict):
                address, kind, name = (_text(resource, key) for key in ("address", "type", "name"))
                yield Resource(address, kind, name, found, place.at("resources", number, "values"))
        for number, child in enumerate(_list(module, "child_modules")):
            pending.append((child, place.at("child_modules", number)))


def _list(owner: Mapping[str, Any], key: str) -> list[Any]:
    value = owner.get(key)
    return value if isinstance(value, list) else []


def _unknown_after_apply(data: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By address of a resource, its attributes with `true` in the place of each value known only after apply."""
    found: dict[str, dict[str, Any]] = {}
    for change in _list(data, "resource_changes"):
        inner = change.get("change") if isinstance(change, dict) else None
        unknown = inner.get("after_unknown") if isinstance(inner, dict) else None
        if isinstance(unknown, dict):
            found[_text(change, "address")] = unknown
    return found


def _holds_true(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_true(item) for item in value.values())
    if isinstance(value, list):
        return any(_holds_true(item) for item in value)
    return value is True


def _region(data: Mapping[str, Any]) -> str | None:
    """The region that the AWS provider is configured with, where it is written as a constant."""
    value: Any = data
    for key in ("configuration", "provider_config", "aws", "expressions", "region", "constant_value"):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def _group_tags(resources: list[Resource]) -> dict[str, dict[str, Label]]:
    """Tags that `aws_autoscaling_group_tag` puts on groups, by the name of the group."""
    found: dict[str, dict[str, Label]] = {}
    for one in resources:
        if one.kind == "aws_autoscaling_group_tag":
            for number, tag in enumerate(_list(one.values, "tag")):
                label = _tag(tag, one.place.at("tag", number))
                if label is not None:
                    found.setdefault(_text(one.values, "autoscaling_group_name"), {})[label.key] = label
    return found


def _tag(tag: Any, place: Place) -> Label | None:
    key, value = (tag.get("key"), tag.get("value")) if isinstance(tag, dict) else (None, None)
    if not isinstance(key, str) or not isinstance(value, str):
        return None
    return Label(key, value, place.at("value"))


def _scaling_group(
    obj: Object,
    one: Resource,
    later: Mapping[str, Any],
    zones: Mapping[str, str],
    group_tags: Mapping[str, Mapping[str, Label]],
    region: str | None,
    templates: LaunchTemplates,
) -> NodeGroup:
    """A self-managed group: its labels stand in user data, so the tags are what is known of them (§6.3)."""
    values, place = one.values, one.place
    name = _text(values, "name") or one.name
    tags = dict(group_tags.get(name, {}))
    for number, tag in enumerate(_list(values, "tag")):
        label = _tag(tag, place.at("tag", number))
        if label is not None:
            tags[label.key] = label
    types, unknowns = _types(one, later, templates)
    found, complete, several = _zones(values, place, zones)
    if not complete:
        unknowns.append(Unknown("zones", "the zones are those of the subnets", place))
    unknowns.append(Unknown("kubelet", "settings of the kubelet stand in the user data", place))
    if _holds_true(later.get("tag")):
        unknowns.append(Unknown("tags", _AFTER_APPLY, place.at("tag")))
    low, high, desired = (_number(values, key) for key in ("min_size", "max_size", "desired_capacity"))
    hint = discovery_tag(tags)
    return NodeGroup(
        name=name,
        source=one.kind,
        provider="aws",
        template="asg",
        size=Size(low, high, desired, place.at("min_size"), place.at("max_size")),
        instance_types=types,
        zones=found,
        all_zones=complete,
        several_zones=several,
        zones_place=place.at("availability_zones" if values.get("availability_zones") else "vpc_zone_identifier"),
        region=region,
        capacity_types=_capacity_types(values),
        capacity_place=place.at("mixed_instances_policy") if values.get("mixed_instances_policy") else place,
        labels=label_tags(tags),
        perhaps_labels=AWS_PERHAPS,
        hidden=frozenset({"labels", "taints"}),
        tags=tags,
        tags_place=place.at("tag"),
        autoscaler_hint=hint.place if hint else None,
        unknowns=tuple(unknowns),
        place=place,
        object=obj,
    )


def _number(values: Mapping[str, Any], key: str) -> int | None:
    value = values.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _mixed(values: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Launch template and distribution of a mixed instances policy, each a list of one."""
    policy = _first(values, "mixed_instances_policy")
    return _first(policy, "launch_template"), _first(policy, "instances_distribution")


def _first(owner: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = owner.get(key)
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, dict) else {}


def _types(
    group: Resource, later: Mapping[str, Any], templates: LaunchTemplates
) -> tuple[tuple[Named, ...], list[Unknown]]:
    """The types in the order of the overrides, else the one of the launch template (C-212)."""
    template, _ = _mixed(group.values)
    key = "override" if "override" in template else "overrides"
    where = group.place.at("mixed_instances_policy", 0, "launch_template", 0, key)
    names = [
        Named(_text(one, "instance_type"), where.at(n, "instance_type"))
        for n, one in enumerate(_list(template, key))
        if isinstance(one, dict)
    ]
    open_, _ = _mixed(later)
    if names and all(one.name for one in names) and not _holds_true(open_.get(key)):
        return tuple(names), []
    message = "the instance type stands in the launch template"
    if any(isinstance(one, dict) and one.get("instance_requirements") for one in _list(template, key)):
        message = "AWS chooses the instance types by attributes"
    elif not names and not _holds_true(open_.get(key)):
        found = templates.type_of(group)
        if found is not None:
            return (found,), []
    return (), [Unknown("instance-types", message, group.place)]


def _zones(
    values: Mapping[str, Any], place: Place, zones: Mapping[str, str]
) -> tuple[tuple[Named, ...], bool, bool | None]:
    listed = [one for one in _list(values, "availability_zones") if isinstance(one, str)]
    if listed:
        where = place.at("availability_zones")
        return tuple(Named(one, where.at(n)) for n, one in enumerate(listed)), True, len(set(listed)) > 1
    subnets = _list(values, "vpc_zone_identifier")
    where = place.at("vpc_zone_identifier")
    named = {zones[one]: Named(zones[one], where.at(n)) for n, one in enumerate(subnets) if one in zones}
    if subnets and all(one in zones for one in subnets):
        return tuple(named.values()), True, len(named) > 1
    return tuple(named.values()), False, len(subnets) > 1 if subnets else None


def _capacity_types(values: Mapping[str, Any]) -> tuple[str, ...]:
    _, distribution = _mixed(values)
    base = _number(distribution, "on_demand_base_capacity") or 0
    share = _number(distribution, "on_demand_percentage_above_base_capacity")
    share = 100 if share is None else share
    if share >= 100:
        return ("on-demand",)
    return ("spot",) if share <= 0 and base <= 0 else ("on-demand", "spot")
