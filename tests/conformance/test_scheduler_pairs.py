"""Pairs of Deployments that look at each other, against a search that asked kube-scheduler v1.34 for every step."""

from __future__ import annotations

import unpend
from corpora.agreement import lines, with_kind


def test_bounds_of_pairs_and_whether_all_run_at_once() -> None:
    equal = together_right = 0
    for case in lines("scheduler/pairs.jsonl.gz"):
        namespaces = [with_kind("Namespace", namespace) for namespace in case["namespaces"]]
        answers = unpend.evaluate([*case["nodes"], *namespaces, *case["workloads"]])
        for answer in answers:
            placeable = case["placeable"][answer.workload.split("/")[-1]]
            assert answer.replicas.at_most >= placeable, case["id"]
            assert answer.replicas.at_least <= placeable, case["id"]
            equal += answer.replicas.at_most == placeable
        full = all(answer.replicas.at_most >= answer.replicas.needed for answer in answers)
        together = full and not any(answer.contention for answer in answers)
        assert together or not case["all_together"], case["id"]
        together_right += together is case["all_together"]
    assert equal >= 0.97 * 1_200
    assert together_right >= 0.97 * 600
