"""Compare the replica bound with a naive breadth-first search over every reachable state of random small clusters.

    python tools/diff_replicas.py --cases 3000 --seed 1

The search knows nothing of levels, flows or cells: it reads the objects themselves and asks, for every state and node,
whether the scheduler takes one more pod. The bound is asked twice: alone (no search of the gap) and as `check` uses it.
Neither may ever be below what the search reached; the gap is printed.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unpend.model.admission import admit
from unpend.model.inventory import Inventory
from unpend.model.reading import read_objects
from unpend.placement.demand import demand_of
from unpend.placement.fixed import fixed_nodes
from unpend.placement.replicas.bound import most
from unpend.placement.replicas.fixed import Census, Replicas
from unpend.placement.replicas.scenes import Scene, Wanted
from unpend.placement.replicas.world import Budget
from unpend.settings import Settings, World
from unpend.source.document import objects_of

KEYS = ("topology.kubernetes.io/zone", "karpenter.sh/capacity-type", "disktype", "kubernetes.io/hostname")
VALUES = {KEYS[0]: ("a", "b", "c", "d"), KEYS[1]: ("spot", "on-demand"), KEYS[2]: ("ssd", "hdd", "nvme")}
SETTINGS = Settings(world=World.all_closed(), admission="templates")
MOST_STATES = 60_000


@dataclass(frozen=True)
class Case:
    """Nodes, pods that are bound already, and one Deployment."""

    nodes: Sequence[dict[str, Any]]
    bound: Sequence[dict[str, Any]]
    workload: dict[str, Any]

    @property
    def objects(self) -> list[dict[str, Any]]:
        """All objects, as a caller hands them over."""
        return [*self.nodes, *self.bound, self.workload]


def random_case(rng: random.Random, replicas: int = 30) -> Case:
    """A cluster whose workload is spread over two or three crossing keys, perhaps with (anti-)affinity too."""
    nodes = [_node(rng, f"n{i}") for i in range(rng.randint(2, 7))]
    bound = [_bound(rng, f"p{i}", rng.choice(nodes)) for i in range(rng.choice((0, 0, 1, 2, 4)))]
    keys = rng.sample(KEYS, rng.choice((1, 2, 2, 3, 3)))
    spec: dict[str, Any] = {
        "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": f"{rng.choice((100, 500))}m"}}}],
        "topologySpreadConstraints": [_spread(rng, key) for key in keys],
    }
    if rng.random() < 0.3:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    if rng.random() < 0.2:
        spec["nodeSelector"] = {"disktype": rng.choice(VALUES["disktype"])}
    affinity: dict[str, Any] = {}
    if rng.random() < 0.2:
        affinity["podAffinity"] = _terms(rng)
    if rng.random() < 0.2:
        affinity["podAntiAffinity"] = _terms(rng)
    if affinity:
        spec["affinity"] = affinity
    if rng.random() < 0.1:
        spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    return Case(nodes, bound, _deployment(rng.randint(1, replicas), spec))


def _node(rng: random.Random, name: str) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": name}
    for key, values in VALUES.items():
        if rng.random() < 0.92:
            labels[key] = rng.choice(values)
    taints = [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}] if rng.random() < 0.15 else []
    cpu = str(rng.choice((1, 2, 4, 16)))
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}},
    }


def _bound(rng: random.Random, name: str, node: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = {"nodeName": node["metadata"]["name"], "containers": [{"name": "c", "image": "i"}]}
    if rng.random() < 0.3:
        spec["affinity"] = {"podAntiAffinity": _terms(rng, ("web",))}
    labels = {"app": rng.choice(("web", "db"))}
    meta = {"name": name, "namespace": "default", "labels": labels}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": {"phase": "Running"}}


def _spread(rng: random.Random, key: str) -> dict[str, Any]:
    constraint: dict[str, Any] = {
        "maxSkew": rng.choice((1, 1, 1, 2, 3)),
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": rng.choice(("web", "web", "web", "web", "db"))}},
    }
    if rng.random() < 0.15:
        constraint["minDomains"] = rng.randint(1, 4)
    if rng.random() < 0.3:
        constraint["nodeTaintsPolicy"] = rng.choice(("Honor", "Ignore"))
    if rng.random() < 0.3:
        constraint["nodeAffinityPolicy"] = rng.choice(("Honor", "Ignore"))
    return constraint


def _terms(rng: random.Random, apps: Sequence[str] = ("web", "web", "db")) -> dict[str, Any]:
    term = {"topologyKey": rng.choice(KEYS), "labelSelector": {"matchLabels": {"app": rng.choice(apps)}}}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _deployment(replicas: int, spec: dict[str, Any]) -> dict[str, Any]:
    labels = {"app": "web"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


class Naive:
    """The scheduler's filters for one case, written down as plainly as possible."""

    def __init__(self, case: Case) -> None:
        self.spec = case.workload["spec"]["template"]["spec"]
        self.wanted: int = case.workload["spec"]["replicas"]
        self.nodes = case.nodes
        self.names = [node["metadata"]["name"] for node in case.nodes]
        self.labels: list[Mapping[str, str]] = [node["metadata"]["labels"] for node in case.nodes]
        self.bound = [(self.names.index(p["spec"]["nodeName"]), p) for p in case.bound]
        request = int(self.spec["containers"][0]["resources"]["requests"]["cpu"].rstrip("m"))
        self.room = [int(n["status"]["allocatable"]["cpu"]) * 1000 // request for n in case.nodes]
        if "ports" in self.spec["containers"][0]:
            self.room = [min(1, r) for r in self.room]
        self.tolerated = ["tolerations" in self.spec or not n["spec"]["taints"] for n in case.nodes]
        wanted = self.spec.get("nodeSelector", {}).items()
        self.selected = [wanted <= labels.items() for labels in self.labels]
        self.spreads = self.spec["topologySpreadConstraints"]
        self.affinity = self._terms(self.spec, "podAffinity")
        self.anti = self._terms(self.spec, "podAntiAffinity")

    @staticmethod
    def _terms(spec: Mapping[str, Any], kind: str) -> list[tuple[str, str]]:
        found = spec.get("affinity", {}).get(kind, {}).get("requiredDuringSchedulingIgnoredDuringExecution", [])
        return [(term["topologyKey"], term["labelSelector"]["matchLabels"]["app"]) for term in found]

    def _pods(self, state: Sequence[int], app: str) -> list[int]:
        """How many pods of an app sit on each node."""
        pods = list(state) if app == "web" else [0] * len(state)
        for node, pod in self.bound:
            pods[node] += pod["metadata"]["labels"]["app"] == app
        return pods

    def allows(self, state: Sequence[int], node: int) -> bool:
        """Whether one more replica may go to a node."""
        if not (self.tolerated[node] and self.selected[node] and state[node] < self.room[node]):
            return False
        return self._spread(state, node) and self._peers(state, node) and self._others(node)

    def _spread(self, state: Sequence[int], node: int) -> bool:
        keys = [c["topologyKey"] for c in self.spreads]
        if any(key not in self.labels[node] for key in keys):
            return False
        for c in self.spreads:
            key, app = c["topologyKey"], c["labelSelector"]["matchLabels"]["app"]
            pods = self._pods(state, app)
            counts: Counter[str] = Counter()
            for n, labels in enumerate(self.labels):
                if any(k not in labels for k in keys):
                    continue
                if c.get("nodeAffinityPolicy", "Honor") == "Honor" and not self.selected[n]:
                    continue
                if c.get("nodeTaintsPolicy", "Ignore") == "Honor" and not self.tolerated[n]:
                    continue
                counts[labels[key]] += pods[n]
            minimum = 0 if len(counts) < c.get("minDomains", 1) else min(counts.values())
            if counts[self.labels[node][key]] + (app == "web") - minimum > c["maxSkew"]:
                return False
        return True

    def _peers(self, state: Sequence[int], node: int) -> bool:
        for key, app in self.affinity:
            if key not in self.labels[node]:
                return False
            pods = self._pods(state, app)
            there = [self.labels[n][key] for n, count in enumerate(pods) if count and key in self.labels[n]]
            if self.labels[node][key] not in there and (there or app != "web"):
                return False
        for key, app in self.anti:
            pods = self._pods(state, app)
            here = self.labels[node].get(key)
            if here is not None and any(c and self.labels[n].get(key) == here for n, c in enumerate(pods)):
                return False
        return True

    def _others(self, node: int) -> bool:
        for where, pod in self.bound:
            for key, app in self._terms(pod["spec"], "podAntiAffinity"):
                value = self.labels[where].get(key)
                if app == "web" and value is not None and value == self.labels[node].get(key):
                    return False
        return True

    def search(self, most_states: int = MOST_STATES) -> tuple[int, bool] | None:
        """The most replicas in any reachable state, and whether some state short of `wanted` is a dead end."""
        start = (0,) * len(self.nodes)
        seen, queue, best, dead_end = {start}, deque([start]), 0, False
        while queue:
            if len(seen) > most_states:
                return None
            state = queue.popleft()
            best = max(best, sum(state))
            if sum(state) == self.wanted:
                continue
            moves = [n for n in range(len(state)) if self.allows(state, n)]
            dead_end = dead_end or not moves
            for n in moves:
                child = (*state[:n], state[n] + 1, *state[n + 1 :])
                if child not in seen:
                    seen.add(child)
                    queue.append(child)
        return best, dead_end


def answers(case: Case) -> tuple[Replicas, int]:
    """What the product says of a case, and its bound without any search."""
    inventory: Inventory = read_objects(objects_of(case.objects), SETTINGS)
    workload = inventory.workloads[0]
    pod = admit(workload, inventory, SETTINGS)
    wanted = (Wanted(workload, pod, demand_of(pod), workload.replicas or 1),)
    census = Census(wanted, fixed_nodes(inventory, SETTINGS), inventory, SETTINGS)
    world = census.world(Scene(optimistic=True, own_gone=False))
    return census.result().counts[workload.id], most(world, 0, Budget(SETTINGS.step_budget)).most


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--replicas", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    rng = random.Random(options.seed)
    tally: Counter[str] = Counter()
    gaps: Counter[int] = Counter()
    wrong = 0
    while tally["compared"] < options.cases:
        case = random_case(rng, options.replicas)
        truth = Naive(case).search()
        if truth is None:
            tally["too many states"] += 1
            continue
        found, bound = answers(case)
        most_replicas, dead_end = truth
        wanted = case.workload["spec"]["replicas"]
        tally["compared"] += 1
        gaps[bound - most_replicas] += 1
        tally["bound alone below"] += bound < most_replicas
        tally["answer below"] += found.at_most < most_replicas
        tally["answer exact"] += found.at_most == most_replicas
        tally["witness above"] += found.at_least > most_replicas
        tally["witness exact"] += found.at_least == most_replicas
        if most_replicas >= wanted:
            tally["all fit"] += 1
            tally["order right"] += found.stuck == dead_end
            tally["order unknown"] += found.stuck is None
            tally["order wrong"] += found.stuck is not None and found.stuck != dead_end
        if bound < most_replicas or found.at_most < most_replicas or found.at_least > most_replicas:
            wrong += 1
            print(case.objects, found, bound, truth, file=sys.stderr)
    for name, number in tally.items():
        print(f"{name:20} {number}")
    print("gap of the bound alone:", ", ".join(f"{gap}: {number}" for gap, number in sorted(gaps.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
