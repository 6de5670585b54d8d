"""The generator writes a module that imports and fixtures in the folder of the rule."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from unpend.rule import Rule
from unpend.testing import SECTIONS, sections

TOOL = Path(__file__).resolve().parents[2] / "tools" / "new_rule.py"


def _new_rule(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), "--root", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_writes_a_rule_with_a_page_and_fixtures(tmp_path: Path) -> None:
    done = _new_rule(tmp_path, "cold-start", "slow-thing", "--severity", "info")
    assert done.returncode == 0, done.stderr
    path = tmp_path / "rules" / "unpend_rules" / "cold_start" / "slow_thing.py"
    spec = importlib.util.spec_from_file_location("slow_thing", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rule = module.RULE
    assert isinstance(rule, Rule)
    assert (rule.name, rule.topic, rule.severity) == ("slow-thing", "cold-start", "info")
    assert tuple(sections(rule.doc)) == SECTIONS
    assert {p.name for p in (tmp_path / "fixtures/rules/slow-thing").iterdir()} == {"bad.yaml", "good.yaml"}


def test_it_overwrites_nothing_and_refuses_other_names(tmp_path: Path) -> None:
    assert _new_rule(tmp_path, "taints", "slow-thing").returncode == 0
    again = _new_rule(tmp_path, "taints", "slow-thing")
    assert again.returncode == 2
    assert "exists already" in again.stderr
    assert _new_rule(tmp_path, "taints", "SlowThing").returncode == 2
