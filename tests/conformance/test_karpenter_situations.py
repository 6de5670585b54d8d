"""Pending pods against NodePools, as Karpenter's own test suite states them."""

from __future__ import annotations

from corpora import karpenter_situations
from corpora.karpenter_situations import answers, cases, differences, judge_case


def test_all_that_follows_from_pools_types_and_pods_is_right() -> None:
    judged = [judge_case(case) for case in cases(in_scope=True)]
    assert [one for one in judged if one.grade != "right"] == []
    assert len(judged) == 256
    assert set(karpenter_situations.LEFT_OUT) == {"karp-topology-036", "karp-topology-043"}


CONDITIONAL = {
    # Joins a pod on its node only where that has room, which depends on the type that was launched for the other.
    "karp-topology-059",
    "karp-topology-092",
    "karp-topology-093",
    # Karpenter starts two domains, kube-scheduler knows one first pod only (S-913).
    "karp-topology-067",
    # The pod that may go anywhere can take the only architecture of the other first.
    "karp-topology-073",
}
"""Cases in which all pods can run, and in which an unlucky course of events can keep one of them from it."""


def test_every_pod_that_can_be_placed_fits() -> None:
    others: dict[str, set[str]] = {}
    fitting = 0
    for case in cases(in_scope=True):
        if case["topic"] == "volumes":
            continue
        wanted = case.get("neverPerPod") or [case["never"]] * len(case["pods"])
        for answer, never in zip(answers(case), wanted, strict=True):
            if never is not False or answer is None:
                continue
            if answer.verdict == "fits":
                fitting += 1
            else:
                others.setdefault(answer.verdict, set()).add(case["id"])
    assert others == {"conditional": CONDITIONAL, "partial": {"karp-topology-018", "karp-topology-062"}}
    assert fitting == 214


def test_pools_zones_and_types_are_those_that_karpenter_chooses_from() -> None:
    found = {case["id"]: list(differences(case, answers(case))) for case in cases(in_scope=True)}
    assert {case: lines for case, lines in found.items() if lines} == {}


def test_no_wrong_alarm_in_any_topic() -> None:
    judged = [judge_case(case) for case in cases(in_scope=False)]
    assert [one for one in judged if one.grade == "wrong alarm"] == []
    assert len(judged) == 58
