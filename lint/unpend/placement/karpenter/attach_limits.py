"""How many EBS volumes an instance type takes, where that is certain (`karpenter.md` §6.3).

Karpenter does not look at it for new nodes; kube-scheduler does, as soon as the driver has told it. By the page "Amazon
EBS volume limits for Amazon EC2 instances" of the EC2 user guide, types of the families below have 28 attachments for
volumes, network interfaces and NVMe disks together. At least one is an interface, and one the root volume. Bare metal
and later families have other numbers, which are not looked at.
"""

from __future__ import annotations

EBS = "ebs.csi.aws.com"
SHARED = 28
TAKEN = 2
_FAMILIES = frozenset(
    {
        *("c5", "c5a", "c5ad", "c5d", "c5n"),
        *("m5", "m5a", "m5ad", "m5d", "m5dn", "m5n", "m5zn"),
        *("r5", "r5a", "r5ad", "r5d", "r5dn", "r5n"),
        *("t3", "t3a"),
    }
)


def most_ebs_volumes(instance_type: str) -> int | None:
    """An upper bound on the volumes of the EBS driver on a node of this type; None where it is not known."""
    family, _, size = instance_type.partition(".")
    return SHARED - TAKEN if family in _FAMILIES and not size.startswith("metal") else None
