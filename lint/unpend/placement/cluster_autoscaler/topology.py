"""Topology rules of one workload over node groups that can grow (C-304 to C-307; `kube-scheduler.md` §8, §9).

Cluster Autoscaler imagines all new nodes of a group in one domain, and the cloud may make them in another. So only
groups whose nodes are all in one known domain can be relied on; what kube-scheduler can never take is bounded whatever
the autoscaler does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from unpend.model.node_labels import HOSTNAME
from unpend.placement.cluster_autoscaler.decide import GroupAnswer
from unpend.placement.counts import Placing, copies_on
from unpend.placement.held_domains import HeldDomains, held_domains
from unpend.placement.replicas.scenes import controller_labels
from unpend.placement.scheduler.inter_pod_affinity import PodTerms
from unpend.placement.scheduler.topology_spread import HardConstraint, hard_constraints
from unpend.placement.space import Interval
from unpend.placement.verdict import Obstacle
from unpend.source.place import Place


class Bounds(NamedTuple):
    """Between `low` and `high` pods can run; `obstacle` is what keeps `high` where it is, None where no rule does."""

    low: int
    high: int
    obstacle: Obstacle | None = None


class _Room(NamedTuple):
    """What each domain of a key holds on nodes that are there and on those to come: surely, and at most.

    `exact`: there are no other domains. `vague`: nodes that are there may be in any.
    """

    of: Mapping[str, Interval]
    nodes: HeldDomains
    exact: bool


def bounds(
    placing: Placing, answers: Sequence[GroupAnswer], new: Mapping[int, Interval], alone: bool, most: int
) -> Bounds:
    """What topology rules leave of the pods. `new` has per number of a group what its nodes to come take.

    `alone`: no other pod is counted by the rules. `most` is a bound without them.
    """
    labels = controller_labels(placing.workload)
    own = PodTerms.of(placing.pod.spec.affinity, placing.pod.namespace, labels)
    found: list[Bounds] = []
    rules = 0
    for term in own.anti:
        rules += 1
        if term.key != HOSTNAME and term.matches_placed(placing.pod.namespace, labels, {}):
            found.append(_apart(placing, _room(placing, answers, new, term.key, None), term.key, term.written.place))
    for rule in hard_constraints(placing.pod.spec, labels):
        rules += rule.key != HOSTNAME
        if rule.key != HOSTNAME and rule.itself:
            found.append(_spread(placing, _room(placing, answers, new, rule.key, rule), rule, alone))
    least = min((one.low for one in found), default=0)
    if not alone or own.affinity or rules != len(found) or len(found) > 1:
        # Rules that go together only by luck, or that hang on other pods.
        least = 0
    worst = min(found, key=lambda one: one.high, default=Bounds(0, most))
    if worst.high >= most:
        return Bounds(min(least, most), most)
    return Bounds(min(least, worst.high), worst.high, worst.obstacle)


def _room(
    placing: Placing,
    answers: Sequence[GroupAnswer],
    new: Mapping[int, Interval],
    key: str,
    rule: HardConstraint | None,
) -> _Room:
    nodes = held_domains(placing, key, rule)
    low: dict[str, int] = dict.fromkeys(nodes.held, 0)
    high: dict[str, int] = dict.fromkeys(nodes.held, 0)
    exact = not nodes.vague
    limit = max(placing.needed + placing.surge, placing.maximum)
    for number in placing.space.bits(placing.accepted.possible):
        value = placing.space.shapes[number].labels.get(key)
        if isinstance(value, str):
            copies = copies_on(placing.demand, placing.space.shapes[number], limit)
            high[value] = high.get(value, 0) + copies.high
            if placing.accepted.sure >> number & 1:
                low[value] = low.get(value, 0) + copies.low
    for one in answers:
        more = new.get(one.group.number)
        if more is None or not more.high:
            continue
        shapes = one.group.actual.shapes
        values = {shapes[n].labels.get(key) for n in one.group.actual.bits(one.accepted.possible)}
        known = {value for value in values if isinstance(value, str)}
        exact = exact and all(value is None or isinstance(value, str) for value in values)
        for value in known:
            high[value] = high.get(value, 0) + more.high
        if len(known) == 1 == len(values) and _imagined(one, key) == known:
            for value in known:
                low[value] = low.get(value, 0) + more.low
    return _Room({value: Interval(low.get(value, 0), most) for value, most in high.items()}, nodes, exact)


def _imagined(one: GroupAnswer, key: str) -> set[object]:
    """The values of a label on the nodes that Cluster Autoscaler goes by."""
    return {space.shapes[n].labels.get(key) for space in one.group.planned for n in space.bits(space.everything)}


def _apart(placing: Placing, room: _Room, key: str, place: Place) -> Bounds:
    """One pod in each domain (S-923)."""
    low = sum(1 for held in room.of.values() if held.low)
    if not room.exact:
        return Bounds(min(low, placing.needed), _ENDLESS)
    high = sum(1 for held in room.of.values() if held.high)
    message = f"no two of the pods share a {key}, and nodes that take one can be in {high} of them"
    return Bounds(low, high, Obstacle("podAntiAffinity", message, "scheduler:S-923", place, None, "affinity"))


def _spread(placing: Placing, room: _Room, rule: HardConstraint, alone: bool) -> Bounds:
    """Domains differ by maxSkew at most (S-806, S-807, S-812)."""
    reached = {value for value, held in room.of.items() if held.high}
    zero = room.exact and len(room.of) < rule.min_domains
    dead = room.nodes.held - reached if alone else set()
    skew = rule.max_skew
    high = _ENDLESS
    obstacle: Obstacle | None = None
    if alone and room.exact and (zero or dead):
        high = sum(min(held.high, skew) for held in room.of.values())
        why = f"{rule.key}={min(dead)} takes none of them" if dead else f"minDomains is {rule.min_domains}"
        message = (
            f"nodes that take the pods can be in {len(reached)} domains of {rule.key}, and {why}: "
            f"each of the others takes {skew} at most (maxSkew)"
        )
        place = rule.written.place.at("maxSkew" if dead else "minDomains")
        obstacle = Obstacle("topologySpread", message, "scheduler:S-812", place, None, "topology")
    sure = [held.low for held in room.of.values()]
    level = 0 if len(room.of) < rule.min_domains or not room.exact else min(sure, default=0)
    return Bounds(sum(min(low, level + skew) for low in sure), high, obstacle)


_ENDLESS = 1 << 30
