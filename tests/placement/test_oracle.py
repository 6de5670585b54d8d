"""Verdicts on Nodes against a naive oracle that asks every node by itself, written straight from the rules."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import unpend
from unpend.model.admission import admit
from unpend.model.reading import read_objects
from unpend.placement.conflict import conflict, minimal
from unpend.placement.demand import demand_of
from unpend.placement.evaluate import evaluate_inventory
from unpend.placement.fixed import fixed_nodes
from unpend.placement.repair import MOST_CHANGES
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import Settings, World
from unpend.source.document import objects_of

Json = dict[str, Any]
CLOSED = Settings(world=World.all_closed(), admission="none")

KEYS = ("zone", "pool", "cores")
VALUES = ("a", "b", "1", "02", "7", "x.5")
TAINTS = [
    {"key": key, "effect": effect, **({"value": value} if value else {})}
    for key in ("gpu", "spot")
    for value in ("", "x")
    for effect in ("NoSchedule", "NoExecute", "PreferNoSchedule")
]
RESOURCES = ("cpu", "memory", "nvidia.com/gpu")


def number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def expression_holds(expression: Json, labels: dict[str, str]) -> bool:
    value, values = labels.get(expression["key"]), expression.get("values", [])
    match expression["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case operator:
            have, bound = number(value), number(values[0])
            if have is None or bound is None:
                return False
            return have > bound if operator == "Gt" else have < bound


def parses(expression: Json) -> bool:
    return expression["operator"] not in ("Gt", "Lt") or number(expression["values"][0]) is not None


def term_holds(term: Json, node: Json) -> bool:
    expressions, fields = term.get("matchExpressions", []), term.get("matchFields", [])
    if (not expressions and not fields) or not all(parses(e) for e in expressions):
        return False
    names = all((node["metadata"]["name"] == f["values"][0]) == (f["operator"] == "In") for f in fields)
    return names and all(expression_holds(e, node["metadata"]["labels"]) for e in expressions)


def tolerated(taint: Json, tolerations: list[Json]) -> bool:
    return any(
        t.get("effect") in (None, taint["effect"])
        and t.get("key") in (None, taint["key"])
        and (t.get("operator") == "Exists" or t.get("value", "") == taint.get("value", ""))
        for t in tolerations
    )


def accepts(node: Json, pod: Json, bound: list[Json]) -> bool:
    spec, labels = pod["spec"], node["metadata"]["labels"]
    here = [other for other in bound if other["spec"]["nodeName"] == node["metadata"]["name"]]
    tolerations = spec.get("tolerations", [])
    taints = [t for t in node["spec"].get("taints", []) if t["effect"] != "PreferNoSchedule"]
    if node["spec"].get("unschedulable"):
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    if not all(tolerated(t, tolerations) for t in taints):
        return False
    if any(labels.get(key) != value for key, value in spec.get("nodeSelector", {}).items()):
        return False
    affinity = spec.get("affinity")
    if affinity is not None:
        terms = affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        if not any(term_holds(term, node) for term in terms):
            return False
    if any(ports_of(pod) & ports_of(other) for other in here):
        return False
    allocatable = node["status"]["allocatable"]
    if len(here) + 1 > int(allocatable.get("pods", 0)):
        return False
    for resource in RESOURCES:
        wanted = requests_of(pod).get(resource, 0)
        free = int(allocatable.get(resource, 0)) - sum(requests_of(other).get(resource, 0) for other in here)
        if wanted > 0 and wanted > free:
            return False
    return True


def ports_of(pod: Json) -> set[int]:
    return {p["hostPort"] for c in pod["spec"]["containers"] for p in c.get("ports", [])}


def requests_of(pod: Json) -> dict[str, int]:
    return {k: int(v) for k, v in pod["spec"]["containers"][0]["resources"]["requests"].items()}


labels = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=3)
amounts = st.dictionaries(st.sampled_from(RESOURCES), st.integers(0, 9).map(str), max_size=3)


@st.composite
def nodes(draw: st.DrawFn) -> list[Json]:
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{i}", "labels": draw(labels)},
            "spec": {
                "taints": draw(st.lists(st.sampled_from(TAINTS), max_size=2, unique_by=str)),
                "unschedulable": draw(st.integers(0, 9)) == 0,
            },
            "status": {"allocatable": {**draw(amounts), "pods": str(draw(st.sampled_from([0, 1, 2, 9, 9, 9])))}},
        }
        for i in range(draw(st.integers(1, 5)))
    ]


@st.composite
def expressions(draw: st.DrawFn) -> Json:
    operator = draw(st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]))
    most = {"In": 2, "NotIn": 2, "Gt": 1, "Lt": 1}.get(operator, 0)
    values = draw(st.lists(st.sampled_from(VALUES), min_size=min(most, 1), max_size=most, unique=True))
    return {"key": draw(st.sampled_from(KEYS)), "operator": operator, **({"values": values} if values else {})}


@st.composite
def terms(draw: st.DrawFn) -> Json:
    term: Json = {}
    if draw(st.integers(0, 3)):
        term["matchExpressions"] = draw(st.lists(expressions(), max_size=2))
    if draw(st.integers(0, 4)) == 0:
        operator = draw(st.sampled_from(["In", "NotIn"]))
        term["matchFields"] = [
            {"key": "metadata.name", "operator": operator, "values": [draw(st.sampled_from(["n0", "n1"]))]}
        ]
    return term


@st.composite
def tolerations(draw: st.DrawFn) -> Json:
    toleration: Json = {"operator": draw(st.sampled_from(["Equal", "Exists"]))}
    if toleration["operator"] == "Equal" or draw(st.integers(0, 3)):
        toleration["key"] = draw(st.sampled_from(["gpu", "spot"]))
    if toleration["operator"] == "Equal" and draw(st.booleans()):
        toleration["value"] = "x"
    if draw(st.booleans()):
        toleration["effect"] = draw(st.sampled_from(["NoSchedule", "NoExecute"]))
    return toleration


def container(requests: dict[str, str], port: int) -> Json:
    made: Json = {"name": "c", "image": "i", "resources": {"requests": requests, "limits": requests}}
    return {**made, "ports": [{"containerPort": port, "hostPort": port}]} if port else made


@st.composite
def pods(draw: st.DrawFn) -> Json:
    spec: Json = {"containers": [container(draw(amounts), draw(st.sampled_from([0, 0, 80, 81])))]}
    spec["tolerations"] = draw(st.lists(tolerations(), max_size=2))
    spec["nodeSelector"] = draw(st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=1))
    if draw(st.booleans()):
        required = {"nodeSelectorTerms": draw(st.lists(terms(), min_size=1, max_size=3))}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


@st.composite
def bound_pods(draw: st.DrawFn) -> list[Json]:
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"b{i}"},
            "spec": {
                "nodeName": draw(st.sampled_from(["n0", "n1", "gone"])),
                "containers": [container(draw(amounts), draw(st.sampled_from([0, 80])))],
            },
        }
        for i in range(draw(st.integers(0, 3)))
    ]


def answered(objects: list[Json]) -> WorkloadVerdict:
    (verdict,) = evaluate_inventory(read_objects(objects_of(objects), CLOSED), CLOSED)
    return verdict


@settings(max_examples=150, deadline=None)
@given(nodes(), pods(), bound_pods())
def test_every_node_is_answered_as_the_oracle_does(cluster: list[Json], pod: Json, bound: list[Json]) -> None:
    verdict = answered([*cluster, *bound, pod])
    truth = [f"Node/{n['metadata']['name']}" for n in cluster if accepts(n, pod, bound)]
    assert [p.pool for p in verdict.pools if p.verdict == "fits"] == truth
    assert all(bool(p.obstacles) is (p.verdict != "fits") for p in verdict.pools)
    assert verdict.verdict == ("fits" if truth else "never")
    assert (verdict.witness.pool if verdict.witness else None) == (truth[0] if truth else None)
    assert bool(verdict.conflict) is not bool(truth)
    if truth:
        assert verdict.nearest is None
    elif verdict.nearest is not None:
        assert 1 <= len(verdict.nearest.changes) <= MOST_CHANGES


@settings(max_examples=80, deadline=None)
@given(nodes(), pods(), bound_pods())
def test_a_conflict_is_minimal(cluster: list[Json], pod: Json, bound: list[Json]) -> None:
    """Nothing can be spared, and its constraints alone already leave no node: proved on masks of single constraints."""
    inventory = read_objects(objects_of([*cluster, *bound, pod]), CLOSED)
    space = fixed_nodes(inventory, CLOSED).space
    demand = demand_of(admit(inventory.workloads[0], inventory, CLOSED))
    atoms = minimal(demand, space)
    found = conflict(demand, space)
    assert len(found) == len(atoms)
    # Every obstacle points at a node which only that constraint refuses, so that they are as many different ones.
    owners = [o.against.object for o in found if o.against is not None and o.against.object.startswith("Node/")]
    assert len(set(owners)) == len(owners)
    order = ["labels", "taint", "ports", "resources"]
    assert [o.cause for o in found] == sorted((o.cause for o in found), key=order.index)


@settings(max_examples=50, deadline=None)
@given(nodes(), pods(), bound_pods(), st.randoms(use_true_random=False))
def test_the_order_of_nodes_changes_no_answer(cluster: list[Json], pod: Json, bound: list[Json], random: Any) -> None:
    verdict = answered([*cluster, *bound, pod])
    shuffled = list(cluster)
    random.shuffle(shuffled)
    again = answered([*shuffled, *bound, pod])
    assert (verdict.verdict, verdict.replicas) == (again.verdict, again.replicas)
    assert {p.pool: p.verdict for p in verdict.pools} == {p.pool: p.verdict for p in again.pools}


def test_a_pod_that_only_needs_a_slot() -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n"},
        "status": {"allocatable": {"pods": "1"}},
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
    (verdict,) = unpend.evaluate([node, pod])
    assert verdict.verdict == "fits"
