"""1,500 Deployments on random nodes: how many replicas the filters of kube-scheduler v1.34 let run at once."""

from __future__ import annotations

from collections.abc import Iterable

import unpend
from corpora.agreement import Corpus, Grade, Judged, grade, lines, worst
from unpend.placement.verdict import WorkloadVerdict


def judge() -> Iterable[Judged]:
    """Compare the bound on the replicas, and the verdict that follows from it."""
    for case in lines("scheduler/replicas.jsonl.gz"):
        (answer,) = unpend.evaluate([*case["nodes"], *case["bound_pods"], case["workload"]])
        yield judged(case["id"], case["placeable"], case["wanted"], answer)


def judged(case: str, placeable: int, wanted: int, answer: WorkloadVerdict) -> Judged:
    """A bound below what can be placed is a wrong alarm, one above it missed."""
    at_most = answer.replicas.at_most
    grades: list[Grade] = []
    if at_most != placeable:
        grades.append("wrong alarm" if at_most < placeable else "missed")
    expected = "fits" if placeable >= wanted else "partial" if placeable else "never"
    # That an unlucky order can leave fewer, and that others compete, is more than the truth of these cases says.
    if answer.cause not in ("placement-order", "contention"):
        grades.append(grade(expected, answer.verdict))
    detail = f"expected {placeable} of {wanted}, answered {at_most} ({answer.verdict})"
    return Judged(case, worst(grades), detail)


CORPUS = Corpus("scheduler/replicas", "kube-scheduler v1.34: exhaustive search over placements", judge)
