"""The domains of one topology key on nodes that are there, as kube-scheduler counts them for one pod (S-804)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from unpend.placement.counts import Placing
from unpend.placement.scheduler import node_affinity
from unpend.placement.scheduler.topology_spread import HardConstraint


class HeldDomains(NamedTuple):
    """`here`: nodes that take the pod; `held`: nodes that surely count; `all`: any; `vague`: some value is open."""

    here: frozenset[str]
    held: frozenset[str]
    all: frozenset[str]
    vague: bool


NONE = HeldDomains(frozenset(), frozenset(), frozenset(), False)


def held_domains(
    placing: Placing, key: str, rule: HardConstraint | None, wanted: Callable[[str], bool] = lambda _: True
) -> HeldDomains:
    """The domains of a key on the nodes of a placing, as far as they are `wanted`; `rule` says which nodes count.

    Nodes without the key of every spread constraint of the pod do not count (S-804).
    """
    space = placing.space
    if not space.shapes:
        return NONE
    counted = node_affinity.accepts(placing.demand, space).sure if rule is None or rule.honor_affinity else -1
    if rule is not None and rule.honor_taints:
        counted &= space.tolerated(placing.demand.tolerations)
    keys = [c.topology_key for c in placing.pod.spec.spread if c.when_unsatisfiable == "DoNotSchedule"]
    here, held, everywhere = set(), set(), set()
    vague = False
    for number, shape in enumerate(space.shapes):
        value = shape.labels.get(key)
        vague = vague or not (value is None or isinstance(value, str))
        if not isinstance(value, str) or not wanted(value):
            continue
        everywhere.add(value)
        if placing.accepted.possible >> number & 1:
            here.add(value)
        if counted >> number & 1 and all(other in shape.labels for other in keys):
            held.add(value)
    return HeldDomains(frozenset(here), frozenset(held), frozenset(everywhere), vague)
