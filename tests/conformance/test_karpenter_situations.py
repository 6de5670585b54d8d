"""Pending pods against NodePools, as Karpenter's own test suite states them."""

from __future__ import annotations

from corpora import karpenter_situations
from corpora.karpenter_situations import answers, cases, differences, judge_case


def test_all_that_follows_from_pools_types_and_pods_is_right() -> None:
    judged = [judge_case(case) for case in cases(in_scope=True)]
    assert [one for one in judged if one.grade != "right"] == []
    assert len(judged) == 207
    assert not karpenter_situations.LEFT_OUT


def test_every_pod_that_can_be_placed_fits() -> None:
    verdicts = []
    for case in cases(in_scope=True):
        if case["topic"] == "volumes":
            continue
        wanted = case.get("neverPerPod") or [case["never"]] * len(case["pods"])
        verdicts += [a and a.verdict for a, never in zip(answers(case), wanted, strict=True) if never is False]
    assert set(verdicts) == {"fits"}
    assert len(verdicts) == 162


def test_pools_zones_and_types_are_those_that_karpenter_chooses_from() -> None:
    found = {case["id"]: list(differences(case, answers(case))) for case in cases(in_scope=True)}
    assert {case: lines for case, lines in found.items() if lines} == {}


def test_no_wrong_alarm_in_any_topic() -> None:
    judged = [judge_case(case) for case in cases(in_scope=False)]
    assert [one for one in judged if one.grade == "wrong alarm"] == []
    assert len(judged) == 109
