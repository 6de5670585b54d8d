"""Taints that Karpenter leaves out while a node is starting (`karpenter:A-3`)."""

from __future__ import annotations

from unpend.algebra.taints import TaintLike

_EPHEMERAL = frozenset(
    {
        ("node.kubernetes.io/not-ready", "NoSchedule", ""),
        ("node.kubernetes.io/not-ready", "NoExecute", ""),
        ("node.kubernetes.io/unreachable", "NoSchedule", ""),
        ("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule", "true"),
        ("karpenter.sh/unregistered", "NoExecute", ""),
    }
)
_READINESS_PREFIX = "readiness.k8s.io/"
_READINESS_SINCE = (1, 13)


def is_ephemeral(taint: TaintLike, version: tuple[int, int]) -> bool:
    """Whether the taint goes away by itself and is ignored until the node is initialized."""
    if (taint.key, taint.effect, taint.value) in _EPHEMERAL:
        return True
    return version >= _READINESS_SINCE and taint.key.startswith(_READINESS_PREFIX)
