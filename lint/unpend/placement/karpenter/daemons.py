"""DaemonSets on the nodes of a NodePool: what Karpenter reckons with (`I-2` to `I-4`), and what really lands there."""

from __future__ import annotations

from collections.abc import Mapping

from unpend.model.admission import admit, admit_template
from unpend.model.inventory import Inventory, Workload
from unpend.model.pod import ContainerPort, Toleration
from unpend.placement.demand import DEFAULT_SCHEDULER, Demand, demand_of
from unpend.placement.karpenter.requirement import Requirement, requirement
from unpend.records import dataclass, replace
from unpend.settings import Settings


@dataclass(frozen=True, slots=True)
class PlannedDaemon:
    """A DaemonSet pod as Karpenter counts it. `terms` are its alternatives, nodeSelector in each of them."""

    owner: str
    terms: tuple[tuple[Requirement, ...], ...]
    tolerations: tuple[Toleration, ...]
    requests: Mapping[str, int]
    ports: tuple[ContainerPort, ...]


@dataclass(frozen=True, slots=True)
class ActualDaemon:
    """A DaemonSet pod as kube-scheduler places it; `sure` is False where something else decides whether it runs."""

    workload: Workload
    demand: Demand
    requests: Mapping[str, int]
    sure: bool


@dataclass(frozen=True, slots=True)
class Daemons:
    """All DaemonSets of an inventory in both views."""

    planned: tuple[PlannedDaemon, ...]
    actual: tuple[ActualDaemon, ...]


def daemons_of(inventory: Inventory, settings: Settings) -> Daemons:
    """The DaemonSets of an inventory.

    Karpenter takes the template with requests defaulted from limits, unless a pod of it is there already: what
    admission adds later it does not see (`I-3`).
    """
    unadmitted = replace(settings, admission="none")
    planned, actual = [], []
    for workload in inventory.workloads:
        if workload.kind != "DaemonSet":
            continue
        pod = admit(workload, inventory, settings)
        if pod.refusals:
            continue
        demand = demand_of(pod)
        if demand.claims and settings.karpenter.ignore_dra_requests:
            continue
        sure = not (pod.unknown or demand.gates or demand.claims or demand.node_name)
        sure = sure and demand.scheduler_name == DEFAULT_SCHEDULER
        actual.append(ActualDaemon(workload, demand, {**pod.requests, "pods": 1000}, sure))
        seen = admit_template(workload.template, inventory, unadmitted, from_template=True, daemonset=True)
        asked = demand_of(seen)
        terms = tuple(
            tuple(requirement(w.key, w.operator, w.texts) for w in alternative.written)
            for alternative in asked.alternatives
        )
        planned.append(
            PlannedDaemon(workload.id, terms, asked.tolerations, {**seen.requests, "pods": 1000}, asked.ports)
        )
    return Daemons(tuple(planned), tuple(actual))
