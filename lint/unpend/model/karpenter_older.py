"""Kinds of Karpenter that are not served any more (`karpenter.md` §1.9)."""

from __future__ import annotations

from unpend.model.builder import Builder
from unpend.model.fields import under
from unpend.model.karpenter_labels import release
from unpend.source.document import Object

_SUCCESSORS = {
    "Provisioner": "a NodePool of karpenter.sh/v1",
    "AWSNodeTemplate": "an EC2NodeClass of karpenter.k8s.aws/v1",
    "Machine": "a NodeClaim of karpenter.sh/v1",
}


def read_removed(obj: Object, builder: Builder) -> None:
    """A Provisioner, AWSNodeTemplate or Machine: Karpenter has had no such kind since v0.33."""
    successor = _SUCCESSORS.get(obj.kind, "v1 of the kind")
    builder.problems.refuse(
        under(obj.root, "apiVersion"),
        f"{obj.kind} of {obj.api_version} is not served since Karpenter 0.33; write {successor}",
        "karpenter:§1.9",
    )
    builder.other(obj, "unread_capacity" if obj.kind == "Provisioner" else "others")


def report_older(obj: Object, builder: Builder) -> None:
    """A kind that exists, of a version before v1."""
    place = under(obj.root, "apiVersion")
    group = obj.group
    if obj.version == "v1beta1" and release(builder.settings.karpenter.version) < (1, 1):
        builder.problems.note(
            place, f"{obj.api_version} is dropped in Karpenter 1.1; write {group}/v1", "karpenter:§1.9", "warning"
        )
        return
    builder.problems.refuse(
        place,
        f"{obj.api_version} is not served by Karpenter {builder.settings.karpenter.version}; write {group}/v1",
        "karpenter:§1.9",
    )
