"""Two workloads with zone rules about themselves and each other, against a search over both deciders.

Each workload has a NodePool of its own. A state is how many pods of each workload are on which node; every node has
room for one pod, or for two, of either.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import pytest

import unpend
from unpend.settings import Settings

ZONE = "topology.kubernetes.io/zone"
ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")
CPU = {1: "1500m", 2: "900m"}
"""Requests of which one m5.large takes so many."""

Node = tuple[str, int, tuple[int, int]]
"""Zone, pool, pods of each workload."""
State = tuple[Node, ...]


class Rules(NamedTuple):
    """What one workload asks for: `both`, `own` or `other` pods, empty for nothing; and the zones of its NodePool."""

    replicas: int
    zones: tuple[str, ...]
    spread: str
    skew: int
    near: str
    apart: str

    def meant(self, index: int, what: str) -> tuple[int, ...]:
        """The workloads that a selector takes in."""
        return {"": (), "own": (index,), "other": (1 - index,), "both": (0, 1)}[what]


class Pair(NamedTuple):
    """Two workloads, the zones with a subnet, and how many pods a node takes."""

    rules: tuple[Rules, Rules]
    subnets: tuple[str, ...]
    copies: int


def rules(pick: random.Random) -> Rules:
    zones = tuple(sorted(pick.sample(ZONES, pick.randint(1, 3))))
    near, apart = pick.choice(
        (("", ""), ("", ""), ("own", ""), ("other", ""), ("both", ""), ("", "own"), ("", "other"))
    )
    return Rules(pick.randint(1, 3), zones, pick.choice(("", "own", "both")), pick.choice((1, 1, 2)), near, apart)


def pair(pick: random.Random) -> Pair:
    subnets = tuple(z for z in ZONES if pick.random() < 0.85) or ZONES[:1]
    return Pair((rules(pick), rules(pick)), subnets, pick.choice((1, 1, 2)))


def held(state: State, kinds: tuple[int, ...]) -> dict[str, int]:
    found: dict[str, int] = {}
    for zone, _, pods in state:
        found[zone] = found.get(zone, 0) + sum(pods[kind] for kind in kinds)
    return found


def kept_apart(one: Pair, state: State, index: int, zone: str) -> bool:
    """Whether anti-affinity of the pod, or of the other workload, forbids a zone."""
    own = held(state, one.rules[index].meant(index, one.rules[index].apart)).get(zone, 0)
    theirs = index in one.rules[1 - index].meant(1 - index, one.rules[1 - index].apart)
    return bool(own) or (theirs and bool(held(state, (1 - index,)).get(zone, 0)))


def scheduler_takes(one: Pair, state: State, index: int, zone: str, of: int) -> bool:
    mine = one.rules[index]
    if of != index or kept_apart(one, state, index, zone):
        return False
    if mine.spread:
        # Nodes of the other pool lack the label that the pod selects: they do not count (S-804).
        counts = held(tuple(node for node in state if node[1] == index), mine.meant(index, mine.spread))
        if counts[zone] + 1 - min(counts.values()) > mine.skew:
            return False
    if mine.near:
        kinds = mine.meant(index, mine.near)
        counts = held(state, kinds)
        if not counts.get(zone, 0) and (any(counts.values()) or index not in kinds):
            return False
    return True


def chosen(one: Pair, state: State, index: int) -> list[str]:
    mine = one.rules[index]
    allowed = list(mine.zones)
    if mine.spread:
        counts = held(tuple(node for node in state if node[1] == index), mine.meant(index, mine.spread))
        universe = {*one.rules[0].zones, *one.rules[1].zones}
        minimum = min(counts.get(z, 0) for z in universe)
        allowed = [z for z in allowed if counts.get(z, 0) + 1 - minimum <= mine.skew]
        least = min((counts.get(z, 0) for z in allowed), default=0)
        allowed = [z for z in allowed if counts.get(z, 0) == least]
    if mine.near:
        kinds = mine.meant(index, mine.near)
        counts = held(state, kinds)
        if any(counts.get(z, 0) for z in mine.zones):
            allowed = [z for z in allowed if counts.get(z, 0)]
        elif index not in kinds or any(counts.values()):
            allowed = []
    return [z for z in allowed if z in one.subnets and not kept_apart(one, state, index, z)]


def reached(one: Pair) -> tuple[tuple[int, int], bool]:
    """The most pods of each workload in any state, and whether all of both can run at once."""
    best = [0, 0]
    together = False
    seen: set[State] = {()}
    todo: list[State] = [()]
    limits = (one.rules[0].replicas, one.rules[1].replicas)
    while todo:
        state = todo.pop()
        running = [sum(pods[kind] for _, _, pods in state) for kind in (0, 1)]
        best = [max(a, b) for a, b in zip(best, running, strict=True)]
        together = together or tuple(running) == limits
        following: list[tuple[Node, ...]] = []
        for index in (0, 1):
            if running[index] >= limits[index]:
                continue
            more = (1, 0) if index == 0 else (0, 1)
            for place, (zone, of, pods) in enumerate(state):
                if sum(pods) < one.copies and scheduler_takes(one, state, index, zone, of):
                    after = (zone, of, (pods[0] + more[0], pods[1] + more[1]))
                    following.append((*state[:place], after, *state[place + 1 :]))
            for zone in chosen(one, state, index):
                if scheduler_takes(one, (*state, (zone, index, (0, 0))), index, zone, index):
                    following.append((*state, (zone, index, more)))
        for one_more in following:
            ordered: State = tuple(sorted(one_more))
            if ordered not in seen:
                seen.add(ordered)
                todo.append(ordered)
    return (best[0], best[1]), together


def pool(name: str, zones: tuple[str, ...]) -> dict[str, Any]:
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
        "spec": {"template": {"spec": {"nodeClassRef": reference, "requirements": requirements}}},
    }


def objects(one: Pair) -> list[dict[str, Any]]:
    terms = [{"tags": {"team": "a"}}]
    spec = {"amiSelectorTerms": [{"alias": "al2023@latest"}], "role": "node", "subnetSelectorTerms": terms}
    made: list[dict[str, Any]] = [
        {
            "apiVersion": "karpenter.k8s.aws/v1",
            "kind": "EC2NodeClass",
            "metadata": {"name": "default"},
            "spec": {**spec, "securityGroupSelectorTerms": terms},
        }
    ]
    for index, mine in enumerate(one.rules):
        owner = pool(f"pool-{index}", mine.zones)
        owner["spec"]["template"]["metadata"] = {"labels": {"team": f"team-{index}"}}
        made.append(owner)
        made.append(_workload(one, index, mine))
    return made


def _workload(one: Pair, index: int, mine: Rules) -> dict[str, Any]:
    labels = {"app": f"app-{index}", "group": "both"}

    def selector(what: str) -> dict[str, Any]:
        wanted = {"group": "both"} if what == "both" else {"app": f"app-{index if what == 'own' else 1 - index}"}
        return {"matchLabels": wanted}

    spec: dict[str, Any] = {
        "nodeSelector": {"team": f"team-{index}"},
        "containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": CPU[one.copies]}}}],
    }
    if mine.spread:
        constraint = {"maxSkew": mine.skew, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [constraint | {"labelSelector": selector(mine.spread)}]
    for kind, what in (("podAffinity", mine.near), ("podAntiAffinity", mine.apart)):
        if what:
            term = {"topologyKey": ZONE, "labelSelector": selector(what)}
            spec.setdefault("affinity", {})[kind] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": f"app-{index}"},
        "spec": {
            "replicas": mine.replicas,
            "selector": {"matchLabels": {"app": f"app-{index}"}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def check(one: Pair) -> int:
    """How many of the two answers are exact; fails where one is a wrong alarm, or promises too much."""
    settings = Settings(node_classes={"default": {"zones": list(one.subnets)}})
    verdicts = unpend.evaluate(objects(one), settings=settings)
    best, together = reached(one)
    exact = 0
    for verdict, most, mine in zip(verdicts, best, one.rules, strict=True):
        assert verdict.replicas.at_most >= most, (one, verdict.workload, verdict.verdict, verdict.replicas, best)
        if verdict.verdict == "fits":
            assert most == mine.replicas, (one, verdict.workload, best)
        if verdict.verdict in ("never", "loop"):
            assert not most, (one, verdict.workload, verdict.verdict, best)
        assert not (verdict.contention and together), (one, verdict.workload)
        exact += verdict.verdict in ("fits", "never", "partial") and verdict.replicas.at_most == most
    return exact


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_for_pairs(seed: int) -> None:
    pick = random.Random(seed)
    assert sum(check(pair(pick)) for _ in range(60)) >= 60
