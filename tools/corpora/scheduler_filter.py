"""3,000 random pods and node sets, answered by the filter plugins of kube-scheduler v1.34."""

from __future__ import annotations

from collections.abc import Iterable

import unpend
from corpora.agreement import Corpus, Grade, Judged, grade, lines, worst
from unpend.placement.verdict import WorkloadVerdict
from unpend.settings import Settings


def judge() -> Iterable[Judged]:
    """Compare the set of accepting nodes."""
    settings = Settings(admission="none")
    for case in lines("scheduler/filter.jsonl.gz"):
        (answer,) = unpend.evaluate([*case["nodes"], case["pod"]], settings=settings)
        yield judged(case["id"], case["feasible"], answer)


def accepting(answer: WorkloadVerdict) -> list[str]:
    """The names of the Nodes that surely take the pod."""
    return [pool.pool.removeprefix("Node/") for pool in answer.pools if pool.verdict == "fits"]


def judged(case: str, feasible: list[str], answer: WorkloadVerdict) -> Judged:
    """A node refused that accepts is a wrong alarm, one accepted that refuses is missed."""
    grades: list[Grade] = []
    for pool in answer.pools:
        truth = pool.pool.removeprefix("Node/") in feasible
        if pool.verdict == "conditional":
            grades.append("imprecise")
        elif truth is not (pool.verdict == "fits"):
            grades.append("wrong alarm" if truth else "missed")
    if answer.cause != "not-looked-at":
        grades.append(grade("fits" if feasible else "never", answer.verdict))
    detail = f"expected {feasible}, answered {accepting(answer)} ({answer.verdict})"
    return Judged(case, worst(grades), detail)


CORPUS = Corpus("scheduler/filter", "kube-scheduler v1.34: the nodes that accept a pod", judge)
