"""Labels of node groups: which a node may give itself, and which the provider gives (C-626, C-629, §6.1, §6.3)."""

from __future__ import annotations

from collections.abc import Mapping

from unpend.model.node_labels import ARCH, EKS_CAPACITY_TYPE, HOSTNAME, OLDER, OS, REGION, ZONE
from unpend.model.pod import Label
from unpend.model.problems import Problems

NODEGROUP = "eks.amazonaws.com/nodegroup"
CAPACITY_TYPE = EKS_CAPACITY_TYPE
CAPACITY_TYPES = {"ON_DEMAND": "on-demand", "SPOT": "spot", "CAPACITY_BLOCK": "capacity-block"}
EKSCTL_CLUSTER = "alpha.eksctl.io/cluster-name"
EKSCTL_GROUP = "alpha.eksctl.io/nodegroup-name"

MANAGED_PERHAPS = frozenset(
    {
        "eks.amazonaws.com/nodegroup-image",
        "eks.amazonaws.com/sourceLaunchTemplateId",
        "eks.amazonaws.com/sourceLaunchTemplateVersion",
    }
)
"""Labels of EKS managed nodes whose values no manifest tells."""

AWS_PERHAPS = frozenset({"topology.k8s.aws/zone-id", "k8s.io/cloud-provider-aws", "topology.ebs.csi.aws.com/zone"})
"""Labels that the cloud controller and the EBS driver of AWS add (§6.1)."""

_KUBELET = frozenset(
    {
        HOSTNAME,
        OS,
        ARCH,
        ZONE,
        REGION,
        *OLDER,
    }
)
_KUBELET_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")


def kubelet_refuses(key: str) -> bool:
    """Whether a kubelet that is started with this label refuses to run (§6.1)."""
    domain = key.partition("/")[0] if "/" in key else ""
    if not _inside(domain, ("kubernetes.io", "k8s.io")) or key in _KUBELET:
        return False
    return not _inside(domain, _KUBELET_DOMAINS)


def _inside(domain: str, parents: tuple[str, ...]) -> bool:
    return any(domain == parent or domain.endswith("." + parent) for parent in parents)


def check_kubelet_labels(labels: Mapping[str, Label], problems: Problems, consequence: str, semantics: str) -> None:
    """Refuse labels that a node may not give itself; `consequence` says what becomes of the group."""
    for key, label in labels.items():
        if kubelet_refuses(key):
            problems.refuse(
                label.place,
                f'a node may not give itself the label "{key}": {consequence}; '
                "use a key outside kubernetes.io and k8s.io",
                semantics,
                "key",
            )
