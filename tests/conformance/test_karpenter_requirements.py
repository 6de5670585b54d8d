"""Karpenter's requirement arithmetic and small units against the facts that its own tests state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from unpend.algebra.quantity import milli
from unpend.disruption.eviction_cost import DELETION_COST, eviction_cost
from unpend.model.karpenter_labels import CORE_WELL_KNOWN
from unpend.placement.karpenter.capacity import Offering, allocatable, offering_groups
from unpend.placement.karpenter.host_ports import conflict
from unpend.placement.karpenter.node_taints import is_ephemeral
from unpend.placement.karpenter.overlay import adjusted_price
from unpend.placement.karpenter.requirement import Entry, Requirement, requirement
from unpend.placement.karpenter.requirements import Requirements, min_values_met

FOLDER = Path(__file__).parents[2] / "fixtures" / "conformance" / "karpenter"
WELL_KNOWN = CORE_WELL_KNOWN | {"size", "special", "integer", "karpenter.test.sh/reservation-id"}


def load(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


def one(written: Mapping[str, Any]) -> Requirement:
    return requirement(written["key"], written["operator"], tuple(written.get("values", ())), written.get("minValues"))


def several(written: Any) -> Requirements:
    return Requirements.of(one(entry) for entry in (written if isinstance(written, list) else [written]))


def shown(entry: Entry) -> dict[str, Any]:
    result: dict[str, Any] = {"key": entry.key, "operator": entry.operator}
    if entry.values:
        result["values"] = list(entry.values)
    if entry.min_values is not None:
        result["minValues"] = entry.min_values
    return result


def intersection(fact: dict[str, Any]) -> dict[str, Any]:
    both = one(fact["a"]).intersection(one(fact["b"]))
    optional = {"gte": both.gte, "lte": both.lte, "minValues": both.min_values}
    return {
        "operator": both.operator,
        "values": sorted(both.values),
        **{key: value for key, value in optional.items() if value is not None},
    }


def intersects(fact: dict[str, Any]) -> dict[str, Any]:
    a, b = one(fact["a"]), one(fact["b"])
    lenient = several(fact["a"]).clash(several(fact["b"])) is None
    return {"expect": a.overlaps(b), "lenient": lenient}


def compatible(fact: dict[str, Any]) -> dict[str, Any]:
    undefined = WELL_KNOWN if fact["allowUndefined"] == "wellknown" else frozenset[str]()
    clash = several(fact["a"]).incompatibility(several(fact["b"]), undefined)
    return {"expect": clash is None, "hint": clash.hint if clash and "hint" in fact else fact.get("hint")}


def has(fact: dict[str, Any]) -> bool:
    entries = fact["a"] if isinstance(fact["a"], list) else [fact["a"]]
    return several(fact["a"]).get(entries[0]["key"]).has(fact["b"])


def length(fact: dict[str, Any]) -> dict[str, Any]:
    it = one(fact["a"])
    return {
        "finite": not it.complement,
        "count": None if it.complement else it.length,
        "excluded": len(it.values) if it.complement else None,
        "int64": str(it.length),
    }


def min_values(fact: dict[str, Any]) -> dict[str, Any]:
    if isinstance(fact["a"], dict):
        return {"minValues": one(fact["a"]).intersection(one(fact["b"])).min_values}
    met = min_values_met(several(fact["a"]), [kind["labels"] for kind in fact["b"]])
    return {"satisfied": met.is_met, "typesNeeded": met.needed, "short": met.short}


def answer(fact: dict[str, Any]) -> Any:
    """What unpend says to a fact, in the shape of the whole line without the question."""
    op = fact["op"]
    if op == "toSelector":
        return [shown(entry) for entry in several(fact["a"]).entries()]
    if op == "normalize":
        return next(iter(several(fact["a"]))).key
    if op == "operator":
        return one(fact["a"]).operator
    answers = {"intersection": intersection, "has": has, "length": length, "minvalues": min_values}
    return answers[op](fact)


def agrees(fact: dict[str, Any]) -> bool:
    if fact["op"] == "intersects":
        return intersects(fact) == {"expect": fact["expect"], "lenient": fact["lenient"]}
    if fact["op"] == "compatible":
        return compatible(fact) == {"expect": fact["expect"], "hint": fact.get("hint")}
    return bool(answer(fact) == fact["expect"])


def test_every_requirement_fact() -> None:
    facts = load("requirements.jsonl")
    assert len(facts) == 978
    assert [fact["id"] for fact in facts if not agrees(fact)] == []


class Taint(NamedTuple):
    key: str
    value: str
    effect: str


class Port(NamedTuple):
    host_ip: str
    host_port: int
    protocol: str


def amounts(written: Mapping[str, str]) -> dict[str, int]:
    return {name: milli(text) for name, text in written.items()}


def parts(written: Mapping[str, Mapping[str, str]]) -> list[dict[str, int]]:
    return [amounts(part) for part in written.values()]


def port(written: Mapping[str, Any]) -> Port:
    return Port(written["hostIP"], written["hostPort"], written["protocol"])


def check_unit(fact: dict[str, Any]) -> None:
    expect = fact["expect"]
    if fact["op"] == "ephemeralTaint":
        written = fact["taint"]
        assert is_ephemeral(Taint(written["key"], written.get("value", ""), written["effect"]), (1, 14)) is expect
    elif fact["op"] == "hostPortConflict":
        a, b = port(fact["a"]), port(fact["b"])
        assert conflict(a, b) is expect
        assert conflict(b, a) is expect
    elif fact["op"] == "allocatable":
        left = allocatable(amounts(fact["capacity"]), parts(fact["overhead"]))
        assert {name: left[name] for name in expect} == amounts(expect)
    elif fact["op"] == "allocatableGroups":
        check_groups(fact)
    elif fact["op"] == "adjustedPrice":
        assert adjusted_price(fact["price"], fact["adjustment"]) == expect
    else:
        assert fact["op"] == "evictionCost"
        cost = eviction_cost(fact["pod"].get("annotations", {}).get(DELETION_COST), fact["pod"].get("priority"))
        value = expect["value"]
        assert {"==": cost == value, ">": cost > value, "<": cost < value}[expect["relation"]]


def check_groups(fact: dict[str, Any]) -> None:
    offerings = [
        Offering(
            written["available"],
            amounts(written.get("capacityOverride", {})),
            tuple(parts(written["overheadOverride"])) if "overheadOverride" in written else None,
        )
        for written in fact["offerings"]
    ]
    groups = offering_groups(amounts(fact["capacity"]), parts(fact["overhead"]), offerings)
    assert len(groups) == len(fact["expect"])
    for group, expect in zip(groups, fact["expect"], strict=True):
        assert len(group.offerings) == expect.pop("offerings")
        assert {name: group.allocatable.get(name, 0) for name in expect} == amounts(expect)


UNITS = load("units.jsonl")


@pytest.mark.parametrize("fact", UNITS, ids=[fact["id"] for fact in UNITS])
def test_every_unit_fact(fact: dict[str, Any]) -> None:
    check_unit(fact)


def test_there_are_as_many_unit_facts_as_known() -> None:
    assert len(UNITS) == 29
