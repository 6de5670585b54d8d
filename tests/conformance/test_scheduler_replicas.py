"""The replica bound against an exhaustive search that asked kube-scheduler v1.34 for every step: 1,500 Deployments."""

from __future__ import annotations

import unpend
from corpora.agreement import lines


def test_the_bound_is_never_below_what_can_be_placed_and_nearly_always_equal() -> None:
    equal = 0
    for case in lines("scheduler/replicas.jsonl.gz"):
        (answer,) = unpend.evaluate([*case["nodes"], *case["bound_pods"], case["workload"]])
        replicas = answer.replicas
        assert replicas.at_most >= case["placeable"], case["id"]
        assert replicas.at_least <= case["placeable"], case["id"]
        assert replicas.needed == case["wanted"], case["id"]
        if case["placeable"] >= case["wanted"]:
            assert answer.verdict in ("fits", "conditional"), case["id"]
            assert answer.verdict == "fits" or answer.cause == "placement-order", case["id"]
        elif replicas.at_most < case["wanted"]:
            assert answer.verdict == ("partial" if case["placeable"] else "never"), case["id"]
        equal += replicas.at_most == case["placeable"]
    assert equal >= 1_495
