"""The keys of labels that nodes carry under every provider, and the older names of some."""

from __future__ import annotations

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
WINDOWS_BUILD = "node.kubernetes.io/windows-build"
AWS_ZONE_ID = "topology.k8s.aws/zone-id"

CAPACITY_TYPE = "karpenter.sh/capacity-type"
EKS_CAPACITY_TYPE = "eks.amazonaws.com/capacityType"
CAPACITY_TYPES = (CAPACITY_TYPE, EKS_CAPACITY_TYPE)
"""Where it stands whether a node is spot; Karpenter and managed node groups of EKS write it differently."""

OLDER = {
    "beta.kubernetes.io/arch": ARCH,
    "beta.kubernetes.io/os": OS,
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": REGION,
}
"""Older names of labels, which nodes may carry beside those of today."""
