"""For authors of rules: check that a page is true and that fixtures say what a rule finds.

A fixture says what it expects on the line it is about; lines are never counted in Python::

    tolerations:
      - {operator: Exists}   # expect: tolerate-everything
    # expect-next: untolerated-taint 17
    nodeSelector: {pool: batch}

`# expect: RULE` is about its own line, `# expect-next: RULE [COLUMN]` about the next line that is not a comment;
several rules are separated by commas, columns count from 1. Fixtures and page examples are judged in a closed world,
unless they bring a config: `NAME.unpend.yaml` beside `NAME.yaml`, `.unpend.yaml` in the folder, or a first block in an
example that begins with the comment `# .unpend.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import NamedTuple

from unpend.config.load import read_config
from unpend.config.model import Config
from unpend.engine.registry import Registry, load_registry
from unpend.engine.result import ReportedFinding, Result
from unpend.engine.run import RunOptions, cluster_input, run
from unpend.records import replace
from unpend.rule import Rule
from unpend.settings import Settings, World
from unpend.source.reading import read_text

SECTIONS = ("What it checks", "Why it matters", "Example", "Instead", "Options", "References")
TODAY = date(2026, 1, 1)
_CONFIG_MARK = "# .unpend.yaml"
_EXPECT = re.compile(r"#\s*expect(-next)?:\s*(.+?)\s*$")
_NAME = re.compile(r"([a-z0-9-]+)(?:\s+(\d+))?\Z")
_BLOCK = re.compile(r"^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Expectation(NamedTuple):
    """A finding that a fixture wants: line and column count from 1; column None means any."""

    line: int
    rule: str
    column: int | None = None


def check_text(
    text: str,
    rules: Iterable[str] = (),
    *,
    config: Config | None = None,
    registry: Registry | None = None,
    uri: str = "fixture.yaml",
) -> Result:
    """Run rules (all that are on by default, when none are named) over a text, in a closed world without a config."""
    options = RunOptions.from_config(config, today=TODAY) if config else RunOptions(today=TODAY)
    options = replace(options, select=tuple(rules) or options.select)
    settings = config.settings() if config else Settings(world=World.all_closed(), now=None)
    return run([cluster_input("", read_text(text, uri), settings, {uri: text})], options, registry)


def sections(doc: str) -> dict[str, str]:
    """The sections of a rule page by title, in the order of the page."""
    parts = re.split(r"^## (.+)$", doc, flags=re.MULTILINE)
    return {title.strip(): body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def yaml_blocks(section: str) -> list[str]:
    """The YAML blocks of a section."""
    return _BLOCK.findall(section)


def check_docstring(rule: Rule, registry: Registry | None = None) -> None:
    """Raise AssertionError unless the page has the six sections in order and its two examples are true.

    *Example* must be reported by the rule, *Instead* must not. A rule without a YAML block in *Example* fails.
    """
    found = sections(rule.doc)
    assert tuple(found) == SECTIONS, f"{rule.name}: sections are {list(found)}, expected {list(SECTIONS)}"
    assert rule.summary.endswith("."), f"{rule.name}: the summary line is a sentence with a full stop"
    for title, wanted in (("Example", True), ("Instead", False)):
        blocks = yaml_blocks(found[title])
        assert blocks, f"{rule.name}: there is no ```yaml block under {title}"
        result = _judge_blocks(blocks, rule.name, registry)
        hits = [f for f in result.active if f.rule == rule.name]
        others = [f.message for f in result.findings if f.rule in ("yaml-syntax", "internal-error")]
        assert bool(hits) == wanted, (
            f"{rule.name}: the block under {title} is {'not reported' if wanted else 'reported'}"
            f"{': ' + hits[0].message if hits else ''}{others or ''}"
        )


def _judge_blocks(blocks: list[str], rule: str, registry: Registry | None) -> Result:
    config = None
    if blocks[0].startswith(_CONFIG_MARK):
        config, blocks = read_config(blocks[0]), blocks[1:]
    return check_text("---\n".join(blocks), (*_companions(rule), rule), config=config, registry=registry)


def _companions(rule: str) -> tuple[str, ...]:
    """A suppression is unused only with regard to rules that were asked."""
    return ("*",) if rule == "unused-suppression" else ()


def expectations(text: str) -> list[Expectation]:
    """What the comments of a fixture expect. Raises AssertionError for a comment that cannot be read."""
    wanted: list[Expectation] = []
    pending: list[tuple[str, int | None]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        match = _EXPECT.search(line)
        if match is None:
            if line.strip() and not line.lstrip().startswith("#"):
                wanted.extend(Expectation(number, rule, column) for rule, column in pending)
                pending = []
            continue
        names = [_NAME.match(part.strip()) for part in match[2].split(",")]
        assert all(names), f"line {number}: cannot read {match[0]!r}"
        named = [(n[1], int(n[2]) if n[2] else None) for n in names if n]
        if match[1]:
            pending.extend(named)
        else:
            wanted.extend(Expectation(number, rule, column) for rule, column in named)
    assert not pending, f"an expect-next without a next line: {pending}"
    return wanted


def check_fixture(path: Path | str, rule: str, registry: Registry | None = None) -> Result:
    """Raise AssertionError unless the comments name exactly the findings of `rule` and of the other rules they name.

    A file called `bad…` must expect the rule, one called `good…` or `unknown…` must not; hints (`info`) are left aside
    in the latter, since in an open world a rule may say what is so as far as it can see.
    """
    path = Path(path)
    text = path.read_text(encoding="utf-8")
    wanted = expectations(text)
    expects = any(e.rule == rule for e in wanted)
    if path.name.startswith("bad"):
        assert expects, f"{path}: a bad fixture has an `# expect: {rule}`"
    else:
        assert not expects, f"{path}: only fixtures called bad… expect the rule"
    registry = registry or load_registry()
    names = sorted({rule, *(e.rule for e in wanted), *_companions(rule)})
    result = check_text(text, names, config=_config_of(path), registry=registry, uri=path.name)
    watched = {rule, *(e.rule for e in wanted)} | {"internal-error"}
    found = [f for f in result.active if f.rule in watched]
    if path.name.startswith("unknown"):
        found = [f for f in found if f.severity != "info" or any(_meets(f, e) for e in wanted)]
    missing = [e for e in wanted if not any(_meets(f, e) for f in found)]
    surplus = [f for f in found if not any(_meets(f, e) for e in wanted)]
    if missing or surplus or len(found) != len(wanted):
        raise AssertionError(_difference(path, missing, surplus, found))
    return result


def check_fixtures(folder: Path | str, rule: str, registry: Registry | None = None) -> None:
    """`check_fixture` for every YAML file of a folder; there must be a `bad…` and a `good…` one."""
    files = sorted(p for p in Path(folder).glob("*.yaml") if not p.name.endswith(".unpend.yaml"))
    for kind in ("bad", "good"):
        assert any(p.name.startswith(kind) for p in files), f"{folder}: there is no {kind}*.yaml"
    for path in files:
        check_fixture(path, rule, registry)


def _config_of(path: Path) -> Config | None:
    for candidate in (path.with_name(f"{path.stem}.unpend.yaml"), path.with_name(".unpend.yaml")):
        if candidate.exists():
            return read_config(candidate.read_text(encoding="utf-8"), candidate.name)
    return None


def _meets(finding: ReportedFinding, wanted: Expectation) -> bool:
    if finding.rule != wanted.rule or finding.location is None:
        return False
    start = finding.location.span.start
    return start.line + 1 == wanted.line and wanted.column in (None, start.column + 1)


def _difference(
    path: Path, missing: list[Expectation], surplus: list[ReportedFinding], found: list[ReportedFinding]
) -> str:
    lines = [f"{path}:"]
    lines.extend(f"  expected but not found: line {e.line} {e.rule} {e.column or ''}".rstrip() for e in missing)
    lines.extend(f"  found but not expected: {_shown(f)}" for f in surplus)
    if not missing and not surplus:
        lines.append("  more findings than expectations on one line:")
        lines.extend(f"  {_shown(f)}" for f in found)
    return "\n".join(lines)


def _shown(finding: ReportedFinding) -> str:
    start = finding.location.span.start if finding.location else None
    where = f"line {start.line + 1} column {start.column + 1}" if start else "no place"
    return f"{where} {finding.rule}: {finding.message}"
