"""What `unpend.disruption` gives has the published shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import unpend
from unpend_schemas import load_json

CASES = Path(__file__).parents[2] / "fixtures" / "conformance" / "karpenter" / "disruption.jsonl"
SCHEMA = load_json("disruption.schema.json")


KINDS = ("nodePools", "daemonSets", "nodes", "boundPods", "volumes", "pods", "extraObjects")


def snapshots() -> list[list[dict[str, Any]]]:
    """The objects of every case."""
    cases = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [[one for kind in KINDS for one in case.get(kind, ())] for case in cases]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_answer_has_the_published_shape() -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    nodes = blockers = pools = 0
    for objects in snapshots():
        answer = unpend.disruption(objects).to_dict()
        validator.validate(json.loads(json.dumps(answer)))
        nodes += len(answer["nodes"])
        pools += len(answer["pools"])
        blockers += sum(len(node["blockers"]) for node in answer["nodes"])
    assert nodes
    assert pools
    assert blockers


@pytest.mark.parametrize("wrong", [{"nodes": []}, {"nodes": [], "pools": [], "more": 1}])
def test_other_shapes_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(wrong)
