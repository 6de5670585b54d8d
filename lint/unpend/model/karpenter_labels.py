"""The label keys that Karpenter knows: well-known ones, older names, restricted domains, known values.

Keys carry the release that brought them, so that an older controller is judged by what it knew (`karpenter.md` §2.4,
§10.4).
"""

from __future__ import annotations

import re
from functools import lru_cache

from unpend.model.node_labels import ARCH as ARCH
from unpend.model.node_labels import AWS_ZONE_ID as AWS_ZONE_ID
from unpend.model.node_labels import CAPACITY_TYPE as CAPACITY_TYPE
from unpend.model.node_labels import HOSTNAME as HOSTNAME
from unpend.model.node_labels import INSTANCE_TYPE as INSTANCE_TYPE
from unpend.model.node_labels import OLDER
from unpend.model.node_labels import OS as OS
from unpend.model.node_labels import REGION as REGION
from unpend.model.node_labels import WINDOWS_BUILD as WINDOWS_BUILD
from unpend.model.node_labels import ZONE as ZONE

Version = tuple[int, int]

UNRELEASED: Version = (9999, 0)
"""Stands for "not released yet" among the releases below."""

NODE_POOL = "karpenter.sh/nodepool"
REGISTERED = "karpenter.sh/registered"
INITIALIZED = "karpenter.sh/initialized"

AWS_NODE_CLASS = "karpenter.k8s.aws/ec2nodeclass"
AWS_TENANCY = "karpenter.k8s.aws/instance-tenancy"

CORE_WELL_KNOWN = frozenset(
    {NODE_POOL, ZONE, REGION, INSTANCE_TYPE, ARCH, OS, CAPACITY_TYPE, WINDOWS_BUILD},
)
"""Keys that a NodePool may leave undefined under any provider (`karpenter.md` §2.4)."""

_AWS_SINCE: dict[str, Version] = {
    AWS_ZONE_ID: (0, 0),
    **{
        f"karpenter.k8s.aws/{name}": (0, 0)
        for name in (
            "instance-category",
            "instance-family",
            "instance-generation",
            "instance-size",
            "instance-cpu",
            "instance-cpu-manufacturer",
            "instance-cpu-sustained-clock-speed-mhz",
            "instance-memory",
            "instance-ebs-bandwidth",
            "instance-network-bandwidth",
            "instance-local-nvme",
            "instance-hypervisor",
            "instance-encryption-in-transit-supported",
            "instance-gpu-name",
            "instance-gpu-manufacturer",
            "instance-gpu-count",
            "instance-gpu-memory",
            "instance-accelerator-name",
            "instance-accelerator-manufacturer",
            "instance-accelerator-count",
            "capacity-reservation-id",
            "capacity-reservation-type",
        )
    },
    "karpenter.k8s.aws/instance-capability-flex": (1, 7),
    AWS_TENANCY: (1, 9),
    "karpenter.k8s.aws/capacity-reservation-interruptible": (1, 10),
    "karpenter.k8s.aws/placement-group-id": (1, 11),
    "karpenter.k8s.aws/placement-group-partition": (1, 11),
    "karpenter.k8s.aws/nitro-sandbox": UNRELEASED,
}

KNOWN_VALUES: dict[str, frozenset[str]] = {
    CAPACITY_TYPE: frozenset({"on-demand", "spot", "reserved"}),
    AWS_TENANCY: frozenset({"default", "dedicated"}),
}
"""Keys of which Karpenter knows every value (`N-12`, `P-4`)."""

OLDER_NAMES: dict[str, str] = {
    **OLDER,
    "topology.ebs.csi.aws.com/zone": ZONE,
}
"""Keys that are read as another one wherever a requirement is built (`karpenter.md` §2.3); not in topology keys."""

CORE_DOMAIN = "karpenter.sh"
AWS_DOMAIN = "karpenter.k8s.aws"

_KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")
_KUBERNETES_EXCEPTIONS = ("kops.k8s.io", "node.kubernetes.io", "node-restriction.kubernetes.io")
_KUBERNETES_DOMAINS_OPEN_SINCE: Version = (1, 9)

_VERSION = re.compile(r"v?([0-9]{1,6})\.([0-9]{1,6})")


@lru_cache(maxsize=64)
def release(text: str) -> Version:
    """Major and minor of a version such as `1.14` or `v1.9.2`.

    `main` has everything, released or not; a text that is no version counts as the newest release.
    """
    match = _VERSION.match(text)
    if match is None:
        return UNRELEASED if text == "main" else (UNRELEASED[0] - 1, 0)
    return (int(match[1]), int(match[2]))


@lru_cache(maxsize=64)
def aws_well_known(version: Version) -> frozenset[str]:
    """The well-known keys of the AWS provider in this release, core ones included (`karpenter.md` §10.4)."""
    return CORE_WELL_KNOWN | {key for key, since in _AWS_SINCE.items() if since <= version}


def normalized(key: str) -> str:
    """The key under which Karpenter keeps a requirement on this one (`karpenter.md` §2.3)."""
    return OLDER_NAMES.get(key, key)


def in_domain(key: str, domain: str) -> bool:
    """Whether the key belongs to the domain or to one beneath it."""
    prefix = key.partition("/")[0] if "/" in key else ""
    return prefix == domain or prefix.endswith("." + domain)


def is_restricted(key: str, well_known: frozenset[str], version: Version) -> bool:
    """Whether nobody may ask for this key: neither a NodePool (`N-9`) nor a pod (`P-2`)."""
    if key == HOSTNAME:
        return True
    if key in well_known:
        return False
    if in_domain(key, CORE_DOMAIN) or in_domain(key, AWS_DOMAIN):
        return True
    return in_closed_kubernetes_domain(key, version)


def in_closed_kubernetes_domain(key: str, version: Version) -> bool:
    """Whether the key lies in `kubernetes.io` or `k8s.io`, which were closed before release 1.9 (`N-8`)."""
    if version >= _KUBERNETES_DOMAINS_OPEN_SINCE or not any(in_domain(key, d) for d in _KUBERNETES_DOMAINS):
        return False
    if key in CORE_WELL_KNOWN or key in OLDER_NAMES:
        return False
    return not any(in_domain(key, domain) for domain in _KUBERNETES_EXCEPTIONS)
