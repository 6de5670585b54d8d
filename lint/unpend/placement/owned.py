"""Which bound pods belong to which workload."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from unpend.algebra.selectors import matches
from unpend.model.inventory import BoundPod, Workload

if TYPE_CHECKING:
    from unpend.placement.fixed import FixedNodes, Occupant

_CREATORS = {"Deployment": "ReplicaSet", "Rollout": "ReplicaSet", "CronJob": "Job"}
"""Kinds that make pods through another object."""


def owns(workload: Workload, pod: BoundPod, *, orphans: bool = False) -> bool:
    """Whether a bound pod belongs to a workload: right kind of owner, and the selector matches.

    `orphans` takes pods without an owner too: a controller adopts those that its selector matches.
    """
    kind = _CREATORS.get(workload.kind, workload.kind)
    if pod.owner_kind != kind and not (orphans and not pod.owner_kind):
        return False
    if pod.template.namespace != workload.namespace:
        return False
    labels = {key: label.value for key, label in pod.template.labels.items()}
    if workload.selector is not None:
        return matches(workload.selector.expressions, labels)
    return all(labels.get(key) == label.value for key, label in workload.template.labels.items())


class OwnedPods:
    """The bound pods of fixed nodes by namespace, kind of owner and one label, so that few have to be compared."""

    def __init__(self, fixed: FixedNodes) -> None:
        self._by_owner: dict[tuple[str, str], list[tuple[int, Occupant]]] = {}
        self._by_label: dict[tuple[str, str, str, str], list[tuple[int, Occupant]]] = {}
        for number, held in enumerate(fixed.bound):
            for occupant in held:
                pod = occupant.pod
                if pod is not None:
                    owner = (pod.template.namespace, pod.owner_kind)
                    self._by_owner.setdefault(owner, []).append((number, occupant))
                    for key, label in pod.template.labels.items():
                        self._by_label.setdefault((*owner, key, label.value), []).append((number, occupant))

    def pods_of(self, workload: Workload) -> Iterable[tuple[int, Occupant]]:
        """The bound pods of a workload with the numbers of their nodes."""
        owner = (workload.namespace, _CREATORS.get(workload.kind, workload.kind))
        candidates = self._by_owner.get(owner, [])
        if candidates:
            key, value = _one_label(workload)
            if key:
                candidates = self._by_label.get((*owner, key, value), [])
        return [(n, occupant) for n, occupant in candidates if occupant.pod and owns(workload, occupant.pod)]


def _one_label(workload: Workload) -> tuple[str, str]:
    """A label that each pod of the workload has."""
    if workload.selector is None:
        return next(((key, label.value) for key, label in workload.template.labels.items()), ("", ""))
    for expression in workload.selector.expressions:
        if expression.operator == "In" and len(expression.values) == 1:
            return expression.key, expression.values[0]
    return "", ""
