"""`AWS::EKS::Nodegroup` and Auto Scaling groups in CloudFormation templates (§6.3).

Intrinsic functions give values that nobody knows here, but for references to a launch template of the same template.
"""

from __future__ import annotations

from typing import Any

from unpend.model.builder import Builder
from unpend.model.node_groups.eks_api import Names, Source, eks_group
from unpend.model.node_groups.group import Named, NodeGroup, Size, Unknown
from unpend.model.node_groups.labels import AWS_PERHAPS
from unpend.model.node_groups.tags import discovery_tag, label_tags
from unpend.model.pod import Label
from unpend.model.problems import Problems
from unpend.source.document import Object
from unpend.source.place import Place

NODEGROUP = "AWS::EKS::Nodegroup"
GROUP = "AWS::AutoScaling::AutoScalingGroup"
NAMES = Names(
    types="InstanceTypes",
    ami="AmiType",
    capacity="CapacityType",
    disk="DiskSize",
    labels="Labels",
    taints="Taints",
    taint=("Key", "Value", "Effect"),
    scaling="ScalingConfig",
    sizes=("MinSize", "MaxSize", "DesiredSize"),
    subnets=("Subnets",),
    template="LaunchTemplate",
    tags="Tags",
)
IGNORED = {
    "ClusterName": "one cluster is judged at a time",
    "ForceUpdateEnabled": "decides how nodes are replaced",
    "NodeRepairConfig": "nodes are replaced, not refused",
    "NodeRole": "says nothing about placement",
    "ReleaseVersion": "the image of the same family",
    "RemoteAccess": "says nothing about placement",
    "UpdateConfig": "decides how nodes are replaced",
    "Version": "says nothing about placement",
}
"""Properties that are known and decide nothing here, each with why."""
GROUP_USED = frozenset(
    {
        "AvailabilityZones",
        "DesiredCapacity",
        "LaunchConfigurationName",
        "LaunchTemplate",
        "MaxSize",
        "MinSize",
        "MixedInstancesPolicy",
        "Tags",
    }
)
"""Properties of an Auto Scaling group that decide something here."""
GROUP_IGNORED = {
    "AutoScalingGroupName": "the name in the template is used",
    "CapacityRebalance": "nodes are replaced, not refused",
    "HealthCheckType": "says nothing about placement",
    "MaxInstanceLifetime": "nodes are replaced, not refused",
    "NewInstancesProtectedFromScaleIn": "says nothing about placement",
    "PlacementGroup": "a placement group refuses instances at launch only",
    "TargetGroupARNs": "says nothing about placement",
    "TerminationPolicies": "says nothing about placement",
    "VPCZoneIdentifier": "the zones of subnets are not in a template",
}

_WHY = "the value comes from an intrinsic function"


def read_template(obj: Object, builder: Builder) -> None:
    """The node groups of a CloudFormation template; other resources are not ours."""
    resources = obj.data.get("Resources")
    resources = resources if isinstance(resources, dict) else {}
    for name, resource in resources.items():
        kind = resource.get("Type") if isinstance(resource, dict) else None
        properties = resource.get("Properties") if isinstance(resource, dict) else None
        place = obj.root.at("Resources", name, "Properties")
        if kind == NODEGROUP:
            problems = Problems()
            data = properties if isinstance(properties, dict) else {}
            unknown = {key: _WHY for key, value in data.items() if _is_unknown(value, place.at(key))}
            written = data.get("NodegroupName")
            known = isinstance(written, str) and "NodegroupName" not in unknown
            key = NAMES.template
            of_template = template_type(data.get(key), place.at(key), resources)
            called = str(written) if known else str(name)
            found = Source(obj, data, place, called, NODEGROUP, unknown, template_type=of_template)
            builder.add("node_groups", eks_group(found, NAMES, problems))
            builder.problems.found.extend(problems.found)
        elif kind == GROUP:
            data = properties if isinstance(properties, dict) else {}
            builder.add("node_groups", _scaling_group(obj, str(name), data, resources))


def _is_unknown(value: Any, place: Place) -> bool:
    """Whether an intrinsic function stands somewhere in a value: long form, or a short tag such as `!Ref`."""
    holder = place.object
    if isinstance(holder, Object) and (holder.tag(place.path) or "").startswith("!"):
        return True
    if isinstance(value, dict):
        if len(value) == 1 and any(key == "Ref" or key.startswith("Fn::") for key in value):
            return True
        return any(_is_unknown(item, place.at(key)) for key, item in value.items())
    if isinstance(value, list):
        return any(_is_unknown(item, place.at(n)) for n, item in enumerate(value))
    return isinstance(value, str) and "${" in value


