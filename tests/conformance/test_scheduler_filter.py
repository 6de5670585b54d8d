"""Node sets against kube-scheduler v1.34: random cases, and the hand-written ones."""

from __future__ import annotations

from collections import Counter

from corpora import scheduler_filter, scheduler_handwritten
from corpora.agreement import agreement, grade, lines


def test_every_node_set_of_the_random_cases_is_equal() -> None:
    found = agreement(scheduler_filter.CORPUS)
    assert (found.cases, found.others) == (3000, ())


def test_every_node_set_of_the_handwritten_cases_is_equal() -> None:
    found = agreement(scheduler_handwritten.CORPUS)
    assert (found.cases, found.others) == (268, ())


def test_no_case_without_other_pods_is_left_out() -> None:
    cases = [case for case in lines("scheduler/handwritten.jsonl.gz") if case["mode"] == "filter"]
    kinds = Counter(frozenset(scheduler_handwritten.features(case)) for case in cases)
    assert kinds[frozenset()] + kinds[frozenset({"bound pods"})] >= 138


def test_grades() -> None:
    assert grade("fits", "skipped") == "right"
    assert grade("fits", "never") == "wrong alarm"
    assert grade("never", "loop") == "right"
    assert grade("conditional", "never") == "wrong alarm"
    assert grade("never", "") == "missed"
