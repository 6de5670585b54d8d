"""Pods that only keep room for others."""

from __future__ import annotations

from unpend.model.pod import EffectivePod


def is_placeholder(pod: EffectivePod) -> bool:
    """Whether a pod only keeps room for others: one pause container (C-501)."""
    containers = pod.spec.containers
    return len(containers) == 1 and "pause" in containers[0].image.rsplit("/", 1)[-1].partition(":")[0]
