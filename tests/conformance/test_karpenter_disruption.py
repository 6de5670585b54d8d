"""What Karpenter may disrupt, against the facts that its own tests state (`unpend.disruption`)."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import unpend
from unpend.disruption.candidates import DisruptionReport

FILE = Path(__file__).parents[2] / "fixtures" / "conformance" / "karpenter" / "disruption.jsonl"
CASES = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
BLIND = [case for case in CASES if case["static"] == "no"]
STATIC = [case for case in CASES if case["static"] != "no"]

EXCEPTIONS: dict[str, str] = {}
"""Cases that are themselves wrong, by id, each with the reason and a public source."""


def having(*keys: str) -> list[dict[str, Any]]:
    return [c for c in STATIC if any(key in c["expect"] for key in keys) and c["id"] not in EXCEPTIONS]


def answer(case: dict[str, Any]) -> DisruptionReport:
    objects = [o for key in ("nodePools", "daemonSets", "nodes", "boundPods", "volumes", "pods") for o in case[key]]
    options = case.get("options") or {}
    now = options.get("now")
    settings = unpend.Settings(now=datetime.fromisoformat(now.replace("Z", "+00:00")) if now else None)
    return unpend.disruption([*objects, *case["extraObjects"]], settings)


@pytest.mark.parametrize("case", having("candidate"), ids=lambda c: c["id"])
def test_candidates(case: dict[str, Any]) -> None:
    report = answer(case)
    asked = case["expect"]["disruptionClass"]
    for name, wanted in case["expect"]["candidate"].items():
        found = report.node(name, asked)
        assert found is not None
        assert (found.candidate, bool(found.blockers)) == (wanted, not wanted), found


@pytest.mark.parametrize("case", having("allowedDisruptions"), ids=lambda c: c["id"])
def test_budgets(case: dict[str, Any]) -> None:
    report = answer(case)
    assert {p.pool: p.allowed_disruptions for p in report.pools} == case["expect"]["allowedDisruptions"]


def test_no_case_is_forgotten() -> None:
    assert len(CASES) == 64
    assert (len(having("candidate")), len(having("allowedDisruptions")), len(having("verdict"))) == (19, 2, 29)
    assert len(BLIND) == 14


def test_moves_are_compared_without_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    """A static tool names blockers and simulates no consolidation: what it can say is that a node has to stay."""
    tally: Counter[str] = Counter()
    for case in having("verdict"):
        report = answer(case)
        kind = "eventual" if case["topic"] == "drift" else "graceful"
        for name, wanted in case["expect"]["verdict"].items():
            found = report.node(name, kind)  # type: ignore[arg-type]
            says = "keep" if found is None or not found.candidate else "move"
            outcome = "agrees" if (says == "keep") == (wanted == "keep") else f"says {says}, is {wanted}"
            tally[outcome] += 1
            # What is named as a blocker really blocks: the reverse needs a simulation.
            assert not (says == "keep" and wanted != "keep"), (case["id"], name, found)
    with capsys.disabled():
        print("\nconsolidation and drift by node:", dict(tally))
