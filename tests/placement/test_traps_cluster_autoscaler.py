"""The traps of `docs/semantics/cluster-autoscaler.md` §10: each fixture says in its first lines what the answer is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import unpend
from unpend.settings import Settings, World

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "fixtures" / "traps" / "cluster-autoscaler"
EXPECT = re.compile(r"# expect: (\S+) (\S+)((?: \S+)*)$", re.MULTILINE)
FINDING = re.compile(r"# finding: (\S+)$", re.MULTILINE)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_trap(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    result = unpend.check(text, Settings(world=World.all_closed(), admission="all"))
    answers = {v.workload.split("/")[-1]: v for v in result.workloads}
    expected = EXPECT.findall(text)
    assert expected
    for name, verdict, rest in expected:
        answer = answers[name]
        words = rest.split()
        for word in [w for w in words if w.startswith("placeable=")]:
            assert answer.replicas.at_most == int(word.removeprefix("placeable="))
        causes = [w for w in words if "=" not in w]
        assert (answer.verdict, answer.cause) == (verdict, causes[0] if causes else None)
        if verdict in ("never", "loop"):
            assert answer.conflict
    assert set(FINDING.findall(text)) <= {finding.rule for finding in result.findings}


def test_the_table_of_traps_is_complete_and_up_to_date() -> None:
    command = [sys.executable, str(ROOT / "tools" / "gen_trap_table.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0
