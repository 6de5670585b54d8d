"""How dear Karpenter reckons the eviction of a pod (`karpenter:C-3`)."""

from __future__ import annotations

import math
import re

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def eviction_cost(deletion_cost: str | None, priority: int | None) -> float:
    """The cost, 1.0 for an ordinary pod, between -10 and 10; a node whose pods cost nothing or less counts as empty.

    `deletion_cost` is the annotation `controller.kubernetes.io/pod-deletion-cost` as written; one that is no number
    changes nothing.
    """
    cost = 1.0
    if deletion_cost is not None and _NUMBER.fullmatch(deletion_cost):
        cost += float(deletion_cost) / math.pow(2, 27)
    if priority is not None:
        cost += priority / math.pow(2, 25)
    return max(-10.0, min(10.0, cost))
