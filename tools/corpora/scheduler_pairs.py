"""600 pairs of Deployments that attract or avoid each other: the most replicas of each, and whether all run at once."""

from __future__ import annotations

from collections.abc import Iterable

import unpend
from corpora.agreement import Corpus, Grade, Judged, lines, with_kind, worst
from corpora.scheduler_replicas import judged


def judge() -> Iterable[Judged]:
    """Compare both bounds and the question of all together."""
    for case in lines("scheduler/pairs.jsonl.gz"):
        namespaces = [with_kind("Namespace", namespace) for namespace in case["namespaces"]]
        answers = unpend.evaluate([*case["nodes"], *namespaces, *case["workloads"]])
        wanted = {w["metadata"]["name"]: w["spec"]["replicas"] for w in case["workloads"]}
        grades: list[Grade] = []
        details = []
        for answer in answers:
            name = answer.workload.split("/")[-1]
            found = judged(case["id"], case["placeable"][name], wanted[name], answer)
            grades.append(found.grade)
            details.append(f"{name}: {found.detail}")
        full = all(answer.replicas.at_most >= answer.replicas.needed for answer in answers)
        together = full and not any(answer.contention for answer in answers)
        if together is not case["all_together"]:
            grades.append("missed" if together else "wrong alarm")
            details.append(f"all together: {together}")
        yield Judged(case["id"], worst(grades), "; ".join(details))


CORPUS = Corpus("scheduler/pairs", "kube-scheduler v1.34: exhaustive search over placements", judge)
