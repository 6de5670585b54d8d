from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unpend.engine.baseline import BaselineError, Entry, parse, written

Run = Callable[..., Any]
FILE = ".unpend-baseline.yaml"
CHECK = ("check", "app.yaml", "--pools", "nodes.yaml", "--baseline", FILE)
WRITE = ("baseline", "write", "app.yaml", "--pools", "nodes.yaml")


def test_what_is_written_does_not_count_any_more(unpend: Run, project: Path) -> None:
    assert unpend("check", "app.yaml", "--pools", "nodes.yaml").code == 1
    done = unpend(*WRITE)
    assert done.code == 0, done.err
    assert "Deployment/shop/web" in (project / FILE).read_text(encoding="utf-8")
    done = unpend(*CHECK, "-o", "json", "--show-suppressed")
    assert done.code == 0
    assert {f["suppressed"]["kind"] for f in json.loads(done.out)["findings"]} == {"baseline"}


def test_entries_survive_moved_lines_and_new_findings_count(unpend: Run, project: Path) -> None:
    unpend(*WRITE)
    app = project / "app.yaml"
    text = app.read_text(encoding="utf-8")
    app.write_text("# a comment\n\n---\n# another\n" + text, encoding="utf-8")
    assert unpend(*CHECK).code == 0
    app.write_text(text + "---\n" + text.replace("name: web", "name: other"), encoding="utf-8")
    done = unpend(*CHECK, "-o", "json")
    assert done.code == 1
    assert {f["object"]["name"] for f in json.loads(done.out)["findings"]} == {"other"}


def test_entries_survive_a_moved_file(unpend: Run, project: Path) -> None:
    unpend(*WRITE)
    (project / "apps").mkdir()
    (project / "app.yaml").rename(project / "apps" / "web.yaml")
    assert unpend("check", "apps", "--pools", "nodes.yaml", "--baseline", FILE).code == 0


def test_writing_again_keeps_comments_and_order(unpend: Run, project: Path) -> None:
    unpend(*WRITE)
    file = project / FILE
    text = file.read_text(encoding="utf-8").replace("- rule:", "# moves in spring\n- rule:", 1)
    text = text.replace("  fingerprint:", "  reason: old\n  fingerprint:", 1)
    file.write_text(text, encoding="utf-8")
    unpend(*WRITE)
    assert file.read_text(encoding="utf-8") == text
    assert "-- old" in unpend("baseline", "show", "app.yaml", "--pools", "nodes.yaml").out


def test_show_and_prune_know_what_is_gone(unpend: Run, project: Path, sample: Any) -> None:
    unpend(*WRITE)
    (project / "app.yaml").write_text(sample.tolerant, encoding="utf-8")
    shown = unpend("baseline", "show", "app.yaml", "--pools", "nodes.yaml").out
    assert shown.startswith("gone: app.yaml: untolerated-taint Deployment/shop/web")
    done = unpend("baseline", "prune", "app.yaml", "--pools", "nodes.yaml")
    assert "taken out" in done.err
    remaining = parse((project / FILE).read_text(encoding="utf-8"), FILE)
    assert all(entry.rule != "untolerated-taint" for entry in remaining)


def test_the_config_names_the_baseline(unpend: Run, project: Path) -> None:
    (project / ".unpend.yaml").write_text("baseline: known.yaml\n", encoding="utf-8")
    assert unpend("check", "app.yaml", "--pools", "nodes.yaml").code == 2, "it does not exist yet"
    assert unpend(*WRITE).code == 0
    assert (project / "known.yaml").exists()
    assert unpend("check", "app.yaml", "--pools", "nodes.yaml").code == 0


@pytest.mark.parametrize(
    "text", ["[]\n", "version: 2\n", "version: 1\nfindings: [{}]\n", "version: 1\nfindings: 3\n", "a: ["]
)
def test_what_is_no_baseline_is_refused(unpend: Run, project: Path, text: str) -> None:
    (project / FILE).write_text(text, encoding="utf-8")
    assert unpend(*CHECK).code == 2
    done = unpend(*WRITE)
    assert done.code == 2
    assert (project / FILE).read_text(encoding="utf-8") == text


def test_the_text_of_a_baseline_reads_back() -> None:
    entries = (Entry("1", "a", "Pod/x", "spec", "a.yaml"), Entry("2", "b"))
    assert parse(written(entries), FILE) == entries
    assert parse(written(()), FILE) == ()
    assert parse(written(entries[:1], written(entries)), FILE) == entries[:1]
    assert parse(written(entries, written(())), FILE) == entries
    assert parse(written((), written(entries)), FILE) == ()
    with pytest.raises(BaselineError):
        written(entries, "version: 7\n")
