"""Workloads that serve somebody with several replicas, and that no PodDisruptionBudget covers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from unpend.disruption.pdb import coverage_of, floor_of
from unpend.model.inventory import Inventory, Workload
from unpend.placement.given import FactsLike
from unpend.placement.needed import autoscalers_by_target

KINDS = frozenset({"Deployment", "StatefulSet", "Rollout"})


class Uncovered(NamedTuple):
    """A workload without a budget, and the fewest replicas it has."""

    workload: Workload
    replicas: int


def uncovered(facts: FactsLike) -> Iterator[Uncovered]:
    """Every such workload: at least two replicas, and a container port or a Service that selects it."""
    covered = coverage_of(facts).of_workload
    autoscalers = autoscalers_by_target(facts.inventory)
    services = _selectors(facts.inventory)
    for workload in facts.inventory.workloads:
        if workload.kind in KINDS and workload.id not in covered:
            replicas = floor_of(workload, autoscalers).replicas
            if replicas > 1 and _serves(workload, services):
                yield Uncovered(workload, replicas)


def _selectors(inventory: Inventory) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for item in inventory.others:
        if item.kind == "Service":
            spec = item.object.data.get("spec")
            selector = spec.get("selector") if isinstance(spec, dict) else None
            if isinstance(selector, dict) and selector:
                found.setdefault(item.namespace, []).append(selector)
    return found


def _serves(workload: Workload, services: dict[str, list[dict[str, Any]]]) -> bool:
    if any(c.ports for c in workload.template.spec.containers):
        return True
    labels = {key: label.value for key, label in workload.template.labels.items()}
    return any(all(labels.get(k) == v for k, v in s.items()) for s in services.get(workload.namespace, ()))
