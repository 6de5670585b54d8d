"""`Nodegroup` of AWS Controllers for Kubernetes, and `NodeGroup` of Crossplane's AWS provider (§6.3)."""

from __future__ import annotations

from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import mapping, text, under
from unpend.model.metadata import identity
from unpend.model.node_groups.eks_api import Names, Source, eks_group
from unpend.model.problems import Problems
from unpend.source.document import Object

_EMPTY: dict[str, Any] = {}
ACK = Names()
CROSSPLANE = Names(taints="taint", subnets=("subnetIds", "subnetIdRefs"))

ACK_IGNORED = {
    "clientRequestToken": "says nothing about placement",
    "clusterName": "one cluster is judged at a time",
    "clusterRef": "one cluster is judged at a time",
    "nodeRepairConfig": "nodes are replaced, not refused",
    "nodeRole": "says nothing about placement",
    "nodeRoleRef": "says nothing about placement",
    "releaseVersion": "the image of the same family",
    "remoteAccess": "says nothing about placement",
    "updateConfig": "decides how nodes are replaced",
    "version": "says nothing about placement",
}
"""Fields of ACK's spec that are known and decide nothing here, each with why."""

CROSSPLANE_IGNORED = {
    "clusterName": "one cluster is judged at a time",
    "clusterNameRef": "one cluster is judged at a time",
    "clusterNameSelector": "one cluster is judged at a time",
    "forceUpdateVersion": "decides how nodes are replaced",
    "nodeRepairConfig": "nodes are replaced, not refused",
    "nodeRoleArn": "says nothing about placement",
    "nodeRoleArnRef": "says nothing about placement",
    "releaseVersion": "the image of the same family",
    "remoteAccess": "says nothing about placement",
    "subnetIdSelector": "the zones of selected subnets are not in the file",
    "updateConfig": "decides how nodes are replaced",
    "version": "says nothing about placement",
}
"""Fields of Crossplane's forProvider that are known and decide nothing here, each with why."""


def read_nodegroup(obj: Object, builder: Builder) -> None:
    """A `Nodegroup` of `eks.services.k8s.aws`."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec = mapping(obj.data, "spec", obj.root, problems) or _EMPTY
    place = under(obj.root, "spec")
    name = text(spec, "name", place, problems) or who.name
    found = Source(obj, spec, place, name, "ACK Nodegroup", {})
    builder.add("node_groups", eks_group(found, ACK, problems))
    builder.problems.found.extend(problems.found)


def read_crossplane(obj: Object, builder: Builder) -> None:
    """A `NodeGroup` of `eks.aws.upbound.io`; `forProvider` counts before `initProvider`."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec = mapping(obj.data, "spec", obj.root, problems) or _EMPTY
    data = {**(_inner(spec, "initProvider")), **(_inner(spec, "forProvider"))}
    external = (who.data.get("annotations") or {}).get("crossplane.io/external-name")
    name = external if isinstance(external, str) else who.name
    region = data.get("region")
    found = Source(
        obj,
        data,
        obj.root.at("spec", "forProvider"),
        name,
        "Crossplane NodeGroup",
        {},
        region if isinstance(region, str) else None,
    )
    builder.add("node_groups", eks_group(found, CROSSPLANE, problems))
    builder.problems.found.extend(problems.found)


def _inner(spec: dict[str, Any], key: str) -> dict[str, Any]:
    value = spec.get(key)
    return value if isinstance(value, dict) else _EMPTY
