"""How many pods a workload wants, and how many it needs in the steady state."""

from __future__ import annotations

from typing import NamedTuple

from unpend.model.inventory import Autoscaler, Inventory, Workload


class Replicas(NamedTuple):
    """`wanted` as written, `needed` in the steady state: the minimum of an autoscaler, one pod of a Job."""

    wanted: int
    needed: int


def replicas_of(workload: Workload, autoscaler: Autoscaler | None) -> Replicas:
    """The replicas of a workload that is no DaemonSet; zero when it is switched off.

    An autoscaler leaves a workload with `replicas: 0` alone. One that may go down to zero needs room for one pod.
    """
    if workload.suspended:
        return Replicas(0, 0)
    if workload.kind == "Pod":
        return Replicas(1, 1)
    if workload.kind in ("Job", "CronJob"):
        parallel = 1 if workload.parallelism is None else workload.parallelism
        if workload.completions is not None:
            parallel = min(parallel, workload.completions)
        return Replicas(parallel, min(parallel, 1))
    wanted = 1 if workload.replicas is None else workload.replicas
    if autoscaler is None or (workload.replicas == 0):
        return Replicas(wanted, wanted)
    return Replicas(wanted, max(autoscaler.lower_bound, 1))


def autoscalers_by_target(inventory: Inventory) -> dict[tuple[str, str, str], Autoscaler]:
    """Autoscalers by kind, namespace and name of what they scale; of several on one target the first."""
    found: dict[tuple[str, str, str], Autoscaler] = {}
    for autoscaler in inventory.autoscalers:
        key = (autoscaler.target_kind, autoscaler.namespace, autoscaler.target_name)
        found.setdefault(key, autoscaler)
    return found
