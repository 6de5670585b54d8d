"""Compare the verdicts over NodePools with a naive simulator of Karpenter and kube-scheduler on random small clusters.

    python tools/diff_karpenter.py --cases 20000 --seed 1
    python tools/diff_karpenter.py --cases 5000 --seed 1 --topology

The simulator is written from the two semantics pages alone and works on the objects themselves: it plays Karpenter
(`karpenter.md` §2 to §7) for a pending pod, resolves every choice that is left open (type, offering, the values that
custom labels get), and asks for each node that could come about whether kube-scheduler binds the pod. With one pod it
tries every choice; with several it plays a number of random runs, so the best of them is a proof and the worst is not.
A verdict that denies what some run reached is a wrong alarm: the exit code is 1 when there is one.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, Literal, NamedTuple

import unpend
from unpend.catalog.load import catalog_of
from unpend.settings import KarpenterSettings, Settings

Json = dict[str, Any]
ZONE, HOST, TYPE = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "node.kubernetes.io/instance-type"
CAPACITY_TYPE, ARCH, OS, POOL = (
    "karpenter.sh/capacity-type",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "karpenter.sh/nodepool",
)
SIZE, GENERATION = "test.sh/size", "test.sh/generation"
WELL_KNOWN = {ZONE, TYPE, CAPACITY_TYPE, ARCH, OS, POOL, SIZE, GENERATION}
OLD_NAMES = {"beta.kubernetes.io/arch": ARCH, "beta.kubernetes.io/os": OS, "beta.kubernetes.io/instance-type": TYPE}
VALUES = {
    "team": ("a", "b", "c"),
    "tier": ("1", "2", "3", "4", "5"),
    ZONE: ("z1", "z2", "z3"),
    CAPACITY_TYPE: ("spot", "on-demand"),
    ARCH: ("amd64", "arm64"),
    SIZE: ("s", "m", "l"),
    GENERATION: ("1", "2", "3", "4"),
    TYPE: ("t0", "t1", "t2", "t3"),
}
NUMBERS = ("tier", GENERATION)
SOME_NUMBER = 73451
"""Stands for the random numbers that Karpenter gives to a label whose value nobody chose (§2.7)."""
RUNS = 8
MOST_TRIES = 400


# ---- Requirements (§2)


class Req(NamedTuple):
    """One requirement; `out` says that `values` are the excluded ones."""

    out: bool
    values: frozenset[str]
    low: int | None = None
    high: int | None = None
    distinct: int = 0

    @property
    def word(self) -> str:
        """The derived operator."""
        if self.out:
            return "NotIn" if self.values else "Exists"
        return "In" if self.values else "DoesNotExist"

    @property
    def lenient(self) -> bool:
        """Whether a key that is missing on the other side is fine."""
        return self.word in ("NotIn", "DoesNotExist")

    def has(self, value: str) -> bool:
        """R-1."""
        if (value in self.values) == self.out:
            return False
        if self.low is None and self.high is None:
            return True
        number = whole(value)
        return (
            number is not None
            and (self.low is None or number >= self.low)
            and (self.high is None or number <= self.high)
        )


Reqs = dict[str, Req]


def whole(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None


def req(operator: str, values: Iterable[str], distinct: int = 0) -> Req:
    values = list(values)
    match operator:
        case "In":
            return Req(False, frozenset(values), distinct=distinct)
        case "NotIn":
            return Req(True, frozenset(values), distinct=distinct)
        case "Exists":
            return Req(True, frozenset(), distinct=distinct)
        case "DoesNotExist":
            return Req(False, frozenset(), distinct=distinct)
    number = int(values[0])
    low = {"Gt": number + 1, "Gte": number}.get(operator)
    high = {"Lt": number - 1, "Lte": number}.get(operator)
    return Req(True, frozenset(), low, high, distinct)


def least(one: int | None, other: int | None, choose: Callable[[int, int], int]) -> int | None:
    return other if one is None else one if other is None else choose(one, other)


def meet(a: Req, b: Req) -> Req:
    """R-2."""
    low, high, distinct = least(a.low, b.low, max), least(a.high, b.high, min), max(a.distinct, b.distinct)
    if low is not None and high is not None and low > high:
        return Req(False, frozenset(), distinct=distinct)
    if a.out and b.out:
        inside = Req(True, frozenset(), low, high)
        return Req(True, frozenset(v for v in a.values | b.values if inside.has(v)), low, high, distinct)
    kept = {v for v in a.values | b.values if a.has(v) and b.has(v)}
    return Req(False, frozenset(kept), distinct=distinct)


def overlap(a: Req, b: Req) -> bool:
    """R-3."""
    low, high = least(a.low, b.low, max), least(a.high, b.high, min)
    if low is not None and high is not None and low > high:
        return False
    if a.out and b.out:
        return True
    return any(a.has(v) and b.has(v) for v in a.values | b.values)


def joined(*several: Iterable[tuple[str, Req]]) -> Reqs:
    found: Reqs = {}
    for pairs in several:
        for key, one in pairs:
            key = OLD_NAMES.get(key, key)
            found[key] = meet(found[key], one) if key in found else one
    return found


def intersects(a: Reqs, b: Reqs) -> bool:
    return all(overlap(a[k], b[k]) or (a[k].lenient and b[k].lenient) for k in a.keys() & b.keys())


def compatible(existing: Reqs, incoming: Reqs, undefined: set[str]) -> bool:
    """§2.5."""
    for key, one in incoming.items():
        if key not in undefined and key not in existing and one.word not in ("NotIn", "DoesNotExist"):
            return False
    return intersects(existing, incoming)


# ---- What is written


def expressions(items: Iterable[Json]) -> list[tuple[str, Req]]:
    return [(e["key"], req(e["operator"], e.get("values", ()), e.get("minValues", 0))) for e in items]


def node_affinity(spec: Json) -> Json:
    found: Json = spec.get("affinity", {}).get("nodeAffinity", {})
    return found


def required_terms(spec: Json) -> list[list[Json]]:
    found = node_affinity(spec).get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", [])
    return [term.get("matchExpressions", []) for term in found]


def selector(spec: Json) -> list[tuple[str, Req]]:
    return [(key, req("In", [value])) for key, value in spec.get("nodeSelector", {}).items()]


def tolerated(spec: Json, taint: Json) -> bool:
    return any(
        t.get("effect", "") in ("", taint["effect"])
        and (t.get("key", "") == taint["key"] or (not t.get("key") and t.get("operator") == "Exists"))
        and (t.get("operator") == "Exists" or t.get("value", "") == taint.get("value", ""))
        for t in spec.get("tolerations", ())
    )


def cpu(spec: Json) -> int:
    text = spec["containers"][0].get("resources", {}).get("requests", {}).get("cpu", "0m")
    return int(text[:-1])


def ports(spec: Json) -> set[int]:
    return {p["hostPort"] for p in spec["containers"][0].get("ports", ()) if "hostPort" in p}


def template(workload: Json) -> Json:
    """The pod spec of a workload."""
    found: Json = workload["spec"] if workload["kind"] == "Pod" else workload["spec"]["template"]["spec"]
    return found


# ---- kube-scheduler


def term_matches(term: Iterable[Json], labels: dict[str, str]) -> bool:
    found = list(term)
    return bool(found) and all(expression_matches(e, labels) for e in found)


def expression_matches(e: Json, labels: dict[str, str]) -> bool:
    has, operator, values = e["key"] in labels, e["operator"], e.get("values", [])
    value = labels.get(e["key"], "")
    if operator == "In":
        return has and value in values
    if operator == "NotIn":
        return not has or value not in values
    if operator == "Exists":
        return has
    if operator == "DoesNotExist":
        return not has
    number = whole(value) if has else None
    if number is None:
        return False
    return number > int(values[0]) if operator == "Gt" else number < int(values[0])


def affinity_matches(spec: Json, labels: dict[str, str]) -> bool:
    if any(labels.get(k) != v for k, v in spec.get("nodeSelector", {}).items()):
        return False
    terms = required_terms(spec)
    return not terms or any(term_matches(term, labels) for term in terms)


@dataclass
class Machine:
    """A node: its labels, taints, what is free on it, and how many pods of the workload run there."""

    labels: dict[str, str]
    taints: list[Json]
    free: int
    slots: int
    used_ports: set[int]
    pods: int = 0
    pool: str = ""
    capacity: int = 0


class Workload(NamedTuple):
    """The spec of the pods, their labels, how many there should be."""

    spec: Json
    labels: dict[str, str]
    replicas: int


def selected(rule: Json, labels: dict[str, str]) -> bool:
    return all(labels.get(k) == v for k, v in rule["labelSelector"]["matchLabels"].items())


def anti_terms(spec: Json) -> list[Json]:
    found: list[Json] = (
        spec.get("affinity", {}).get("podAntiAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", [])
    )
    return found


def spreads(spec: Json, action: str) -> list[Json]:
    return [s for s in spec.get("topologySpreadConstraints", ()) if s["whenUnsatisfiable"] == action]


def counts(spec: Json, rule: Json, node: Machine) -> bool:
    """Whether a spread looks at a node (nodeAffinityPolicy, nodeTaintsPolicy)."""
    if rule.get("nodeAffinityPolicy", "Honor") == "Honor" and not affinity_matches(spec, node.labels):
        return False
    hard = (t for t in node.taints if t["effect"] != "PreferNoSchedule")
    return rule.get("nodeTaintsPolicy", "Ignore") == "Ignore" or all(tolerated(spec, t) for t in hard)


def room(spec: Json, node: Machine) -> bool:
    return node.free >= cpu(spec) and node.slots >= 1 and not ports(spec) & node.used_ports


def binds(work: Workload, node: Machine, nodes: list[Machine]) -> bool:
    """Whether kube-scheduler puts one more pod on a node."""
    spec = work.spec
    if not affinity_matches(spec, node.labels) or not room(spec, node):
        return False
    if any(t["effect"] != "PreferNoSchedule" and not tolerated(spec, t) for t in node.taints):
        return False
    for term in anti_terms(spec):
        key = term["topologyKey"]
        here = [n for n in nodes if key in node.labels and n.labels.get(key) == node.labels[key]]
        if selected(term, work.labels) and any(n.pods for n in here):
            return False
    hard = spreads(spec, "DoNotSchedule")
    labelled = [n for n in nodes if all(s["topologyKey"] in n.labels for s in hard)]
    for rule in hard:
        key, own = rule["topologyKey"], selected(rule, work.labels)
        if key not in node.labels:
            return False
        held: Counter[str] = Counter()
        for n in labelled:
            if counts(spec, rule, n):
                held[n.labels[key]] += n.pods if own else 0
        low = 0 if len(held) < rule.get("minDomains", 1) else min(held.values(), default=0)
        if held[node.labels[key]] + own - low > rule["maxSkew"]:
            return False
    return True


def bind(work: Workload, node: Machine) -> None:
    node.free -= cpu(work.spec)
    node.slots -= 1
    node.used_ports = node.used_ports | ports(work.spec)
    node.pods += 1


# ---- Karpenter


class Shape(NamedTuple):
    """An instance type: its requirements, offerings (zone, capacity type, available), capacity, allocatable, slots."""

    name: str
    reqs: Reqs
    offerings: list[tuple[str, str, bool]]
    capacity: int
    allocatable: int
    slots: int


def shapes_of(catalog: Json) -> list[Shape]:
    found = []
    for one in catalog["instanceTypes"]:
        offerings = [(o["zone"], o["capacityType"], o.get("available", True)) for o in one["offerings"]]
        labels = {k: [v] if isinstance(v, str) else v for k, v in one["labels"].items()}
        labels |= {TYPE: [one["name"]], ZONE: [o[0] for o in offerings], CAPACITY_TYPE: [o[1] for o in offerings]}
        reserved = one.get("overhead", {}).get("kubeReserved", {}).get("cpu", "0m")
        capacity = int(one["capacity"]["cpu"]) * 1000
        found.append(
            Shape(
                one["name"],
                {k: req("In", v) for k, v in labels.items()},
                offerings,
                capacity,
                capacity - int(reserved[:-1]),
                int(one["capacity"]["pods"]),
            )
        )
    return found


def pool_reqs(pool: Json) -> Reqs:
    body = pool["spec"]["template"]
    labels = [(k, req("In", [v])) for k, v in body.get("metadata", {}).get("labels", {}).items()]
    return joined(expressions(body["spec"]["requirements"]), labels, [(POOL, req("In", [pool["metadata"]["name"]]))])


def offered(shape: Shape, wanted: Reqs) -> list[tuple[str, str]]:
    return [
        (zone, kind)
        for zone, kind, available in shape.offerings
        if available and all(k not in wanted or wanted[k].has(v) for k, v in ((ZONE, zone), (CAPACITY_TYPE, kind)))
    ]


def distinct_enough(shapes: list[Shape], wanted: Reqs) -> bool:
    """§2.8, the count over instance types."""
    for key, one in wanted.items():
        if one.distinct:
            values: set[str] = set().union(*(s.reqs[key].values for s in shapes if key in s.reqs))
            if len(values) < one.distinct:
                return False
    return True


def may_be_created(shapes: list[Shape], wanted: Reqs) -> bool:
    """§2.8, the rule of the NodeClaim CRD."""
    for key, one in wanted.items():
        values = one.values
        if key == CAPACITY_TYPE and one.distinct:
            values = frozenset(kind for s in shapes for _, kind in offered(s, wanted))
        elif one.word != "In":
            continue
        if len(values) < one.distinct:
            return False
    return True


class Attempt(NamedTuple):
    """What Karpenter tries to hold of a pod at one time."""

    wanted: Reqs
    strict: Reqs
    soft: list[Json]
    relaxed: bool


def attempts(spec: Json, any_soft_taint: bool, respects: bool) -> Iterator[Attempt]:
    """§3.4, §3.5."""
    terms = required_terms(spec)
    preferred = node_affinity(spec).get("preferredDuringSchedulingIgnoredDuringExecution", [])
    preferred = sorted(preferred, key=lambda p: -p["weight"]) if respects else []
    soft = spreads(spec, "ScheduleAnyway") if respects else []
    relaxed = False
    while True:
        strict = joined(selector(spec), expressions(terms[0]) if terms else ())
        wanted = strict
        if preferred:
            wanted = joined(strict.items(), expressions(preferred[0]["preference"]["matchExpressions"]))
        yield Attempt(wanted, strict, soft, relaxed)
        if len(terms) > 1:
            terms = terms[1:]
        elif preferred:
            preferred = preferred[1:]
        elif soft:
            soft = [soft[-1], *soft[1:-1]] if len(soft) > 1 else []
        elif any_soft_taint and not relaxed:
            relaxed = True
        else:
            return


class Plan(NamedTuple):
    """A NodeClaim: the pool, its requirements, the types that are left."""

    pool: Json
    reqs: Reqs
    shapes: list[Shape]


class Karpenter:
    """The NodePools, DaemonSets and instance types of one case."""

    def __init__(self, case: Case) -> None:
        self.respects = case.policy == "Respect"
        self.shapes = shapes_of(case.catalog)
        self.daemons = [template(d) for d in case.daemons]
        self.every = sorted(case.pools, key=lambda p: p["metadata"]["name"], reverse=True)
        self.every.sort(key=lambda p: -p["spec"].get("weight", 0))
        self.reqs = {p["metadata"]["name"]: pool_reqs(p) for p in self.every}
        self.dynamic = [p for p in self.every if "replicas" not in p["spec"]]
        self.usable = [p for p in self.dynamic if self._left(p)]
        self.any_soft_taint = any(t["effect"] == "PreferNoSchedule" for p in self.dynamic for t in self.taints(p))

    def _left(self, pool: Json) -> list[Shape]:
        """§7.4: later steps choose among what the pool alone leaves."""
        wanted = self.reqs[pool["metadata"]["name"]]
        left = [s for s in self.shapes if intersects(s.reqs, wanted) and offered(s, wanted)]
        return left if distinct_enough(left, wanted) else []

    @staticmethod
    def taints(pool: Json, field: str = "taints") -> list[Json]:
        """The taints of a pool, or its startup taints."""
        found: list[Json] = pool["spec"]["template"]["spec"].get(field, [])
        return found

    def overhead(self, pool: Json, shape: Shape) -> list[Json]:
        """The DaemonSets that Karpenter counts (I-2)."""
        found = []
        for daemon in self.daemons:
            if any(t["effect"] != "PreferNoSchedule" and not tolerated(daemon, t) for t in self.taints(pool)):
                continue
            for term in required_terms(daemon) or [[]]:
                wanted = joined(selector(daemon), expressions(term))
                known = self.reqs[pool["metadata"]["name"]]
                if compatible(known, wanted, WELL_KNOWN) and intersects(shape.reqs, wanted):
                    found.append(daemon)
                    break
        return found

    def fits(self, spec: Json, pool: Json, shape: Shape) -> bool:
        """I-4, I-5."""
        daemons = self.overhead(pool, shape)
        if any(ports(d) & ports(spec) for d in daemons):
            return False
        return cpu(spec) + sum(map(cpu, daemons)) <= shape.allocatable and 1 + len(daemons) <= shape.slots

    def within(self, pool: Json, shape: Shape, nodes: list[Machine]) -> bool:
        """§1.6."""
        limits = pool["spec"].get("limits", {})
        own = [n for n in nodes if n.pool == pool["metadata"]["name"]]
        if "cpu" in limits and shape.capacity > int(limits["cpu"]) * 1000 - sum(n.capacity for n in own):
            return False
        return "nodes" not in limits or len(own) < int(limits["nodes"])

    def universe(self, key: str, spec: Json, nodes: list[Machine], rule: Json) -> set[str]:
        """§5.2."""
        honours_taints = rule.get("nodeTaintsPolicy", "Ignore") == "Honor"
        found = {n.labels[key] for n in nodes if key in n.labels and counts(spec, rule, n)}
        for pool in self.dynamic:
            if honours_taints and not all(tolerated(spec, t) for t in self.taints(pool)):
                continue
            known = self.reqs[pool["metadata"]["name"]]
            if key in known and known[key].word == "In":
                found |= known[key].values
            for shape in self.shapes:
                both = joined(known.items(), shape.reqs.items())
                if key in both and both[key].word == "In":
                    found |= both[key].values
        return found

    def topology(
        self, work: Workload, one: Attempt, known: Reqs, nodes: list[Machine], host: str, rng: random.Random
    ) -> Reqs | None:
        """The requirements that spreads and anti-affinity add for a node (§5.3, §5.5), None when they refuse it."""
        spec, found = work.spec, dict(known)
        for rule in [*spreads(spec, "DoNotSchedule"), *one.soft]:
            key, own = rule["topologyKey"], selected(rule, work.labels)
            held: Counter[str] = Counter()
            for n in nodes:
                if own and key in n.labels and counts(spec, rule, n):
                    held[n.labels[key]] += n.pods
            if key == HOST:
                if held[host] + own > rule["maxSkew"]:
                    return None
                continue
            every = self.universe(key, spec, nodes, rule)
            inside = {d for d in every if key not in one.strict or one.strict[key].has(d)}
            low = 0 if len(inside) < rule.get("minDomains", 1) else min((held[d] for d in inside), default=0)
            allowed = [
                d for d in inside if held[d] + own - low <= rule["maxSkew"] and (key not in known or known[key].has(d))
            ]
            if not allowed:
                return None
            fewest = min(held[d] for d in allowed)
            domain = rng.choice(sorted(d for d in allowed if held[d] == fewest))
            found = joined(found.items(), [(key, req("In", [domain]))])
            if not found[key].values:
                return None
        for term in anti_terms(spec):
            key = term["topologyKey"]
            taken = {n.labels.get(key) for n in nodes if n.pods and selected(term, work.labels)}
            if key == HOST:
                if host in taken:
                    return None
                continue
            every = self.universe(key, spec, nodes, {"nodeTaintsPolicy": "Honor", "nodeAffinityPolicy": "Ignore"})
            free = {d for d in every - taken if (key not in one.strict or one.strict[key].has(d))}
            if not free or (key in found and not any(found[key].has(d) for d in free)):
                return None
            found = joined(found.items(), [(key, req("In", free))])
        return found

    def on_node(self, work: Workload, one: Attempt, node: Machine, nodes: list[Machine], rng: random.Random) -> bool:
        """Whether Karpenter believes that a node that is there takes the pod (§7.8)."""
        if any(not self.lets(work.spec, one, t) for t in node.taints) or not room(work.spec, node):
            return False
        known = {k: req("In", [v]) for k, v in node.labels.items() if k not in OLD_NAMES}
        if not compatible(known, one.wanted, set()):
            return False
        found = self.topology(work, one, known, nodes, node.labels[HOST], rng)
        return found is not None and compatible(known, found, set())

    @staticmethod
    def lets(spec: Json, one: Attempt, taint: Json) -> bool:
        """A-1, with the tolerations that the last step of relaxing adds."""
        return tolerated(spec, taint) or (one.relaxed and taint["effect"] == "PreferNoSchedule")

    def refused(self, spec: Json) -> bool:
        """P-1, P-2, P-4."""
        terms = required_terms(spec)
        preferred = node_affinity(spec).get("preferredDuringSchedulingIgnoredDuringExecution", [])
        heavy: list[Json] = []
        if preferred and self.respects:
            heavy = max(preferred, key=lambda p: p["weight"])["preference"]["matchExpressions"]
        all_of = joined(selector(spec), expressions(heavy), expressions(terms[0]) if terms else ())
        if POOL in all_of and all_of[POOL].word == "DoesNotExist":
            return True
        keys = {*spec.get("nodeSelector", {}), *(e["key"] for term in terms for e in term)}
        return HOST in keys

    def plan(self, work: Workload, nodes: list[Machine], rng: random.Random) -> Plan | None:
        """The NodeClaim for one pod that is pending, None when Karpenter makes none."""
        if self.refused(work.spec):
            return None
        for one in attempts(work.spec, self.any_soft_taint, self.respects):
            if any(self.on_node(work, one, n, nodes, rng) for n in nodes):
                return None
            for pool in self.usable:
                found = self._new(work, one, pool, nodes, rng)
                if found is not None:
                    return found if may_be_created(found.shapes, found.reqs) else None
        return None

    def _new(self, work: Workload, one: Attempt, pool: Json, nodes: list[Machine], rng: random.Random) -> Plan | None:
        known = self.reqs[pool["metadata"]["name"]]
        if any(not self.lets(work.spec, one, t) for t in self.taints(pool)):
            return None
        if not compatible(known, one.wanted, WELL_KNOWN):
            return None
        known = joined(known.items(), one.wanted.items())
        wanted = self.topology(work, one, known, nodes, "", rng)
        if wanted is None or not compatible(known, wanted, WELL_KNOWN):
            return None
        left = [
            s
            for s in self._left(pool)
            if intersects(s.reqs, wanted)
            and offered(s, wanted)
            and self.fits(work.spec, pool, s)
            and self.within(pool, s, nodes)
        ]
        return Plan(pool, wanted, left) if left and distinct_enough(left, wanted) else None

    # Nodes

    def machines(self, plan: Plan, host: str) -> Iterator[Machine]:
        """Every node that can come out of a NodeClaim."""
        for labels in self.minted(plan):
            for shape in plan.shapes:
                for zone, kind in offered(shape, plan.reqs):
                    yield self.machine(plan, shape, zone, kind, labels, host)

    @staticmethod
    def minted(plan: Plan) -> list[dict[str, str]]:
        """The labels that are the same for all types, for every choice of their values (§2.7)."""
        written = plan.pool["spec"]["template"].get("metadata", {}).get("labels", {})
        keys, choices = [], []
        for key, one in plan.reqs.items():
            if key in WELL_KNOWN or key in written:
                continue
            keys.append(key)
            if one.word == "DoesNotExist":
                choices.append([""])
            elif one.word == "In":
                choices.append(sorted(one.values))
            else:
                bound = one.low is not None or one.high is not None
                whole_range = one._replace(values=frozenset()) if bound else one
                numbers = [str(n) for n in (*range(8), SOME_NUMBER) if whole_range.has(str(n))]
                choices.append(numbers or [""])
        return [written | {k: v for k, v in zip(keys, chosen, strict=True) if v} for chosen in product(*choices)]

    def machine(self, plan: Plan, shape: Shape, zone: str, kind: str, minted: dict[str, str], host: str) -> Machine:
        """The node of one type and offering, with its DaemonSets."""
        labels = minted | {k: next(iter(r.values)) for k, r in shape.reqs.items() if len(r.values) == 1}
        labels |= {ZONE: zone, CAPACITY_TYPE: kind, POOL: plan.pool["metadata"]["name"], HOST: host}
        labels |= {old: labels[new] for old, new in OLD_NAMES.items() if new in labels}
        node = Machine(
            labels,
            self.taints(plan.pool),
            shape.allocatable,
            shape.slots,
            set(),
            pool=plan.pool["metadata"]["name"],
            capacity=shape.capacity,
        )
        self.settle_daemons(node)
        return node

    def settle_daemons(self, node: Machine) -> None:
        """Run the DaemonSets that the node gets."""
        for daemon in self.daemons:
            if binds(Workload(daemon, {}, 1), node, []):
                node.free -= cpu(daemon)
                node.slots -= 1
                node.used_ports = node.used_ports | ports(daemon)

    def static_nodes(self) -> Iterator[Machine]:
        """Nodes that a static pool may keep."""
        for pool in self.every:
            if pool["spec"].get("replicas", 0) > 0:
                wanted = self.reqs[pool["metadata"]["name"]]
                left = [s for s in self.shapes if intersects(s.reqs, wanted) and offered(s, wanted)]
                if left and distinct_enough(left, wanted):
                    yield from self.machines(Plan(pool, wanted, left), "static")


# ---- The truth


class Case(NamedTuple):
    """A small cluster and a workload; `other` is a second one that brings nodes."""

    catalog: Json
    pools: list[Json]
    daemons: list[Json]
    nodes: list[Json]
    workload: Json
    other: Json | None
    policy: Literal["Respect", "Ignore"] = "Respect"

    @property
    def objects(self) -> list[Json]:
        """All objects, as a caller hands them over."""
        node_class = {"apiVersion": "test.sh/v1", "kind": "TestNodeClass", "metadata": {"name": "default"}}
        others = [self.other] if self.other else []
        return [node_class, *self.pools, *self.daemons, *self.nodes, self.workload, *others]


class Truth(NamedTuple):
    """What can happen: the fewest and the most pods that ran, whether a node was launched, what `most` rests on."""

    fewest: int
    most: int
    launched: bool
    taken_by_pool_node: bool

    def verdict(self, needed: int) -> str:
        """The verdict that is expected."""
        if self.fewest >= needed:
            return "fits"
        if self.most >= needed:
            return "conditional"
        if self.most > 0:
            return "partial"
        return "loop" if self.launched else "never"


def workload_of(data: Json) -> Workload:
    body = data if data["kind"] == "Pod" else data["spec"]["template"]
    return Workload(template(data), body["metadata"]["labels"], data["spec"].get("replicas", 1))


def fixed(case: Case, karpenter: Karpenter) -> list[Machine]:
    found = []
    for node in case.nodes:
        allocatable = node["status"]["allocatable"]
        one = Machine(
            dict(node["metadata"]["labels"]),
            node["spec"].get("taints", []),
            int(allocatable["cpu"]) * 1000,
            int(allocatable["pods"]),
            set(),
        )
        karpenter.settle_daemons(one)
        found.append(one)
    return found


def truth(case: Case, rng: random.Random) -> Truth:
    karpenter, work = Karpenter(case), workload_of(case.workload)
    if work.replicas == 1:
        return single(case, karpenter, work, rng)
    found, launched = [], False
    for _ in range(RUNS):
        most, any_launch = run(case, karpenter, work, rng)
        found.append(most)
        launched |= any_launch
    return Truth(min(found), max(found), launched, False)


def startup_stays(karpenter: Karpenter, plan: Plan, spec: Json) -> bool:
    return any(
        t["effect"] != "PreferNoSchedule" and not tolerated(spec, t)
        for t in karpenter.taints(plan.pool, "startupTaints")
    )


def single(case: Case, karpenter: Karpenter, work: Workload, rng: random.Random) -> Truth:
    nodes = fixed(case, karpenter)
    if any(binds(work, n, nodes) for n in nodes):
        return Truth(1, 1, False, True)
    outcomes: set[bool] = set()
    launched = False
    for _ in range(4 if "topologySpreadConstraints" in work.spec else 1):
        plan = karpenter.plan(work, nodes, rng)
        if plan is None:
            outcomes.add(False)
            continue
        launched = True
        found = {binds(work, n, [*nodes, n]) for n in karpenter.machines(plan, "new")}
        outcomes |= {False} | found if startup_stays(karpenter, plan, work.spec) else found
    taken = any(binds(work, n, [*nodes, n]) for n in karpenter.static_nodes())
    if case.other is not None and not taken:
        other = workload_of(case.other)
        made = karpenter.plan(other, nodes, rng)
        for node in karpenter.machines(made, "other") if made else ():
            if binds(other, node, [*nodes, node]):
                bind(other, node)
                node.pods = 0
                taken = taken or binds(work, node, [*nodes, node])
    sure = outcomes == {True}
    return Truth(int(sure), int(True in outcomes or taken), launched, taken)


def run(case: Case, karpenter: Karpenter, work: Workload, rng: random.Random) -> tuple[int, bool]:
    """One way in which it may go: kube-scheduler first, then Karpenter, one pod after the other."""
    nodes = fixed(case, karpenter)
    running, launched, misses = 0, False, 0
    while running < work.replicas and misses < 4:
        taking = [n for n in nodes if binds(work, n, nodes)]
        if not taking:
            plan = karpenter.plan(work, nodes, rng)
            if plan is None:
                misses += 1
                continue
            made = list(karpenter.machines(plan, f"new-{len(nodes)}"))
            launched = launched or bool(made)
            node = rng.choice(made)
            if startup_stays(karpenter, plan, work.spec) and rng.random() < 0.3:
                return running, launched
            if binds(work, node, [*nodes, node]):
                nodes.append(node)
                taking = [node]
            else:
                # An empty node goes away again.
                misses += 1
                continue
        bind(work, rng.choice(taking))
        running += 1
    return running, launched


# ---- Random cases


def expression(rng: random.Random, keys: Iterable[str], pool: bool) -> Json:
    key = rng.choice(list(keys))
    operators = ["In", "In", "In", "NotIn", "Exists"]
    if key not in (ARCH, TYPE, ZONE, CAPACITY_TYPE) or not pool:
        operators.append("DoesNotExist")
    if key in NUMBERS:
        operators += ["Gt", "Lt", "Gte", "Lte"] if pool else ["Gt", "Lt"]
    operator = rng.choice(operators)
    values = VALUES[key]
    found: Json = {"key": key, "operator": operator}
    if operator in ("In", "NotIn"):
        found["values"] = sorted(rng.sample(values, rng.randint(1, min(len(values), 3 if operator == "In" else 2))))
    elif operator in ("Gt", "Lt", "Gte", "Lte"):
        found["values"] = [rng.choice(values)]
    return found


def taint(rng: random.Random, keys: tuple[str, ...] = ("dedicated", "gpu")) -> Json:
    effect = rng.choice(("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule"))
    return {"key": rng.choice(keys), "value": rng.choice(("x", "y")), "effect": effect}


def toleration(rng: random.Random) -> Json:
    found: Json = {"key": rng.choice(("dedicated", "gpu", "boot")), "operator": rng.choice(("Exists", "Equal"))}
    if found["operator"] == "Equal":
        found["value"] = rng.choice(("x", "y"))
    if rng.random() < 0.4:
        found["effect"] = rng.choice(("NoSchedule", "NoExecute", "PreferNoSchedule"))
    return {"operator": "Exists"} if rng.random() < 0.1 else found


def random_catalog(rng: random.Random) -> Json:
    types = []
    for number in range(rng.randint(2, 5)):
        capacity: Json = {"cpu": str(rng.choice((1, 2, 4, 8))), "memory": "8Gi", "pods": str(rng.choice((2, 3, 10)))}
        pairs = list(product(VALUES[ZONE], VALUES[CAPACITY_TYPE]))
        offerings: list[Json] = [
            {"zone": zone, "capacityType": kind, "price": rng.randint(1, 9)}
            for zone, kind in rng.sample(pairs, rng.randint(1, 5))
        ]
        for one in offerings:
            if rng.random() < 0.1:
                one["available"] = False
        labels: Json = {ARCH: rng.choice(VALUES[ARCH]), OS: "linux"}
        labels[SIZE] = rng.choice(VALUES[SIZE]) if rng.random() < 0.8 else []
        labels[GENERATION] = rng.choice(VALUES[GENERATION]) if rng.random() < 0.8 else []
        made: Json = {"name": f"t{number}", "labels": labels, "capacity": capacity, "offerings": offerings}
        if rng.random() < 0.4:
            made["overhead"] = {"kubeReserved": {"cpu": "200m"}}
        types.append(made)
    return {
        "version": 1,
        "name": "random",
        "complete": True,
        "provides": [{"group": "test.sh", "kind": "TestNodeClass"}],
        "wellKnownLabels": [SIZE, GENERATION],
        "instanceTypes": types,
    }


def random_pool(rng: random.Random, name: str) -> Json:
    requirements = [expression(rng, VALUES, True) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    for one in requirements:
        if rng.random() < 0.12 and one["operator"] != "DoesNotExist":
            one["minValues"] = rng.randint(1, min(2, len(one["values"])) if one["operator"] == "In" else 2)
    body: Json = {
        "nodeClassRef": {"group": "test.sh", "kind": "TestNodeClass", "name": "default"},
        "requirements": requirements,
    }
    if rng.random() < 0.35:
        taints = [taint(rng) for _ in range(rng.randint(1, 2))]
        body["taints"] = list({(t["key"], t["effect"]): t for t in taints}.values())
    if rng.random() < 0.12:
        body["startupTaints"] = [taint(rng, ("boot",))]
    spec: Json = {"template": {"spec": body}}
    if rng.random() < 0.35:
        key = rng.choice(("team", "tier", ZONE, ARCH, SIZE))
        written = [r for r in requirements if r["key"] == key]
        if not written or rng.random() < 0.3:
            labels = {key: rng.choice(VALUES[key])}
            if all(req(r["operator"], r.get("values", ())).has(labels[key]) for r in written):
                spec["template"]["metadata"] = {"labels": labels}
    if rng.random() < 0.06:
        spec["replicas"] = rng.choice((0, 1, 2))
    else:
        if rng.random() < 0.3:
            spec["weight"] = rng.choice((1, 10, 50))
        if rng.random() < 0.2:
            spec["limits"] = rng.choice(({"cpu": "1"}, {"cpu": "3"}, {"cpu": "8"}, {"nodes": "1"}, {"nodes": "2"}))
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec}


def random_spec(rng: random.Random, pools: list[Json], daemon: bool = False) -> Json:
    requests = {"cpu": f"{rng.choice((100, 300) if daemon else (100, 100, 500, 500, 900, 1800, 3500))}m"}
    container: Json = {"name": "c", "image": "i", "resources": {"requests": requests}}
    spec: Json = {"containers": [container]}
    if rng.random() < 0.12:
        container["ports"] = [{"containerPort": 80, "hostPort": rng.choice((80, 81))}]
    keys = [*VALUES, "beta.kubernetes.io/arch", POOL]
    known = {**VALUES, "beta.kubernetes.io/arch": VALUES[ARCH], POOL: tuple(p["metadata"]["name"] for p in pools)}
    chance = 0.25 if daemon else 0.4
    if rng.random() < chance:
        picked = rng.sample(keys, rng.choice((1, 1, 2)))
        spec["nodeSelector"] = {key: rng.choice(known[key]) for key in picked}
    affinity: Json = {}
    if rng.random() < chance:
        terms = [
            {"matchExpressions": [expression(rng, VALUES, False) for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 2, 3)))]}
            for _ in range(rng.choice((1, 1, 2, 2, 3)))
        ]
        if rng.random() < 0.1:
            operator = rng.choice(("DoesNotExist", "NotIn", "Exists"))
            one: Json = {"key": POOL, "operator": operator}
            terms[rng.randrange(len(terms))]["matchExpressions"].append(
                one | ({"values": [pools[0]["metadata"]["name"]]} if operator == "NotIn" else {})
            )
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if not daemon and rng.random() < 0.35:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {
                "weight": rng.choice((1, 50, 100)),
                "preference": {"matchExpressions": [expression(rng, VALUES, False) for _ in range(rng.choice((1, 2)))]},
            }
            for _ in range(rng.choice((1, 1, 2)))
        ]
    if affinity:
        spec["affinity"] = {"nodeAffinity": affinity}
    if rng.random() < (0.6 if daemon else 0.4):
        spec["tolerations"] = [toleration(rng) for _ in range(rng.choice((1, 2)))]
    return spec


def random_node(rng: random.Random, name: str) -> Json:
    labels = {HOST: name, OS: "linux", "beta.kubernetes.io/os": "linux"}
    for key in ("team", "tier", ZONE, ARCH, SIZE):
        if key in (ZONE, ARCH) or rng.random() < 0.4:
            labels[key] = rng.choice(VALUES[key])
    labels["beta.kubernetes.io/arch"] = labels[ARCH]
    spec: Json = {"taints": [taint(rng)]} if rng.random() < 0.4 else {}
    allocatable = {"cpu": str(rng.choice((1, 2))), "memory": "8Gi", "pods": str(rng.choice((1, 3)))}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"allocatable": allocatable, "capacity": allocatable},
    }


def add_topology(rng: random.Random, spec: Json) -> None:
    """Spreads over zones and hosts, or anti-affinity."""
    for key in (ZONE, HOST):
        if rng.random() < 0.5:
            rule: Json = {
                "maxSkew": rng.choice((1, 1, 2)),
                "topologyKey": key,
                "whenUnsatisfiable": rng.choice(("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway")),
                "labelSelector": {"matchLabels": {"app": "main"}},
            }
            if rule["whenUnsatisfiable"] == "DoNotSchedule" and key == ZONE and rng.random() < 0.2:
                rule["minDomains"] = rng.choice((2, 3, 4))
            if rng.random() < 0.2:
                rule["nodeTaintsPolicy"] = "Honor"
            if rng.random() < 0.15:
                rule["nodeAffinityPolicy"] = "Ignore"
            spec.setdefault("topologySpreadConstraints", []).append(rule)
    if rng.random() < 0.3:
        term = {"topologyKey": rng.choice((ZONE, HOST)), "labelSelector": {"matchLabels": {"app": "main"}}}
        spec.setdefault("affinity", {})["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def deployment(name: str, spec: Json, replicas: int) -> Json:
    meta = {"labels": {"app": name}}
    body = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": meta, "spec": spec},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": body,
    }


def random_case(rng: random.Random, topology: bool = False) -> Case:
    """A random cluster; with `topology`, a workload of several pods with rules between them."""
    pools = [random_pool(rng, name) for name in ("pa", "pb", "pc")[: rng.choice((1, 1, 2, 2, 3))]]
    daemons = []
    for number in range(rng.choice((0, 0, 1, 2))):
        body = deployment(f"ds{number}", random_spec(rng, pools, daemon=True), 1)
        del body["spec"]["replicas"]
        daemons.append(body | {"kind": "DaemonSet"})
    nodes = [random_node(rng, f"n{number}") for number in range(rng.choice((0, 0, 0, 1, 2)))]
    spec = random_spec(rng, pools)
    replicas = rng.choice((1, 1, 1, 2, 4))
    other = None
    if topology:
        add_topology(rng, spec)
        replicas = rng.randint(1, 5)
    elif not nodes and replicas == 1 and rng.random() < 0.3:
        other = deployment("other", random_spec(rng, pools), 1)
    policy: Literal["Respect", "Ignore"] = "Ignore" if rng.random() < 0.15 else "Respect"
    workload = deployment("main", spec, replicas)
    if replicas == 1 and rng.random() < 0.3:
        meta = {"name": "main", "namespace": "default", "labels": {"app": "main"}}
        workload = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
    return Case(random_catalog(random.Random(rng.randrange(2000))), pools, daemons, nodes, workload, other, policy)


# ---- Comparing


class Graded(NamedTuple):
    """One case: how the answer is, and both sides."""

    grade: str
    expected: str
    answered: str
    cause: str | None
    truth: Truth


_GRADES = {
    ("fits", "conditional"): "imprecise",
    ("fits", "loop"): "wrong alarm",
    ("fits", "partial"): "wrong alarm",
    ("fits", "never"): "wrong alarm",
    ("conditional", "fits"): "imprecise",
    ("conditional", "partial"): "wrong alarm",
    ("conditional", "loop"): "loop too strong",
    ("conditional", "never"): "wrong alarm",
    ("partial", "fits"): "missed",
    ("partial", "never"): "wrong alarm",
    ("loop", "fits"): "missed",
    ("loop", "never"): "right",
    ("never", "fits"): "missed",
    ("never", "loop"): "right",
}


@lru_cache(maxsize=4000)
def parsed(text: str) -> Any:
    """A catalogue, read once: checking it against its schema takes longer than all verdicts."""
    return catalog_of(json.loads(text))


def graded(case: Case, rng: random.Random) -> Graded:
    """Grade the answer as the conformance corpora do; a `loop` where some choice binds is told apart."""
    found = truth(case, rng)
    karpenter = KarpenterSettings(preference_policy=case.policy)
    settings = Settings(catalogs=(parsed(json.dumps(case.catalog)),), karpenter=karpenter)
    verdicts = unpend.evaluate(case.objects, settings)
    answer = next(v for v in verdicts if v.workload in ("Deployment/default/main", "Pod/default/main"))
    needed = case.workload["spec"].get("replicas", 1)
    expected = found.verdict(needed)
    grade = _GRADES.get((expected, answer.verdict), "right" if expected == answer.verdict else "imprecise")
    if expected == answer.verdict == "partial" and answer.replicas.at_most < found.most:
        grade = "wrong alarm"
    if expected == answer.verdict == "partial" and answer.replicas.at_most > found.most:
        grade = "imprecise"
    return Graded(grade, expected, answer.verdict, answer.cause, found)


def shrunk(case: Case, seed: int) -> Case:
    """A smaller case with the same grade and answer, after a few hundred tries at most."""
    start = graded(case, random.Random(seed))

    def same(candidate: Case) -> bool:
        if next(tries, None) is None:
            return False
        try:
            after = graded(candidate, random.Random(seed))
        except (KeyError, StopIteration, IndexError, ValueError):
            return False
        return (after.grade, after.answered) == (start.grade, start.answered)

    at, tries = 0, iter(range(MOST_TRIES))
    while True:
        candidates = list(_smaller(case))
        at = next((i for i in range(at, len(candidates)) if same(candidates[i])), len(candidates))
        if at == len(candidates):
            break
        case = candidates[at]
    return case


def _smaller(case: Case) -> Iterator[Case]:
    data = json.dumps(case._asdict())

    def paths(node: Any, at: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        items: Iterable[tuple[Any, Any]] = ()
        if isinstance(node, dict):
            items = node.items()
        elif isinstance(node, list):
            items = enumerate(node)
        for key, value in items:
            yield (*at, key)
            yield from paths(value, (*at, key))

    kept = {"metadata", "containers", "apiVersion", "kind", "name", "template", "spec", "catalog", "workload", "pools"}
    kept |= {"version", "provides", "nodeClassRef", "requirements", "status", "allocatable", "capacity", "selector"}
    kept |= {"cpu", "pods", "memory", "key", "effect", "operator", "topologyKey", "instanceTypes", "offerings"}
    kept |= {"labels", "daemons", "nodes", "zone", "capacityType", "values", "labelSelector", "matchLabels", "app"}
    kept |= {
        ARCH,
        OS,
        "beta.kubernetes.io/arch",
        HOST,
        ZONE,
        "matchExpressions",
        "image",
        "maxSkew",
        "whenUnsatisfiable",
    }
    for path in paths(json.loads(data), ()):
        if path[-1] in kept and path[-2:-1] != ("nodeSelector",):
            continue
        copy = json.loads(data)
        if path == ("other",):
            copy["other"] = None
        else:
            holder = copy
            for step in path[:-1]:
                holder = holder[step]
            del holder[path[-1]]
        yield Case(**copy)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--topology", action="store_true", help="several pods with rules between them")
    parser.add_argument("--show", default="wrong alarm", help="the grade of which cases are printed, shrunk")
    parser.add_argument("--most", type=int, default=3, help="how many of them at most")
    options = parser.parse_args()
    grades: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    shown: dict[int, Case] = {}
    for number in range(options.cases):
        seed = options.seed * 1_000_000 + number
        case = random_case(random.Random(seed), options.topology)
        found = graded(case, random.Random(seed))
        grades[found.grade] += 1
        if found.grade != "right":
            pairs[f"{found.grade}: {found.expected} answered {found.answered} ({found.cause})"] += 1
        if found.grade == options.show and len(shown) < options.most:
            shown[seed] = case
    print(f"{options.cases} cases: " + ", ".join(f"{count} {grade}" for grade, count in grades.most_common()))
    for pair, count in pairs.most_common():
        print(f"  {count:6} {pair}")
    for seed, case in shown.items():
        small = shrunk(case, seed)
        print(seed, graded(small, random.Random(seed)))
        print(json.dumps(small._asdict()))
    return 1 if grades["wrong alarm"] else 0


if __name__ == "__main__":
    sys.exit(main())
