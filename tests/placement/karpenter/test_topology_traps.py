"""Topology traps and worked examples of `docs/semantics/karpenter.md` §11.1, §12.1: each fixture states its answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from unpend.model.reading import read_objects
from unpend.placement.evaluate import evaluate_inventory
from unpend.settings import Settings, World
from unpend.source.reading import read_text

FOLDER = Path(__file__).parents[3] / "fixtures" / "traps" / "karpenter" / "topology"
EXPECT = re.compile(r"# expect: (\S+) (\S+)(?: ([a-z-]+))?(?: placeable=(\d+))?$", re.MULTILINE)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_trap(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    settings = Settings(world=World.all_closed(), admission="all")
    reading = read_text(text, path.name)
    assert not reading.troubles
    verdicts = evaluate_inventory(read_objects(reading.objects, settings), settings)
    answers = {v.workload.split("/")[-1]: v for v in verdicts}
    expected = EXPECT.findall(text)
    assert expected
    for name, verdict, cause, placeable in expected:
        answer = answers[name]
        assert (answer.verdict, answer.cause) == (verdict, cause or None)
        if placeable:
            assert answer.replicas.at_most == int(placeable)
        if verdict in ("never", "partial") and cause != "limits":
            assert answer.conflict
            assert all(o.place is not None and o.place.location() is not None for o in answer.conflict)
        if verdict == "conditional":
            assert answer.facts
