"""What may be disrupted, and how many at once: the situations of Karpenter's own tests with a snapshot of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from corpora.agreement import Corpus, Grade, Judged, lines, worst
from unpend.api import disruption
from unpend.disruption.candidates import DisruptionReport

LEFT_OUT = {
    "14 cases with `static: no`": "they hang on time, readiness or deletions that a snapshot does not show",
    "29 cases with `verdict`": "which nodes are merged takes a simulation; what is named as a blocker is tested",
}


def answer(case: Mapping[str, Any]) -> DisruptionReport:
    """What is said of the snapshot of a case."""
    keys = ("nodePools", "daemonSets", "nodes", "boundPods", "volumes", "pods", "extraObjects")
    return disruption([item for key in keys for item in case[key]])


def judge() -> Iterable[Judged]:
    """Every case with an expected candidate or number. To call a candidate blocked is a wrong alarm."""
    for case in lines("karpenter/disruption.jsonl"):
        expect = case["expect"]
        if case["static"] == "no" or not ("candidate" in expect or "allowedDisruptions" in expect):
            continue
        report = answer(case)
        grades: list[Grade] = []
        details: list[str] = []
        for name, wanted in expect.get("candidate", {}).items():
            found = report.node(name, expect["disruptionClass"])
            says = found is not None and found.candidate
            grades.append("right" if says == wanted else "wrong alarm" if wanted else "missed")
            details.append(f"{name}: candidate {says}, is {wanted}")
        for name, allowed in expect.get("allowedDisruptions", {}).items():
            pool = report.pool(name)
            number = pool.allowed_disruptions if pool is not None else None
            grades.append("right" if number == allowed else "imprecise")
            details.append(f"{name}: allows {number}, is {allowed}")
        yield Judged(case["id"], worst(grades), "; ".join(details))


CORPUS = Corpus(
    "karpenter/disruption",
    "facts that Karpenter's own tests state: disruption candidates, budgets",
    judge,
    LEFT_OUT,
)
