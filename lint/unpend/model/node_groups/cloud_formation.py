"""`AWS::EKS::Nodegroup` in CloudFormation templates (§6.3); intrinsic functions give values that nobody knows here."""

from __future__ import annotations

from typing import Any

from unpend.model.builder import Builder
from unpend.model.node_groups.eks_api import Names, Source, eks_group
from unpend.model.node_groups.group import NodeGroup, Size, Unknown
from unpend.model.problems import Problems
from unpend.source.document import Object
from unpend.source.place import Place

NODEGROUP = "AWS::EKS::Nodegroup"
_GROUP = "AWS::AutoScaling::AutoScalingGroup"
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

_WHY = "the value comes from an intrinsic function"


def read_template(obj: Object, builder: Builder) -> None:
    """The node groups of a CloudFormation template; other resources are not ours."""
    resources = obj.data.get("Resources")
    for name, resource in resources.items() if isinstance(resources, dict) else ():
        kind = resource.get("Type") if isinstance(resource, dict) else None
        properties = resource.get("Properties") if isinstance(resource, dict) else None
        place = obj.root.at("Resources", name, "Properties")
        if kind == NODEGROUP:
            problems = Problems()
            data = properties if isinstance(properties, dict) else {}
            unknown = {key: _WHY for key, value in data.items() if _is_unknown(value, place.at(key))}
            written = data.get("NodegroupName")
            known = isinstance(written, str) and "NodegroupName" not in unknown
            found = Source(obj, data, place, str(written) if known else str(name), NODEGROUP, unknown)
            builder.add("node_groups", eks_group(found, NAMES, problems))
            builder.problems.found.extend(problems.found)
        elif kind == _GROUP:
            builder.add("node_groups", _scaling_group(obj, str(name), place))


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


def _scaling_group(obj: Object, name: str, place: Place) -> NodeGroup:
    """A group of which the template tells neither labels nor types in a form that is read here."""
    why = "what its nodes are stands in the launch template and its user data"
    return NodeGroup(
        name=name,
        source=_GROUP,
        provider="aws",
        template="asg",
        size=Size(None, None, None, place, place),
        zones_place=place,
        hidden=frozenset({"labels", "taints"}),
        unknowns=tuple(Unknown(part, why, place) for part in ("instance-types", "zones", "size", "tags", "kubelet")),
        place=place,
        object=obj,
    )
