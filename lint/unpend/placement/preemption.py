"""Nodes that take a pod once pods of lower priority are evicted (S-1301 to S-1303): they make a refusal uncertain."""

from __future__ import annotations

from unpend.placement.demand import Demand
from unpend.placement.fixed import FixedNodes
from unpend.placement.scheduler import filters


def after_evictions(demand: Demand, fixed: FixedNodes) -> int:
    """The nodes that possibly take the pod without the bound pods and DaemonSets of lower priority."""
    if not demand.preempts or demand.priority <= fixed.least_priority:
        return 0
    # DaemonSets are left out altogether: that can only make more nodes possible.
    evicted = ((n, o) for n, held in enumerate(fixed.bound) for o in held if o.priority < demand.priority)
    space = fixed.without(evicted, bare=True) or fixed.bare
    return filters.ask(demand, space).accepted.possible
