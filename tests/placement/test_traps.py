"""The traps of `docs/semantics/kube-scheduler.md` §20: each fixture says in its first lines what the answer is."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import unpend
from unpend.model.reading import read_objects
from unpend.placement.evaluate import evaluate_inventory
from unpend.settings import Settings, World
from unpend.source.reading import read_text

FOLDER = Path(__file__).parents[2] / "fixtures" / "traps" / "scheduler"
EXPECT = re.compile(r"# expect: (\S+) (\S+)((?: \S+)*)$", re.MULTILINE)
FINDING = re.compile(r"# finding: (\S+)$", re.MULTILINE)


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
    for name, verdict, rest in expected:
        answer = answers[name]
        cause, conflict = None, None
        for word in rest.split():
            if word.startswith("conflict="):
                conflict = word.removeprefix("conflict=").split(",")
            elif word.startswith("placeable="):
                assert answer.replicas.at_most == int(word.removeprefix("placeable="))
            else:
                cause = word
        assert (answer.verdict, answer.cause) == (verdict, cause)
        if conflict is not None:
            assert [o.constraint for o in answer.conflict] == conflict
        if verdict == "never":
            assert answer.conflict
            assert all(o.place is not None and o.place.location() is not None for o in answer.conflict)
            assert answer.cause in ("rejected", *(o.cause for o in answer.conflict))
        opened = evaluate_inventory(read_objects(reading.objects, settings), replace(settings, world=World()))
        again = {v.workload.split("/")[-1]: v for v in opened}[name]
        if verdict in ("never", "partial") and cause != "rejected" and not name.startswith(("agent", "lost")):
            # Nodes that nobody described may exist: nothing is sure, and the reason is still given.
            assert (again.verdict, again.cause) == ("conditional", "unknown-fact")
            if all(fact.name == "other-pools" for fact in again.facts):
                assert again.conflict == answer.conflict
    wanted = set(FINDING.findall(text))
    if wanted:
        assert wanted <= {finding.rule for finding in unpend.check(text, settings).findings}
