"""How many pods of a workload the quotas of its namespace let exist at once (A-238)."""

from __future__ import annotations

from typing import NamedTuple

from unpend.model.inventory import Inventory
from unpend.model.pod import EffectivePod
from unpend.model.quota import PODS, quotas_of, requested
from unpend.source.place import Place


class Allowance(NamedTuple):
    """The most pods at once, the quota that says so, and the resource and place in it."""

    most: int
    quota: str
    resource: str
    place: Place


def allowance(pod: EffectivePod, inventory: Inventory) -> Allowance | None:
    """The narrowest bound, as if no other pod were in the namespace; None without a quota that counts the pod."""
    found: Allowance | None = None
    for quota in quotas_of(inventory, pod.namespace):
        for name, amount in quota.hard.items():
            resource = requested(name)
            each = 1000 if name in PODS else pod.requests.get(resource, 0) if resource is not None else 0
            if each > 0 and (found is None or amount.milli // each < found.most):
                found = Allowance(amount.milli // each, quota.name, name, amount.place)
    return found
