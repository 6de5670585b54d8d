"""What rules say of the placement of a workload is never more than what the real kube-scheduler did."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from unpend.engine.needs import Needs
from unpend.engine.registry import load_registry
from unpend.model.reading import read_objects
from unpend.rule import Facts
from unpend.settings import Settings, World
from unpend.source.document import objects_of

CORPUS = Path(__file__).parents[2] / "fixtures" / "conformance" / "scheduler"
REGISTRY = load_registry()
NAMES = [
    name for name, entry in REGISTRY.entries.items() if entry.topic in ("topology", "affinity", "zones", "resources")
]


def cases(name: str, step: int) -> list[dict[str, Any]]:
    with gzip.open(CORPUS / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in islice(lines, 0, None, step)]


def claims(case: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Every finding that some pods surely find no place: rule, verdict that it speaks of, workload."""
    workloads = case["workloads"] if "workloads" in case else [case["workload"]]
    objects = [*case["nodes"], *case.get("bound_pods", ()), *case.get("namespaces", ()), *workloads]
    settings = Settings(world=World.all_closed(), admission="templates")
    facts = Facts(read_objects(objects_of(objects), settings), settings)
    needs = Needs(facts.inventory, settings)
    found = []
    for name in NAMES:
        if needs.missing(REGISTRY.entries[name].needs) is not None:
            continue
        rule = REGISTRY.load(name)
        for finding in rule.check(facts, {option.name: option.default for option in rule.options}):
            if finding.subject[:1] == ("placement",) and finding.verdict in ("never", "partial"):
                assert finding.workload is not None
                found.append((name, finding.verdict, finding.workload))
    return found


@pytest.mark.parametrize("case", cases("replicas.jsonl.gz", 8), ids=lambda case: case["id"])
def test_single_workloads(case: dict[str, Any]) -> None:
    needed = case["wanted"]
    for rule, verdict, _ in claims(case):
        assert case["placeable"] < needed, rule
        assert verdict != "never" or case["placeable"] == 0, rule


@pytest.mark.parametrize("case", cases("pairs.jsonl.gz", 12), ids=lambda case: case["id"])
def test_pairs(case: dict[str, Any]) -> None:
    needed = {w["metadata"]["name"]: w["spec"]["replicas"] for w in case["workloads"]}
    for rule, _, workload in claims(case):
        name = workload.rsplit("/", 1)[-1]
        assert case["placeable"][name] < needed[name], rule