def _scaling_group(obj: Object, name: str, properties: dict[str, Any], resources: dict[str, Any]) -> NodeGroup:
    """A self-managed group: what its nodes are called stands in user data, so the tags are what is known (§6.3)."""
    place = obj.root.at("Resources", name, "Properties")
    unknowns = [Unknown("kubelet", "settings of the kubelet stand in the user data", place)]
    types = _types(properties, place, resources)
    if not types:
        unknowns.append(Unknown("instance-types", "the instance type stands in the launch template", place))
    zones = properties.get("AvailabilityZones")
    known = bool(zones) and isinstance(zones, list) and not _is_unknown(zones, place.at("AvailabilityZones"))
    named = (
        tuple(Named(str(z), place.at("AvailabilityZones", n)) for n, z in enumerate(zones)) if known and zones else ()
    )
    if not known:
        unknowns.append(Unknown("zones", "the zones are those of the subnets", place))
    low, high, desired = (_number(properties, key, place) for key in ("MinSize", "MaxSize", "DesiredCapacity"))
    if low is None or high is None:
        unknowns.append(Unknown("size", _WHY, place))
    tags: dict[str, Label] = {}
    listed = properties.get("Tags")
    if _is_unknown(listed, place.at("Tags")):
        unknowns.append(Unknown("tags", _WHY, place.at("Tags")))
    for n, tag in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(tag, dict) and isinstance(tag.get("Key"), str) and isinstance(tag.get("Value"), str):
            tags[tag["Key"]] = Label(tag["Key"], tag["Value"], place.at("Tags", n, "Value"))
    hint = discovery_tag(tags)
    return NodeGroup(
        name=name,
        source=GROUP,
        provider="aws",
        template="asg",
        size=Size(low, high, desired, place.at("MinSize"), place.at("MaxSize")),
        instance_types=types,
        zones=named,
        all_zones=known,
        several_zones=len({z.name for z in named}) > 1 if known else None,
        zones_place=place.at("AvailabilityZones") if known else place,
        capacity_types=_capacity_types(properties),
        capacity_place=place,
        labels=label_tags(tags),
        perhaps_labels=AWS_PERHAPS,
        hidden=frozenset({"labels", "taints"}),
        tags=tags,
        tags_place=place.at("Tags"),
        autoscaler_hint=hint.place if hint else None,
        unknowns=tuple(unknowns),
        place=place,
        object=obj,
    )


def _number(properties: dict[str, Any], key: str, place: Place) -> int | None:
    value = properties.get(key)
    if _is_unknown(value, place.at(key)) or isinstance(value, bool):
        return None
    return int(value) if isinstance(value, int | str) and str(value).isdigit() else None


def _capacity_types(properties: dict[str, Any]) -> tuple[str, ...]:
    policy = properties.get("MixedInstancesPolicy")
    if policy is None:
        return ("on-demand",)
    spread = policy.get("InstancesDistribution") if isinstance(policy, dict) else None
    share = spread.get("OnDemandPercentageAboveBaseCapacity") if isinstance(spread, dict) else 100
    return ("on-demand",) if str(share) == "100" else ("on-demand", "spot")


def _types(properties: dict[str, Any], place: Place, resources: dict[str, Any]) -> tuple[Named, ...]:
    """The types in the order of the overrides, else the one of the template; none where they are not sure (C-212)."""
    policy = properties.get("MixedInstancesPolicy")
    if policy is not None:
        template = policy.get("LaunchTemplate") if isinstance(policy, dict) else None
        where = place.at("MixedInstancesPolicy", "LaunchTemplate")
        overrides = template.get("Overrides") if isinstance(template, dict) else None
        if overrides is None and isinstance(template, dict):
            found = template_type(
                template.get("LaunchTemplateSpecification"), where.at("LaunchTemplateSpecification"), resources
            )
            return () if found is None else (found,)
        names = []
        for n, one in enumerate(overrides if isinstance(overrides, list) else ()):
            here = where.at("Overrides", n, "InstanceType")
            value = one.get("InstanceType") if isinstance(one, dict) else None
            if not isinstance(value, str) or _is_unknown(value, here):
                return ()
            names.append(Named(value, here))
        return tuple(names)
    if "LaunchConfigurationName" in properties:
        key = "LaunchConfigurationName"
        meant = _referred(properties[key], place.at(key), resources, "AWS::AutoScaling::LaunchConfiguration")
        found = _literal(meant, place, resources, "InstanceType")
    else:
        found = template_type(properties.get("LaunchTemplate"), place.at("LaunchTemplate"), resources)
    return () if found is None else (found,)


def template_type(use: Any, place: Place, resources: dict[str, Any]) -> Named | None:
    """The instance type of a launch template of the same stack, where the group uses its newest version.

    The resource is the newest version. The default version stays the first one, whatever a stack changes later.
    """
    if not isinstance(use, dict):
        return None
    key = "LaunchTemplateId" if "LaunchTemplateId" in use else "Id"
    meant = _referred(use.get(key), place.at(key), resources, "AWS::EC2::LaunchTemplate")
    version = use.get("Version")
    latest = version == "$Latest" or (
        meant is not None and _attribute(version, place.at("Version")) == (meant, "LatestVersionNumber")
    )
    return _literal(meant, place, resources, "LaunchTemplateData", "InstanceType") if latest else None


def _attribute(value: Any, place: Place) -> tuple[str, str] | None:
    """Resource and attribute of `Fn::GetAtt`, in its short and long form."""
    if isinstance(value, dict) and len(value) == 1:
        value = value.get("Fn::GetAtt")
    elif _tag(place) != "!GetAtt":
        return None
    if isinstance(value, str):
        value = value.split(".", 1)
    return (str(value[0]), str(value[1])) if isinstance(value, list) and len(value) == 2 else None


def _referred(value: Any, place: Place, resources: dict[str, Any], kind: str) -> str | None:
    """The resource of some kind that a `Ref` means, None for anything else."""
    if isinstance(value, dict) and len(value) == 1:
        value = value.get("Ref")
    elif _tag(place) != "!Ref":
        return None
    meant = resources.get(value) if isinstance(value, str) else None
    return value if isinstance(meant, dict) and meant.get("Type") == kind and "Condition" not in meant else None


def _literal(name: str | None, place: Place, resources: dict[str, Any], *path: str) -> Named | None:
    """A plain string in the properties of a resource."""
    if name is None or not isinstance(place.object, Object):
        return None
    value: Any = resources[name].get("Properties")
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    here = place.object.root.at("Resources", name, "Properties", *path)
    return Named(value, here) if isinstance(value, str) and not _is_unknown(value, here) else None


def _tag(place: Place) -> str:
    return (place.object.tag(place.path) or "") if isinstance(place.object, Object) else ""
