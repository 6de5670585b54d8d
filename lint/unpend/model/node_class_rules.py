"""What the API server refuses of an EC2NodeClass (`karpenter.md` §10.1)."""

from __future__ import annotations

import re
from typing import Any

from unpend.model.fields import entries, mapping, under
from unpend.model.karpenter import NodeClass
from unpend.model.problems import Problems
from unpend.source.place import Place

_RULE = "karpenter:§10.1"
_ALIAS = re.compile(r"(al2|al2023|bottlerocket|windows2019|windows2022|windows2025)@(.+)")
_FAMILIES = ("AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025")
_TERM_FIELDS = {
    "subnetSelectorTerms": ("id", "tags"),
    "securityGroupSelectorTerms": ("id", "name", "tags"),
    "amiSelectorTerms": ("alias", "id", "name", "ssmParameter", "tags"),
}


_MOVED = {
    "amiSelector": "amiSelectorTerms",
    "subnetSelector": "subnetSelectorTerms",
    "securityGroupSelector": "securityGroupSelectorTerms",
    "kubeletConfiguration": "kubelet",
    "launchTemplate": "userData and blockDeviceMappings",
}
"""Fields of AWSNodeTemplate and of older releases, and what became of them (`karpenter.md` §1.9)."""

_OWN_TAGS = frozenset(
    {"eks:eks-cluster-name", "karpenter.sh/nodepool", "karpenter.sh/nodeclaim", "karpenter.k8s.aws/ec2nodeclass"}
)
_MOST_DEVICES = 50
_LONGEST_ALIAS = 30


def check_node_class(found: NodeClass, spec: dict[str, Any], place: Place, problems: Problems) -> None:
    """Report illegal values; `spec` is the plain data at `place`."""
    for key, wanted in _TERM_FIELDS.items():
        _check_terms(key, wanted, spec, place, problems)
    _check_family(found, spec, place, problems)
    if bool(spec.get("role")) == bool(spec.get("instanceProfile")):
        both = "exclude each other" if spec.get("role") else "are both missing; one of them is needed"
        problems.refuse(under(place, "role"), f"`role` and `instanceProfile` {both}", _RULE)
    if sum(device.root for device in found.block_devices) > 1:
        problems.refuse(under(place, "blockDeviceMappings"), "more than one mapping has `rootVolume: true`", _RULE)
    _check_devices(spec, place, problems)
    _check_tags(spec, place, problems)
    for key, became in _MOVED.items():
        if spec.get(key) is not None:
            problems.note(under(place, key), f"there is no field `{key}` here: it became `{became}`", _RULE, part="key")
    group = spec.get("placementGroupSelector")
    if isinstance(group, dict) and bool(group.get("id")) == bool(group.get("name")):
        problems.refuse(under(place, "placementGroupSelector"), "give either `id` or `name`, not both or none", _RULE)
    policy = spec.get("instanceStorePolicy")
    if policy not in (None, "RAID0"):
        problems.refuse(under(place, "instanceStorePolicy"), "`instanceStorePolicy` may only be RAID0", _RULE)


def _check_terms(key: str, wanted: tuple[str, ...], spec: dict[str, Any], place: Place, problems: Problems) -> None:
    terms = list(entries(spec, key, place, Problems(muted=True)))
    if not terms:
        problems.refuse(under(place, key), f"`{key}` needs at least one term", _RULE)
    elif len(terms) > 30:
        problems.refuse(under(place, key), f"`{key}` has {len(terms)} terms, at most 30 are allowed", _RULE)
    for term, here in terms:
        there = [name for name in wanted if term.get(name)]
        if not there:
            problems.refuse(here, f"a term of `{key}` needs one of {', '.join(wanted)}", _RULE)
        elif len(there) > 1 and there[0] != "tags" and ("id" in there or "alias" in there):
            first = "alias" if "alias" in there else "id"
            others = ", ".join(name for name in there if name != first)
            problems.refuse(here, f"`{first}` in a term excludes {others}", _RULE)
        tags = mapping(term, "tags", here, problems) or {}
        for tag, value in tags.items():
            if tag == "" or value == "":
                problems.refuse(under(here, "tags").at(tag), "tags need a key and a value; `*` is any value", _RULE)


def _check_devices(spec: dict[str, Any], place: Place, problems: Problems) -> None:
    devices = list(entries(spec, "blockDeviceMappings", place, Problems(muted=True)))
    if len(devices) > _MOST_DEVICES:
        where = under(place, "blockDeviceMappings")
        problems.refuse(where, f"{len(devices)} block device mappings, at most {_MOST_DEVICES} are allowed", _RULE)
    for device, here in devices:
        ebs = device.get("ebs")
        if not isinstance(ebs, dict):
            continue
        if ebs.get("volumeSize") is None and not ebs.get("snapshotID"):
            problems.refuse(under(here, "ebs"), "`ebs` needs `volumeSize` or `snapshotID`", _RULE)
        if ebs.get("volumeInitializationRate") is not None and not ebs.get("snapshotID"):
            where = under(under(here, "ebs"), "volumeInitializationRate")
            problems.refuse(where, "`volumeInitializationRate` needs `snapshotID` beside it", _RULE)


def _check_tags(spec: dict[str, Any], place: Place, problems: Problems) -> None:
    for tag in mapping(spec, "tags", place, Problems(muted=True)) or {}:
        where = under(under(place, "tags"), tag)
        if tag == "":
            problems.refuse(where, "a tag needs a key", _RULE, "key")
        elif tag in _OWN_TAGS or tag.startswith("kubernetes.io/cluster"):
            problems.refuse(where, f'the tag "{tag}" is set by Karpenter and may not be given', _RULE, "key")


def _check_family(found: NodeClass, spec: dict[str, Any], place: Place, problems: Problems) -> None:
    family = spec.get("amiFamily")
    if isinstance(family, str) and family not in _FAMILIES:
        problems.refuse(
            under(place, "amiFamily"), f'"{family}" is no AMI family; it is one of {", ".join(_FAMILIES)}', _RULE
        )
    where = under(place, "amiSelectorTerms")
    if found.alias is None:
        if family is None and found.ami_terms:
            problems.refuse(under(place, "amiFamily"), "`amiFamily` is needed where no `alias` names one", _RULE)
        return
    match = _ALIAS.fullmatch(found.alias)
    if match is None:
        problems.refuse(where, f'the alias "{found.alias}" is not of the form family@version, as al2023@latest', _RULE)
    elif len(found.alias) > _LONGEST_ALIAS:
        problems.refuse(where, f'the alias "{found.alias}" is longer than {_LONGEST_ALIAS} characters', _RULE)
    elif match[1].startswith("windows") and match[2] != "latest":
        problems.refuse(where, f"the alias {match[1]} only takes the version latest", _RULE)
    elif isinstance(family, str) and family != "Custom" and family.lower() != match[1]:
        problems.refuse(under(place, "amiFamily"), f'`amiFamily` is {family}, but the alias is "{found.alias}"', _RULE)
    if len(found.ami_terms) > 1:
        problems.refuse(where, "a term with `alias` must be the only one", _RULE)
