"""Situations from public issue threads and documentation, as manifests with the verdict that is right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from corpora.agreement import FOLDER, Corpus, Grade, Judged, grade, worst
from unpend.api import load_settings
from unpend.model.reading import read_objects
from unpend.placement.evaluate import evaluate_inventory
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import Settings
from unpend.source.document import Object
from unpend.source.reading import read_text

REAL = FOLDER / "real"
LEFT_OUT: dict[str, str] = {}
"""Cases that are not asked, with the reason and the public source."""

OUT_OF_SCOPE = {
    "008-controller-only-karpenter-pools": "the nodes that Karpenter itself runs on may take it: bootstrap-nodes",
}
"""Cases that something decides beyond labels, taints, resources, limits, NodePools and node classes."""


def cases() -> list[Path]:
    """The folders of the cases, in order."""
    return sorted(path.parent for path in REAL.glob("*/case.yaml") if path.parent.name not in LEFT_OUT)


def read_case(folder: Path) -> Mapping[str, Any]:
    """What is expected of a case."""
    case: dict[str, Any] = yaml.safe_load((folder / "case.yaml").read_text(encoding="utf-8"))
    return case


def settings_of(folder: Path) -> Settings:
    """The settings of a case, as `unpend explain` on its files has them: everything but other workloads is there."""
    config = folder / ".unpend.yaml"
    settings = load_settings(str(config)) if config.exists() else Settings()
    world = replace(
        settings.world, pools="closed", nodes="closed", daemonsets="closed", classes="closed", claims="closed"
    )
    return replace(settings, world=world, admission="all")


def answers(folder: Path) -> Mapping[str, WorkloadVerdict]:
    """The verdict of every workload by `namespace/name`."""
    settings = settings_of(folder)
    objects: list[Object] = []
    for name in read_case(folder)["files"]:
        objects.extend(read_text((folder / name).read_bytes(), name).objects)
    verdicts = evaluate_inventory(read_objects(objects, settings), settings)
    return {verdict.workload.partition("/")[2]: verdict for verdict in verdicts}


def judge_case(folder: Path) -> Judged:
    """The worst grade of the workloads of a case."""
    found = answers(folder)
    case = read_case(folder)
    grades: list[Grade] = []
    details = []
    for name, expected in (case["expect"].get("workload") or {}).items():
        answer = found.get(name)
        one = _grade(expected, answer, case.get("must_not") or ())
        grades.append(one)
        if one != "right":
            said = "nothing" if answer is None else f"{answer.verdict} ({answer.cause})"
            details.append(f"{name}: expected {expected['verdict']}, answered {said}")
    return Judged(folder.name, worst(grades), "; ".join(details))


def _grade(expected: Mapping[str, Any], answer: WorkloadVerdict | None, must_not: Iterable[str]) -> Grade:
    if answer is None:
        return "missed"
    if answer.verdict in must_not:
        return "wrong alarm" if answer.verdict in ("never", "loop", "partial") else "missed"
    found = grade(expected["verdict"], answer.verdict)
    if found == "right" and expected["verdict"] == "partial" and answer.replicas.at_most != expected["placeable"]:
        return "wrong alarm" if answer.replicas.at_most < expected["placeable"] else "imprecise"
    if found == "right" and expected.get("fact") and answer.verdict == "conditional":
        return "right" if answer.cause == expected["fact"] else "imprecise"
    return found


def judge() -> Iterable[Judged]:
    """All cases."""
    for folder in cases():
        yield judge_case(folder)


CORPUS = Corpus("real", "public issue threads and documentation", judge, LEFT_OUT)
