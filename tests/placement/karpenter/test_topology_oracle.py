"""Zone rules on one NodePool against a search over everything that Karpenter and kube-scheduler can do in turn.

A state is what runs on which node. From each state kube-scheduler may put a pod on a node that is there, over the
zones of nodes only, and Karpenter may launch a node in the zone that its own count chooses, over the zones of all
NodePools (T-12, T-14).
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import pytest

import unpend
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import Settings

ZONE = "topology.kubernetes.io/zone"
ZONES = ("us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d")
CPU = {1: "1500m", 2: "900m", 3: "600m"}
"""Requests of which one m5.large takes so many."""

State = tuple[tuple[str, int, int, bool], ...]
"""Of every node: its zone, the pods on it, how many it takes, and whether it has a taint that keeps them off."""


class Scene(NamedTuple):
    """One workload, the zones of its NodePool, those with a subnet, those of a tainted NodePool, and Nodes.

    A Node has a zone and says whether it is tainted.
    """

    listed: tuple[str, ...]
    subnets: tuple[str, ...]
    foreign: tuple[str, ...]
    pinned: tuple[str, ...]
    replicas: int
    copies: int
    spread: bool
    skew: int
    least: int
    honours: bool
    affinity: str
    nodes: tuple[tuple[str, bool], ...]

    @property
    def universe(self) -> list[str]:
        """The zones that Karpenter counts."""
        every = {*self.listed, *(() if self.honours else self.foreign)}
        every |= {zone for zone, tainted in self.nodes if not (tainted and self.honours)}
        return sorted(z for z in every if not self.pinned or z in self.pinned)


def scene(pick: random.Random) -> Scene:
    listed = tuple(sorted(pick.sample(ZONES, pick.randint(1, 3))))
    subnets = tuple(z for z in ZONES if pick.random() < 0.8) or (listed[0],)
    foreign = tuple(sorted(pick.sample(ZONES, pick.randint(0, 2))))
    pinned = tuple(sorted(pick.sample(ZONES, 2))) if pick.random() < 0.2 else ()
    spread = pick.random() < 0.8
    least = pick.choice((1, 1, 2, 3, 4))
    affinity = pick.choice(("", "", "", "podAffinity", "podAntiAffinity"))
    return Scene(
        listed,
        subnets,
        foreign,
        pinned,
        pick.randint(1, 5),
        pick.choice((1, 1, 2, 3)),
        spread,
        pick.randint(1, 2),
        least,
        pick.random() < 0.3,
        affinity,
        tuple((pick.choice(ZONES), pick.random() < 0.3) for _ in range(pick.choice((0, 0, 0, 1, 2)))),
    )


def counts(state: State) -> dict[str, int]:
    found: dict[str, int] = {}
    for zone, pods, _, _ in state:
        found[zone] = found.get(zone, 0) + pods
    return found


def scheduler_takes(one: Scene, state: State, zone: str) -> bool:
    """Whether kube-scheduler puts one more pod into a zone, of which there is a node."""
    held = counts(state)
    seen = counts(tuple(node for node in state if not (node[3] and one.honours)))
    seen = {z: count for z, count in seen.items() if not one.pinned or z in one.pinned}
    running = sum(held.values())
    if one.pinned and zone not in one.pinned:
        return False
    if one.spread:
        minimum = 0 if len(seen) < one.least else min(seen.values())
        if held[zone] + 1 - minimum > one.skew:
            return False
    if one.affinity == "podAntiAffinity" and held[zone]:
        return False
    return not (one.affinity == "podAffinity" and running and not held[zone])


def chosen(one: Scene, state: State) -> list[str]:
    """The zones that Karpenter can aim a new node at: each of its rules chooses for itself."""
    held = counts(state)
    allowed = [z for z in one.listed if z in one.universe]
    if one.spread:
        universe = one.universe
        minimum = min((held.get(z, 0) for z in universe), default=0)
        if len(universe) < one.least:
            minimum = 0
        open_zones = [z for z in allowed if held.get(z, 0) + 1 - minimum <= one.skew]
        least = min((held.get(z, 0) for z in open_zones), default=0)
        allowed = [z for z in open_zones if held.get(z, 0) == least]
    if one.affinity == "podAntiAffinity":
        allowed = [z for z in allowed if not held.get(z, 0)]
    if one.affinity == "podAffinity" and any(held.values()):
        allowed = [z for z in allowed if held.get(z, 0)]
    return [z for z in allowed if z in one.subnets]


def most(one: Scene) -> int:
    """The most pods that can run, in the best order."""
    best = 0
    start: State = tuple(sorted((zone, 0, 0 if tainted else one.copies, tainted) for zone, tainted in one.nodes))
    seen: set[State] = {start}
    todo: list[State] = [start]
    while todo:
        state = todo.pop()
        running = sum(pods for _, pods, _, _ in state)
        best = max(best, running)
        if running >= one.replicas:
            return one.replicas
        following = []
        for number, (zone, pods, room, tainted) in enumerate(state):
            if pods < room and scheduler_takes(one, state, zone):
                following.append((*state[:number], (zone, pods + 1, room, tainted), *state[number + 1 :]))
        for zone in chosen(one, state):
            if scheduler_takes(one, (*state, (zone, 0, one.copies, False)), zone):
                following.append((*state, (zone, 1, one.copies, False)))
        for after in following:
            ordered = tuple(sorted(after))
            if ordered not in seen:
                seen.add(ordered)
                todo.append(ordered)
    return best


def pool(name: str, zones: tuple[str, ...], **spec: Any) -> dict[str, Any]:
    reference = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    requirements = [
        {"key": ZONE, "operator": "In", "values": list(zones)},
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.large"]},
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
    ]
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": {"spec": {"nodeClassRef": reference, "requirements": requirements, **spec}}},
    }


def objects(one: Scene) -> list[dict[str, Any]]:
    terms = [{"tags": {"team": "a"}}]
    spec = {"amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "node", "subnetSelectorTerms": terms}
    made: list[dict[str, Any]] = [
        {
            "apiVersion": "karpenter.k8s.aws/v1",
            "kind": "EC2NodeClass",
            "metadata": {"name": "default"},
            "spec": {**spec, "securityGroupSelectorTerms": terms},
        },
        pool("main", one.listed),
    ]
    for number, (zone, tainted) in enumerate(one.nodes):
        taints = [{"key": "dedicated", "value": "y", "effect": "NoSchedule"}] if tainted else []
        allocatable = {"cpu": f"{one.copies * int(CPU[one.copies][:-1])}m", "memory": "8Gi", "pods": "110"}
        made.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": f"n{number}", "labels": {ZONE: zone, "kubernetes.io/hostname": f"n{number}"}},
                "spec": {"taints": taints},
                "status": {"allocatable": allocatable},
            }
        )
    if one.foreign:
        made.append(pool("foreign", one.foreign, taints=[{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]))
    selector = {"matchLabels": {"app": "web"}}
    pod: dict[str, Any] = {
        "containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": CPU[one.copies]}}}]
    }
    if one.spread:
        constraint: dict[str, Any] = {"maxSkew": one.skew, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
        constraint |= {"labelSelector": selector, "nodeTaintsPolicy": "Honor" if one.honours else "Ignore"}
        if one.least > 1:
            constraint["minDomains"] = one.least
        pod["topologySpreadConstraints"] = [constraint]
    affinity: dict[str, Any] = {}
    if one.affinity:
        term = {"topologyKey": ZONE, "labelSelector": selector}
        affinity[one.affinity] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    if one.pinned:
        expression = {"key": ZONE, "operator": "In", "values": list(one.pinned)}
        terms_of = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms_of}
    if affinity:
        pod["affinity"] = affinity
    made.append(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "web"},
            "spec": {
                "replicas": one.replicas,
                "selector": selector,
                "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod},
            },
        }
    )
    return made


def answer(one: Scene) -> WorkloadVerdict:
    settings = Settings(node_classes={"default": {"zones": list(one.subnets)}})
    return unpend.evaluate(objects(one), settings=settings)[0]


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_and_fits_is_reached(seed: int) -> None:
    pick = random.Random(seed)
    exact = 0
    for _ in range(100):
        one = scene(pick)
        verdict = answer(one)
        reached = most(one)
        assert verdict.replicas.at_most >= reached, (one, verdict.verdict, verdict.replicas)
        if verdict.verdict == "fits":
            assert reached == one.replicas, one
        if verdict.verdict in ("never", "loop"):
            assert not reached, one
        exact += verdict.verdict in ("fits", "never", "partial") and verdict.replicas.at_most == reached
    assert exact >= 70
