"""What public issue threads say a tool should have reported: some rule does, on that object, at that path."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from unpend.config.load import read_config
from unpend.engine.result import Result
from unpend.engine.run import RunOptions, cluster_input, run
from unpend.settings import Settings, World
from unpend.source.document import Reading
from unpend.source.reading import read_text

FOLDER = Path(__file__).parents[2] / "fixtures" / "conformance" / "real"


def cases() -> list[tuple[str, dict[str, Any]]]:
    found = []
    for path in sorted(FOLDER.glob("*/case.yaml")):
        case = yaml.safe_load(path.read_text("utf-8"))
        found += [(path.parent.name, finding) for finding in case["expect"].get("findings") or ()]
    return found


@lru_cache(maxsize=1)
def answer(name: str) -> Result:
    folder = FOLDER / name
    texts = {p.name: p.read_text("utf-8") for p in sorted(folder.glob("*.yaml")) if p.name[0] != "."}
    texts.pop("case.yaml", None)
    readings = [read_text(text, uri) for uri, text in texts.items()]
    reading = Reading(
        tuple(d for r in readings for d in r.documents),
        tuple(o for r in readings for o in r.objects),
        tuple(t for r in readings for t in r.troubles),
    )
    config = folder / ".unpend.yaml"
    settings = read_config(config.read_text("utf-8")).settings() if config.exists() else Settings()
    settings = replace(settings, world=World.all_closed())
    return run([cluster_input("", reading, settings, texts)], RunOptions(profile="strict"))


def overlap(one: str, other: str) -> bool:
    return one == other or ((one.startswith(other) or other.startswith(one)) and bool(one and other))


@pytest.mark.parametrize(("name", "wanted"), cases(), ids=lambda v: v[:3] if isinstance(v, str) else v["kind"])
def test_some_rule_reports_it(name: str, wanted: dict[str, Any]) -> None:
    result = answer(name)
    hits = [
        f for f in result.active if f.object and f.object.id == wanted["object"] and overlap(f.path, wanted["path"])
    ]
    assert hits, [(f.rule, f.object and f.object.id, f.path) for f in result.active]
    severity = {"warn": "warning"}.get(wanted.get("severity", ""), wanted.get("severity"))
    assert severity is None or severity in {f.severity for f in hits}
    assert not any(f.rule == "internal-error" for f in result.findings)


def test_all_findings_are_asked_for() -> None:
    assert len(cases()) == 34


BLOCKERS = (
    "do-not-disrupt-permanent",
    "pdb-blocks-all",
    "pdb-min-available-ge-replicas",
    "pdb-overlapping",
    "pdb-percent-rounds-to-zero",
    "preferred-anti-affinity-blocks-consolidation",
    "schedule-anyway-blocks-consolidation",
    "ca-local-storage-blocks-scale-down",
    "ca-bare-pod",
    "budget-always-zero",
    "consolidation-disabled",
)


@pytest.mark.parametrize(
    "name",
    [
        path.parent.name
        for path in sorted(FOLDER.glob("*/case.yaml"))
        if any("consolidation-blocker" in str(m) for m in yaml.safe_load(path.read_text("utf-8")).get("must_not") or ())
    ],
)
def test_no_blocker_is_named_where_there_is_none(name: str) -> None:
    assert [f.rule for f in answer(name).active if f.rule in BLOCKERS] == []


@pytest.mark.parametrize(
    ("case", "rule", "repair"),
    [
        ("171-automode-pool-old-label-domain", "pod-ignored-by-autoscaler", "do not select by karpenter.k8s.aws/inst"),
        ("092-max-pods-eaten-by-daemonsets", "pod-larger-than-any-node", "use nodes that take more pods"),
    ],
)
def test_where_no_change_is_enough_it_is_said_what_to_do(case: str, rule: str, repair: str) -> None:
    (finding,) = (f for f in answer(case).active if f.rule == rule)
    assert finding.repair is not None
    assert finding.repair.startswith(repair)
