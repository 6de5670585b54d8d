"""Whether the pods of a workload have their topology domains to themselves, and whether they ever start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from unpend.algebra.selectors import matches
from unpend.model.inventory import Inventory, Workload
from unpend.model.pod import EffectivePod, PodTemplate
from unpend.placement.counts import Placing
from unpend.placement.peers import Peers, Wish
from unpend.placement.replicas.scenes import controller_labels
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import Settings


def stands_alone(placing: Placing, inventory: Inventory) -> bool:
    """Whether no pod of another workload, and none that runs already, is meant by a rule of the pod or means it.

    Namespaces are not looked at: that can only find more.
    """
    spec, labels = placing.pod.spec, controller_labels(placing.workload)
    selectors = [c.selector for c in spec.spread if c.when_unsatisfiable == "DoNotSchedule"]
    selectors += [term.selector for term in (*spec.affinity.pod_required, *spec.affinity.anti_required)]
    for template, others in _others(placing, inventory):
        if any(selector is not None and matches(selector.expressions, others) for selector in selectors):
            return False
        terms = template.spec.affinity.anti_required
        if any(term.selector is not None and matches(term.selector.expressions, labels) for term in terms):
            return False
    return True


def _others(placing: Placing, inventory: Inventory) -> Iterator[tuple[PodTemplate, dict[str, str]]]:
    for workload in inventory.workloads:
        if workload.id != placing.workload.id:
            yield workload.template, controller_labels(workload)
    for pod in inventory.bound_pods:
        yield pod.template, {key: label.value for key, label in pod.template.labels.items()}


class _Facts(NamedTuple):
    """What `Peers` asks for, of pods as they are written: admission changes no affinity."""

    inventory: Inventory
    settings: Settings
    verdicts: Mapping[str, WorkloadVerdict]

    def effective(self, workload: Workload) -> EffectivePod:
        """The pod of a workload."""
        return EffectivePod(workload.template, workload.template.spec, {}, {})

    def memo(self, name: Any, compute: Callable[[], Any]) -> Any:
        """Nothing is kept."""
        return compute()


def never_starting(inventory: Inventory, settings: Settings) -> dict[str, Wish]:
    """The workloads whose required pod affinity no pod can ever satisfy, by id (S-915, S-916)."""
    peers = Peers(_Facts(inventory, settings, {}))
    return {wish.workload.id: wish for wish in (*peers.missing, *(wish for group in peers.stuck for wish in group))}
