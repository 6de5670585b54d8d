"""Spread against volumes that are bound already: the pods of a StatefulSet one after another (`T-18`, `V-15`)."""

from __future__ import annotations

from collections.abc import Sequence

from unpend.placement.claims import Share
from unpend.placement.counts import Placing
from unpend.placement.karpenter.spread import TOPOLOGY, Count
from unpend.placement.karpenter.universe import Universe
from unpend.placement.karpenter.volumes import ways_of
from unpend.placement.ordinals import is_ordered
from unpend.placement.scheduler.topology_spread import HardConstraint
from unpend.placement.verdict import Against, Fact, Obstacle


def in_order(placing: Placing, constraints: Sequence[HardConstraint], shared: bool, universe: Universe) -> Count:
    """How many pods in order find a domain that their volume is in and that the skew leaves open.

    A pod that is placed proves a node in its domain, so that kube-scheduler counts it: what it refuses then is certain.
    """
    fact = Fact(TOPOLOGY, "in which domains its pods are: each follows its volume", placing.demand.spec_place)
    if not is_ordered(placing.workload.pod_management) or shared or placing.space.shapes:
        return Count(0, facts=(fact,))
    found = Count(placing.needed)
    for constraint in constraints:
        if not constraint.itself:
            continue
        bound, wild, short = _walk(placing, constraint)
        if bound < placing.needed and (found.bound is None or bound < found.bound):
            found = Count(0 if wild else bound, bound, "topology", (fact,) if wild else (), short)
        elif wild or len(constraints) > 1 or not _all_reached(placing, constraint, universe):
            found = Count(0, found.bound, found.cause, (fact,), found.obstacles)
    return found


def _walk(placing: Placing, constraint: HardConstraint) -> tuple[int, bool, tuple[Obstacle, ...]]:
    """The pods that are placed before one is surely refused, and whether the domain of some pod is open."""
    counts: dict[str, int] = {}
    wild = 0
    done = 0
    for ordinal in sorted(ordinal for share in placing.shares for ordinal in share.ordinals):
        share = next(share for share in placing.shares if ordinal in share.ordinals)
        domain = _domain(share, constraint.key)
        if domain is None:
            wild += 1
            done += 1
            continue
        others = min((count for value, count in counts.items() if value != domain), default=counts.get(domain, 0))
        minimum = min(others + wild, counts.get(domain, 0)) if domain in counts else others + wild
        if counts.get(domain, 0) + 1 - minimum > constraint.max_skew and domain in counts:
            return done, bool(wild), (_obstacle(placing, constraint, share, domain, ordinal),)
        counts[domain] = counts.get(domain, 0) + 1
        done += 1
    return done, bool(wild), ()


def _domain(share: Share, key: str) -> str | None:
    """The one domain in which the volumes of a share are; None where there are several, or it is not known."""
    ways = ways_of(share.volumes)
    if ways.known != "yes" or not ways.ways:
        return None
    values: set[str] = set()
    for way in ways.ways:
        requirement = way.by_key.get(key)
        if requirement is None or requirement.complement:
            return None
        values |= requirement.values
    return next(iter(values)) if len(values) == 1 else None


def _all_reached(placing: Placing, constraint: HardConstraint, universe: Universe) -> bool:
    """Whether the volumes are in all domains that Karpenter counts."""
    reached = {_domain(share, constraint.key) for share in placing.shares}
    return all(giver.exact and giver.sure and giver.values <= reached for giver in universe.givers(constraint.key))


def _obstacle(placing: Placing, constraint: HardConstraint, share: Share, domain: str, ordinal: int) -> Obstacle:
    against = None
    for mount in share.volumes.mounts:
        if mount.bound_to is not None:
            against = Against(f"PersistentVolume/{mount.bound_to.name}", mount.bound_to.place)
    message = (
        f"{placing.workload.id}-{ordinal} has its volume in {constraint.key}={domain}, where the spread leaves no "
        f"room: one more pod there is over maxSkew {constraint.max_skew}"
    )
    return Obstacle("topologySpread", message, "karpenter:V-15", constraint.written.place, against, "topology")
