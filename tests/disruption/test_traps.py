"""The traps of `karpenter.md` §11.3 and those about scale-down of `cluster-autoscaler.md` §10: which rule sees them.

`# expect: RULE` marks the line of a finding; the rules after `# silent:` must not speak at all.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from unpend.config.load import read_config
from unpend.testing import check_text, expectations

FOLDER = Path(__file__).parents[2] / "fixtures" / "traps" / "disruption"
FILES = sorted(p for p in FOLDER.glob("*.yaml") if not p.name.endswith(".unpend.yaml"))
SILENT = re.compile(r"^# silent: (.+)$", re.MULTILINE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_trap(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    wanted = {(e.line, e.rule) for e in expectations(text)}
    assert wanted
    silent = {name for line in SILENT.findall(text) for name in line.split()}
    config = path.with_name(f"{path.stem}.unpend.yaml")
    read = read_config(config.read_text(encoding="utf-8")) if config.exists() else None
    watched = {rule for _, rule in wanted} | silent
    result = check_text(text, sorted(watched), config=read)
    found = {
        (f.location.span.start.line + 1, f.rule) for f in result.active if f.location is not None and f.rule in watched
    }
    assert found == wanted


def test_every_trap_of_the_table_is_there() -> None:
    numbers = {int(p.stem[1:3]) for p in FILES if p.stem.startswith("k")}
    assert numbers == set(range(60, 83))
