from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from unpend.engine.result import (
    Notice,
    ObjectRef,
    RelatedPlace,
    ReportedFinding,
    Result,
    SkippedRule,
    Suppressed,
)
from unpend.placement.verdict import (
    Against,
    Change,
    Fact,
    Obstacle,
    PoolVerdict,
    Repair,
    ReplicaCounts,
    Rollout,
    SpotBreadth,
    Witness,
    WorkloadVerdict,
)
from unpend.report.options import ReportOptions
from unpend.rule import Edit, Fix, RuleEntry
from unpend.source.place import Location, Origin, Part, Place, Position, Span, Step

SNAPSHOTS = Path(__file__).parent / "snapshots"

APP = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  template:
    spec:
      tolerations:
      - {key: "größe 🚀", operator: Equal, value: xl}
      nodeSelector: {pool: gpu}
"""
NODES = """\
apiVersion: v1
kind: Node
metadata: {name: gpu-1, labels: {pool: gpu}}
spec:
  taints:
  - {key: dedicated, value: gpu, effect: NoSchedule}
"""


def span_of(text: str, part: str) -> Span:
    """The span of the first occurrence of a part of a line."""
    offset = text.index(part)
    line = text.count("\n", 0, offset)
    column = offset - (text.rfind("\n", 0, offset) + 1)
    return Span(Position(line, column), Position(line, column + len(part)))


@dataclass(frozen=True)
class Holder:
    """An object whose places stand where a word of its text stands: the last step of the path names the word."""

    uri: str
    text: str
    words: dict[str, str] = field(default_factory=dict)
    data: Any = None

    def locate(self, path: tuple[Step, ...], _part: Part = "value") -> Location | None:
        word = self.words.get(".".join(map(str, path)), "apiVersion")
        return Location(self.uri, 0, span_of(self.text, word))


def make_result() -> Result:
    app = Holder("apps/web.yaml", APP, {"spec.tolerations": '{key: "größe 🚀", operator: Equal, value: xl}'})
    nodes = Holder("nodes.yaml", NODES, {"spec.taints.0": "{key: dedicated, value: gpu, effect: NoSchedule}"})
    tolerations = Place(app).at("spec", "tolerations")
    taint = Place(nodes).at("spec", "taints", 0)
    obstacle = Obstacle(
        "toleration",
        "no toleration matches the taint dedicated=gpu:NoSchedule",
        "scheduler:P-402",
        tolerations,
        Against("Node/gpu-1", taint),
        "taint",
    )
    never = WorkloadVerdict(
        "Deployment/shop/web",
        "",
        "never",
        "taint",
        "assumed",
        ReplicaCounts(3, 3, 0, 0),
        assumptions=("A1", "A6"),
        pools=(
            PoolVerdict("Node/gpu-1", "never", "taint", scheduler_says="no", obstacles=(obstacle,), place=Place(nodes)),
            PoolVerdict(
                "NodePool/default", "loop", "scheduler-refuses", 412, ("eu-central-1a",), "karpenter", "yes", "no"
            ),
        ),
        conflict=(obstacle,),
        nearest=Repair("Node/gpu-1", (Change("tolerate the taint dedicated=gpu:NoSchedule", tolerations),)),
        contention=(("Deployment/shop/web", "Job/shop/import"),),
        place=Place(app),
    )
    fits = WorkloadVerdict(
        "Job/shop/import",
        "",
        "conditional",
        "unknown-fact",
        "proved",
        ReplicaCounts(5, 4, 2, 3, Rollout(6, 3), None),
        pools=(PoolVerdict("Node/gpu-1", "conditional", "unknown-fact"),),
        witness=Witness("Node/gpu-1", "g5.xlarge", "eu-central-1a", "spot", node="gpu-1"),
        facts=(Fact("volume-zone", "the zone of the volume data is not known", tolerations),),
        zones=("eu-central-1a",),
        spot=SpotBreadth(1, 3),
    )
    app_place = Location("apps/web.yaml", 0, span_of(APP, '{key: "größe 🚀", operator: Equal, value: xl}'))
    taint_place = Location("nodes.yaml", 0, span_of(NODES, "{key: dedicated, value: gpu, effect: NoSchedule}"))
    web = ObjectRef("Deployment", "shop", "web", "spec.template")
    findings = (
        ReportedFinding(
            "untolerated-taint",
            "error",
            "assumed",
            "no node takes the pod: each has a taint that it does not tolerate,\nsuch as dedicated=gpu:NoSchedule",
            "f-1",
            web,
            "spec.template.spec.tolerations",
            app_place,
            (RelatedPlace("the taint, 100 % [of](1) nodes", taint_place, "Node/gpu-1", "spec.taints[0]"),),
            clusters=("",),
            workload="Deployment/shop/web",
            verdict="never",
            repair="tolerate the taint dedicated=gpu:NoSchedule",
        ),
        ReportedFinding(
            "unused-toleration",
            "info",
            "heuristic",
            "no node has a taint größe 🚀",
            "f-2",
            web,
            "spec.template.spec.tolerations[0]",
            Location(app_place.uri, 0, span_of(APP, "größe 🚀"), Origin("charts/web/templates/d.yaml", 11)),
            tags=("unnecessary",),
            fixes=(Fix("remove the toleration", "safe", (Edit("remove", tolerations),)),),
        ),
        ReportedFinding("internal-error", "warning", "proved", "a rule failed", "f-3", None, "", None),
        ReportedFinding(
            "label-near-miss",
            "warning",
            "proved",
            "pool is no label",
            "f-4",
            web,
            "spec.template.spec.nodeSelector.pool",
            Location("apps/web.yaml", 0, span_of(APP, "pool: gpu")),
            suppressed=Suppressed("comment", "known"),
        ),
    )
    return Result(
        findings=findings,
        workloads=(never, fits),
        contention=(("Deployment/shop/web", "Job/shop/import"),),
        skipped_rules=(SkippedRule("priority-class-missing", "no classes"),),
        notices=(Notice("charts/old: templates are passed over", "charts/old/templates/a.yaml", "warning"),),
        rules=(
            RuleEntry("label-near-miss", "labels", "warning"),
            RuleEntry("untolerated-taint", "taints", "error"),
            RuleEntry("unused-toleration", "taints", "info"),
        ),
        checked=("apps/web.yaml", "nodes.yaml", "apps/empty.yaml"),
        texts={"apps/web.yaml": APP, "nodes.yaml": NODES, "apps/empty.yaml": ""},
        object_count=2,
    )


@pytest.fixture
def result() -> Result:
    return make_result()


@pytest.fixture
def options() -> ReportOptions:
    return ReportOptions(
        base="/repo",
        version="1.2.3",
        catalog_date="2026-01-02",
        page=lambda name: f"About {name}.\n\n## What it checks\n\nThe `x`.\n",
    )


Snapshot = Callable[[str, str], None]


@pytest.fixture
def snapshot() -> Snapshot:
    """Compare a whole output with its file; `UPDATE_SNAPSHOTS=1` writes the files instead."""

    def compare(name: str, text: str) -> None:
        path = SNAPSHOTS / name
        if os.environ.get("UPDATE_SNAPSHOTS") == "1":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
        expected = path.read_bytes().decode() if path.exists() else ""
        if text != expected:
            difference = difflib.unified_diff(expected.splitlines(True), text.splitlines(True), "snapshot", "now")
            pytest.fail("".join(difference) + "\nUPDATE_SNAPSHOTS=1 writes the new text")

    return compare
