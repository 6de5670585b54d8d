"""Bound, witness and order against a naive search over every reachable state of random clusters.

`tools/diff_replicas.py` runs the same comparison on 3,000 clusters.
"""

from __future__ import annotations

import random

from diff_replicas import Naive, answers, random_case


def test_bound_witness_and_order_of_random_clusters() -> None:
    rng = random.Random(20)
    compared = exact = 0
    while compared < 150:
        case = random_case(rng, replicas=12)
        truth = Naive(case).search(most_states=4_000)
        if truth is None:
            continue
        compared += 1
        most, dead_end = truth
        found, bound = answers(case)
        assert bound >= most, case.objects
        assert found.at_least <= most <= found.at_most, case.objects
        exact += found.at_least == found.at_most
        if most == case.workload["spec"]["replicas"] and found.stuck is not None:
            assert found.stuck is dead_end, case.objects
    assert exact >= 148
