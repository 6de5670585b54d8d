"""ResourceQuota admission (A-238): a pod that is too much by itself, or that does not say what a quota counts.

Quotas with scopes count some pods only, and are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from unpend.algebra.quantity import render
from unpend.model.admission_findings import AdmissionFindings
from unpend.model.inventory import Inventory, ResourceQuota
from unpend.model.pod import Container, PodSpec

PODS = ("pods", "count/pods")
_SHORT = ("cpu", "memory", "ephemeral-storage")
_REQUESTS, _LIMITS = "requests.", "limits."
_STATED = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
"""What every container has to state where a quota counts it."""
_RULE = "scheduler:A-238"


def quotas_of(inventory: Inventory, namespace: str) -> list[ResourceQuota]:
    """The quotas that count every pod of a namespace."""
    return [one for one in inventory.quotas if one.namespace == namespace and not one.scoped]


def requested(name: str) -> str | None:
    """The resource whose requests an entry of a quota counts; None for anything else."""
    if name in _SHORT:
        return name
    return name.removeprefix(_REQUESTS) if name.startswith(_REQUESTS) else None


def apply_quotas(
    spec: PodSpec,
    requests: Mapping[str, int],
    namespace: str,
    inventory: Inventory,
    closed: bool,
    found: AdmissionFindings,
) -> None:
    """Check the pod against the quotas; `closed` says that no LimitRange fills in more than what is given."""
    for quota in quotas_of(inventory, namespace):
        for name, hard in quota.hard.items():
            resource = requested(name)
            asked = 1000 if name in PODS else requests.get(resource, 0) if resource is not None else 0
            if asked > hard.milli:
                what = "1 pod" if resource is None else f"{render(asked, resource)} of {resource}"
                found.refuse(
                    f"the pod is {what}, and the quota {quota.name} allows {hard.text} altogether (exceeded quota)",
                    spec.place,
                    _RULE,
                    (f"the quota on {name}", hard.place),
                )
        if closed and not (spec.pod_requests or spec.pod_limits):
            for container in (*spec.containers, *spec.init_containers):
                _check_stated(container, quota, found)


def _check_stated(container: Container, quota: ResourceQuota, found: AdmissionFindings) -> None:
    for name in _STATED:
        if name not in quota.hard:
            continue
        kind, _, resource = name.rpartition(".")
        stated = container.limits if f"{kind}." == _LIMITS else container.requests
        if resource not in stated:
            word = "limit" if stated is container.limits else "request"
            found.refuse(
                f'container "{container.name}" has no {resource} {word}, and the quota {quota.name} counts it: '
                f"must specify {name}",
                container.place,
                _RULE,
                (f"the quota on {name}", quota.hard[name].place),
            )
