"""Every rule: its page is true, its fixtures hold, the index is up to date."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from unpend.engine.registry import load_registry
from unpend.rule import Rule
from unpend.testing import SECTIONS, check_docstring, check_fixture, sections

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures" / "rules"
REGISTRY = load_registry()
NAMES = list(REGISTRY.entries)

# It is about a failure of our own, so no manifest shows it.
WITHOUT_EXAMPLE = {"internal-error", "chart-not-rendered"}


@pytest.mark.parametrize("name", NAMES)
def test_the_page_is_true(name: str) -> None:
    rule = REGISTRY.load(name)
    if name in WITHOUT_EXAMPLE:
        assert tuple(sections(rule.doc)) == SECTIONS
    else:
        check_docstring(rule)


@pytest.mark.parametrize("name", NAMES)
def test_the_declaration_is_sound(name: str) -> None:
    rule = REGISTRY.load(name)
    assert isinstance(rule, Rule)
    assert rule.entry == REGISTRY.entries[name]
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name)
    assert not name.startswith(("no-node", "check-"))
    carries = re.search(r"subject=|\b(?:unplaced|illegal|refused)\(", _source(rule))
    assert rule.competes == bool(carries), "`competes` says whether findings carry a subject"
    for option in rule.options:
        assert f"`{option.name}`" in sections(rule.doc)["Options"], "the page names every option"
    if not rule.options:
        assert sections(rule.doc)["Options"].startswith("None")
    assert sections(rule.doc)["References"].strip()


def _source(rule: Rule) -> str:
    spec = importlib.util.find_spec(rule.check.__module__)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [n for n in NAMES if n not in WITHOUT_EXAMPLE])
def test_there_are_bad_and_good_fixtures(name: str) -> None:
    files = [p.name for p in (FIXTURES / name).glob("*.yaml")]
    assert any(f.startswith("bad") for f in files)
    assert any(f.startswith("good") for f in files)


@pytest.mark.parametrize(
    "path",
    sorted(p for p in FIXTURES.glob("*/*.yaml") if not p.name.endswith(".unpend.yaml")),
    ids=lambda p: f"{p.parent.name}/{p.name}",
)
def test_fixture(path: Path) -> None:
    assert path.parent.name in NAMES, "a fixture folder is named after a rule"
    assert path.name.startswith(("bad", "good", "unknown"))
    check_fixture(path, path.parent.name)


def test_the_index_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "gen_rule_index.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr


def test_every_rule_file_is_in_the_index() -> None:
    files = {p.stem.replace("_", "-") for p in (ROOT / "rules/unpend_rules").glob("*/*.py") if p.stem[0] != "_"}
    assert files == set(NAMES)
