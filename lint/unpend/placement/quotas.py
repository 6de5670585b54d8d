"""How many pods of a workload the quotas of its namespace let exist at once (A-238)."""

from __future__ import annotations

from typing import NamedTuple

from unpend.model.inventory import Inventory
from unpend.model.pod import EffectivePod
from unpend.source.place import Place

_PODS = ("pods", "count/pods")
_REQUESTS = "requests."
_SHORT = ("cpu", "memory", "ephemeral-storage")


class Allowance(NamedTuple):
    """The most pods at once, the quota that says so, and the resource and place in it."""

    most: int
    quota: str
    resource: str
    place: Place


def allowance(pod: EffectivePod, inventory: Inventory) -> Allowance | None:
    """The narrowest bound, as if no other pod were in the namespace; None without a quota that counts the pod.

    Quotas with scopes count some pods only, and are left out.
    """
    found: Allowance | None = None
    for quota in inventory.quotas:
        if quota.namespace != pod.namespace or quota.scoped:
            continue
        for name, amount in quota.hard.items():
            each = 1000 if name in _PODS else _asked(pod, name)
            if each > 0 and (found is None or amount.milli // each < found.most):
                found = Allowance(amount.milli // each, quota.name, name, amount.place)
    return found


def _asked(pod: EffectivePod, name: str) -> int:
    """What one pod takes of a quota for requests, in thousandths; 0 where it takes nothing."""
    resource = name.removeprefix(_REQUESTS)
    return pod.requests.get(resource, 0) if resource != name or name in _SHORT else 0
