"""Nodes that take the pod by their own rules, and that other pods close to it: which, and because of what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unpend.placement.replicas.build import Candidate, Sitting, Spot
from unpend.placement.replicas.together import Reach, looked_at, only
from unpend.placement.replicas.world import Board, World
from unpend.placement.scheduler.inter_pod_affinity import AffinityRefusal, Namespaces, affinity_state
from unpend.placement.scheduler.topology_spread import HardConstraint, spread_state
from unpend.placement.verdict import Against, Obstacle

_EVENTS = {
    "key": "node(s) didn't match pod topology spread constraints (missing required label)",
    "skew": "node(s) didn't match pod topology spread constraints",
    "affinity": "node(s) didn't match pod affinity rules",
    "anti-affinity": "node(s) didn't match pod anti-affinity rules",
    "anti-affinity of others": "node(s) didn't satisfy existing pods anti-affinity rules",
}


def open_nodes(world: World, index: int, reach: Reach) -> frozenset[int]:
    """The nodes on which some pod of a kind can ever sit. Exact for a single pod that looks at no other kind."""
    nodes = reach[index]
    kind = world.kinds[index]
    if kind.limit == 1 and not looked_at(kind) - {index}:
        board = Board(only(world, (index,)))
        return frozenset(node for node in nodes if board.allows(0, node))
    return nodes


def closed_nodes(
    candidate: Candidate,
    spots: Sequence[Spot],
    sitting: Sequence[Sitting],
    namespaces: Namespaces,
    open_to_it: frozenset[int],
) -> Mapping[int, Obstacle]:
    """An obstacle for every node that would accept the pod if it were not for other pods."""
    closed = [n for n, accepted in enumerate(candidate.accepts) if accepted and n not in open_to_it]
    if not closed:
        return {}
    spread = spread_state(
        candidate.spread,
        candidate.pod.namespace,
        spots,
        candidate.affinity_accepts,
        candidate.taints_accept,
        sitting,
    )
    affinity = affinity_state(candidate.terms, spots, sitting, namespaces)
    found: dict[int, Obstacle] = {}
    for number in closed:
        spot = spots[number]
        constraint = spread.refuses(spot.labels)
        if constraint is not None:
            found[number] = _spread(constraint, spot)
            continue
        refusal = affinity.refuses(spot.labels)
        found[number] = _affinity(refusal, spot) if refusal else _other(candidate, spot)
    return found


def _spread(constraint: HardConstraint, spot: Spot) -> Obstacle:
    missing = constraint.key not in spot.labels
    event = _EVENTS["key" if missing else "skew"]
    where = f"Node/{spot.name}"
    if missing:
        message = f"the pod is spread over {constraint.key}; {where} has no such label ({event})"
    else:
        value = spot.labels[constraint.key]
        message = (
            f"one more pod on {constraint.key}={value} breaks maxSkew {constraint.max_skew} on {where}: other domains "
            f"hold too few ({event})"
        )
    place = constraint.written.place.at("topologyKey" if missing else "maxSkew")
    semantics = "scheduler:P-808" if missing else "scheduler:S-807"
    return Obstacle("topologySpread", message, semantics, place, Against(where, place), "topology")


def _affinity(refusal: AffinityRefusal, spot: Spot) -> Obstacle:
    where = f"Node/{spot.name}"
    key = refusal.term.key
    event = _EVENTS[refusal.direction]
    place = refusal.term.written.place
    domain = f"{key}={spot.labels[key]}" if key in spot.labels else f"{where}, which has no label {key}"
    if refusal.direction == "affinity":
        message = f"required pod affinity finds none of its pods on {domain} ({event})"
        return Obstacle("podAffinity", message, "scheduler:S-912", place, Against(where, place), "affinity")
    if refusal.direction == "anti-affinity":
        message = f"required pod anti-affinity meets a pod on {domain} ({event})"
        return Obstacle("podAntiAffinity", message, "scheduler:S-921", place, Against(where, place), "affinity")
    message = f"a pod on {domain} keeps this one away by its required anti-affinity ({event})"
    return Obstacle("podAntiAffinity", message, "scheduler:S-922", None, Against(where, place), "affinity")


def _other(candidate: Candidate, spot: Spot) -> Obstacle:
    where = f"Node/{spot.name}"
    spec = candidate.pod.spec
    if candidate.claims:
        place = next(volume.place for volume in spec.volumes if volume.claim)
        message = f"a ReadWriteOncePod claim of the pod is used by another pod; {where} does not help"
        return Obstacle("volume", message, "scheduler:S-1031", place, Against(where, place), "volume")
    if spec.affinity.pod_required:
        place = spec.affinity.pod_required[0].place
        message = f"the pods that required pod affinity means can never be where {where} is"
        return Obstacle("podAffinity", message, "scheduler:S-916", place, Against(where, place), "affinity")
    place = spec.place
    return Obstacle(
        "podAntiAffinity", f"other pods keep this one off {where}", "scheduler:S-921", place, None, "affinity"
    )
