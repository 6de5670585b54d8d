"""The traps of `docs/semantics/karpenter.md` §11.1 and §11.2: the first lines of a fixture say what the answer is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import unpend
from unpend.settings import Settings, World

FOLDER = Path(__file__).parents[2] / "fixtures" / "traps" / "karpenter"
EXPECT = re.compile(r"^# expect: (\S+) (\S+) (\S+)(?: placeable=(\d+))?$", re.MULTILINE)
FINDING = re.compile(r"^# finding: (\S+)$", re.MULTILINE)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_trap(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    result = unpend.check(text, Settings(world=World.all_closed(), admission="all"))
    answers = {v.workload.split("/")[-1]: v for v in result.workloads}
    expected = EXPECT.findall(text)
    assert len(expected) == text.count("# expect: ")
    for name, verdict, cause, placeable in expected:
        answer = answers[name]
        assert (answer.verdict, answer.cause) == (verdict, None if cause == "null" else cause)
        if placeable:
            assert answer.replicas.at_most == int(placeable)
        if verdict in ("never", "loop", "partial"):
            assert answer.conflict
            assert all(o.place is not None and o.place.location() is not None for o in answer.conflict)
        if verdict == "never":
            causes = {o.cause for o in answer.conflict}
            assert answer.cause in ("rejected", "pool-unusable", "autoscaler-refuses", *causes)
        if verdict == "conditional":
            assert answer.facts
        if verdict == "fits":
            assert answer.witness is not None or name in ("exporter", "agent", *(f"agent-{i}" for i in range(9)))
    assert set(FINDING.findall(text)) <= {finding.rule for finding in result.findings}
