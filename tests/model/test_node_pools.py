from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from unpend.model.inventory import Inventory, Problem
from unpend.model.karpenter import NodePool
from unpend.model.karpenter_fields import seconds_of
from unpend.model.node_pool_rules import unknown_values
from unpend.model.reading import read_objects
from unpend.settings import KarpenterSettings, Settings
from unpend.source.document import objects_of

REF = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}


def read(*objects: dict[str, Any], karpenter: str = "1.14") -> Inventory:
    settings = replace(Settings(), karpenter=KarpenterSettings(version=karpenter))
    return read_objects(objects_of(list(objects)), settings)


def pool_of(
    inner: dict[str, Any] | None = None, labels: dict[str, str] | None = None, name: str = "p", **spec: Any
) -> dict[str, Any]:
    template: dict[str, Any] = {"spec": {"requirements": [], "nodeClassRef": REF, **(inner or {})}}
    if labels is not None:
        template["metadata"] = {"labels": labels}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template, **spec},
    }


def requiring(key: str, operator: str, *values: str, **more: Any) -> dict[str, Any]:
    return pool_of({"requirements": [{"key": key, "operator": operator, "values": list(values), **more}]})


def only(inventory: Inventory) -> NodePool:
    (pool,) = inventory.node_pools
    return pool


def said(problems: tuple[Problem, ...]) -> list[tuple[str, str]]:
    return [(problem.semantics, str(problem.place)) for problem in problems]


def test_defaults() -> None:
    """`karpenter.md` §1.1."""
    inventory = read(pool_of())
    pool = only(inventory)
    assert inventory.problems == ()
    assert (pool.weight, pool.replicas, pool.is_static, pool.ready) == (0, None, False, None)
    assert pool.expire_after.seconds == 720 * 3600
    assert pool.termination_grace is None
    assert (pool.disruption.policy, pool.disruption.consolidate_after.seconds) == ("WhenEmptyOrUnderutilized", 0)
    assert [(b.percent, b.number, b.reasons) for b in pool.disruption.budgets] == [(10, None, None)]


def test_what_is_written_is_read() -> None:
    inventory = read(
        pool_of(
            {
                "requirements": [{"key": "team", "operator": "In", "values": ["a", "b"], "minValues": 2}],
                "taints": [{"key": "gpu", "effect": "NoSchedule"}],
                "startupTaints": [{"key": "agent", "value": "x", "effect": "NoExecute"}],
                "expireAfter": "Never",
                "terminationGracePeriod": "1h30m",
            },
            {"team": "a"},
            weight=7,
            limits={"cpu": "10", "nodes": 3},
            disruption={
                "consolidationPolicy": "Balanced",
                "consolidateAfter": "Never",
                "budgets": [
                    {"nodes": "0", "schedule": "0 9 * * 1-5", "duration": "8h", "reasons": ["Drifted"]},
                    {"nodes": "25%", "reasons": []},
                ],
            },
        )
    )
    pool = only(inventory)
    assert inventory.problems == ()
    assert (pool.requirements[0].values, pool.requirements[0].min_values) == (("a", "b"), 2)
    assert str(pool.requirements[0].place) == "spec.template.spec.requirements[0]"
    assert [t.effect for t in (*pool.taints, *pool.startup_taints)] == ["NoSchedule", "NoExecute"]
    assert pool.expire_after.seconds is None
    assert pool.termination_grace is not None
    assert pool.termination_grace.seconds == 5400
    assert {name: amount.milli for name, amount in pool.limits.items()} == {"cpu": 10_000, "nodes": 3000}
    assert pool.disruption.consolidate_after.seconds is None
    first, second = pool.disruption.budgets
    assert (first.number, first.schedule, first.duration, first.reasons) == (0, "0 9 * * 1-5", 28800, ("Drifted",))
    assert (second.percent, second.reasons) == (25, ())


@pytest.mark.parametrize(
    ("pool", "semantics", "path"),
    [
        (pool_of(labels={"karpenter.sh/nodepool": "x"}), "N-1", "metadata.labels['karpenter.sh/nodepool']"),
        (pool_of(labels={"kubernetes.io/hostname": "x"}), "N-1", "metadata.labels['kubernetes.io/hostname']"),
        (pool_of(labels={"mykarpenter.sh/x": "x"}), "N-1", "metadata.labels['mykarpenter.sh/x']"),
        (requiring("karpenter.k8s.aws/instance-pods", "Exists"), "N-2", "spec.requirements[0].key"),
        (requiring("a/b/c", "Exists"), "N-3", "spec.requirements[0].key"),
        (requiring("team", "In", "a b"), "N-3", "spec.requirements[0].values[0]"),
        (requiring("team", "In"), "N-4", "spec.requirements[0].values"),
        (requiring("team", "Gt", "-1"), "N-3", "spec.requirements[0].values[0]"),
        (requiring("team", "Gt", "1", "2"), "N-4", "spec.requirements[0].values"),
        (requiring("team", "Gte", "1.5"), "N-4", "spec.requirements[0].values"),
        (requiring("team", "in", "a"), "N-4", "spec.requirements[0].operator"),
        (requiring("team", "In", "a", minValues=2), "N-4", "spec.requirements[0].minValues"),
        (requiring("team", "Exists", minValues=51), "N-4", "spec.requirements[0].minValues"),
        (pool_of({"taints": [{"key": "a"}]}), "N-5", "spec.taints[0].effect"),
        (pool_of({"taints": [{"key": "", "effect": "NoSchedule"}]}), "N-5", "spec.taints[0].key"),
        (pool_of({"expireAfter": "30d"}), "§1.1", "spec.expireAfter"),
        (pool_of({"terminationGracePeriod": "Never"}), "§1.1", "spec.terminationGracePeriod"),
        (pool_of({"nodeClassRef": {**REF, "group": "karpenter.k8s.aws/v1"}}), "§1.1", "spec.nodeClassRef.group"),
        (pool_of({"nodeClassRef": None}), "§1.1", "spec.nodeClassRef"),
        (pool_of({"requirements": None}), "§1.1", "spec.requirements"),
    ],
)
def test_what_the_api_refuses_inside_the_template(pool: dict[str, Any], semantics: str, path: str) -> None:
    found = only(read(pool))
    assert (f"karpenter:{semantics}", f"spec.template.{path}") in said(found.refusals)


@pytest.mark.parametrize(
    ("pool", "semantics", "path"),
    [
        (pool_of(weight=0), "§1.1", "spec.weight"),
        (pool_of(weight=101), "§1.1", "spec.weight"),
        (pool_of(replicas=2, weight=1), "N-7", "spec.weight"),
        (pool_of(replicas=2, limits={"cpu": "1"}), "N-7", "spec.limits.cpu"),
        (pool_of(replicas=-1), "N-7", "spec.replicas"),
    ],
)
def test_what_the_api_refuses_of_the_pool(pool: dict[str, Any], semantics: str, path: str) -> None:
    found = only(read(pool))
    assert said(found.refusals) == [(f"karpenter:{semantics}", path)]


@pytest.mark.parametrize(
    ("budget", "path"),
    [
        ({"nodes": "101%"}, "budgets[0].nodes"),
        ({"nodes": 10}, "budgets[0].nodes"),
        ({"nodes": "1", "schedule": "@daily"}, "budgets[0]"),
        ({"nodes": "1", "duration": "8h"}, "budgets[0]"),
        ({"nodes": "1", "schedule": "@daily", "duration": "30s"}, "budgets[0].duration"),
        ({"nodes": "1", "reasons": ["Expired"]}, "budgets[0].reasons[0]"),
    ],
)
def test_budgets_that_the_api_refuses(budget: dict[str, Any], path: str) -> None:
    """`karpenter:N-6`."""
    pool = only(read(pool_of(disruption={"consolidateAfter": "0s", "budgets": [budget]})))
    assert said(pool.refusals) == [("karpenter:N-6", f"spec.disruption.{path}")]


@pytest.mark.parametrize(
    "pool",
    [
        requiring("team", "NotIn"),
        requiring("team", "Exists", "ignored"),
        requiring("team", "Gt", "007"),
        requiring("karpenter.sh/capacity-type", "In", "spot", "on-demand", minValues=2),
        requiring("karpenter.k8s.aws/instance-family", "NotIn", "t3"),
        pool_of(labels={"node-role.kubernetes.io/worker": ""}),
        pool_of({"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}]}),
        pool_of(replicas=0, limits={"nodes": 5}),
        pool_of({"nodeClassRef": {**REF, "group": "other.example.com"}}, {"other.example.com/x": "y"}),
        pool_of(disruption={"consolidateAfter": "5m", "budgets": []}),
    ],
)
def test_what_is_fine(pool: dict[str, Any]) -> None:
    inventory = read(pool)
    assert said(inventory.problems) == []
    assert said(only(inventory).faults) == []


@pytest.mark.parametrize(
    ("pool", "semantics", "path"),
    [
        (requiring("karpenter.k8s.aws/ec2nodeclass", "Exists"), "N-9", "spec.template.spec.requirements[0].key"),
        (
            requiring("karpenter.sh/capacity-type", "In", "ondemand"),
            "N-12",
            "spec.template.spec.requirements[0].values",
        ),
        (
            requiring("karpenter.sh/capacity-type", "In", "spot", "SPOT", minValues=2),
            "N-12",
            "spec.template.spec.requirements[0].values",
        ),
        (
            pool_of(
                {
                    "taints": [{"key": "a", "effect": "NoSchedule"}],
                    "startupTaints": [{"key": "a", "value": "x", "effect": "NoSchedule"}],
                }
            ),
            "N-11",
            "spec.template.spec.startupTaints[0]",
        ),
    ],
)
def test_pools_that_karpenter_skips(pool: dict[str, Any], semantics: str, path: str) -> None:
    inventory = read(pool)
    found = only(inventory)
    assert found.refusals == ()
    assert said(found.faults) == [(f"karpenter:{semantics}", path)]
    assert found.faults[0] in inventory.problems


def test_one_unknown_value_beside_a_known_one_is_only_logged() -> None:
    """`karpenter:N-12`."""
    pool = only(read(requiring("karpenter.sh/capacity-type", "In", "spot", "OnDemand")))
    assert pool.faults == ()
    assert [(p.severity, str(p.place)) for p in unknown_values(pool)] == [
        ("warning", "spec.template.spec.requirements[0].values[1]")
    ]


def test_the_release_decides() -> None:
    assert said(only(read(requiring("team", "Gte", "3"), karpenter="1.8")).refusals) == [
        ("karpenter:N-4", "spec.template.spec.requirements[0].operator")
    ]
    worker = pool_of(labels={"node-role.kubernetes.io/worker": ""})
    assert [p.semantics for p in only(read(worker, karpenter="1.8")).refusals] == ["karpenter:N-8"]
    assert only(read(requiring("karpenter.sh/capacity-type", "In", "x"), karpenter="1.4")).faults == ()
    tenancy = requiring("karpenter.k8s.aws/instance-tenancy", "In", "default")
    assert [p.semantics for p in only(read(tenancy, karpenter="1.8")).refusals] == ["karpenter:N-2"]
    assert only(read(tenancy)).refusals == ()


def test_fields_that_never_act_say_where_they_belong() -> None:
    """`karpenter.md` §1.9."""
    inventory = read(
        pool_of({"kubelet": {}, "taint": []}, disruption={"consolidateAfter": "0s", "expireAfter": "24h"}, ttlFoo=1)
    )
    assert {str(p.place): p.message for p in inventory.problems} == {
        "spec.template.spec.kubelet": "there is no field `kubelet` here: from v1 on it belongs in the EC2NodeClass, "
        "as `spec.kubelet`",
        "spec.template.spec.taint": "there is no field `taint` here: did you mean `taints`?",
        "spec.disruption.expireAfter": "there is no field `expireAfter` here: from v1 on it belongs in "
        "`spec.template.spec`; 720h counts until it stands there",
        "spec.ttlFoo": "there is no field `ttlFoo` here: it is dropped and never acts",
    }
    assert only(inventory).refusals == ()


def test_order_is_weight_then_name_both_falling() -> None:
    """`karpenter.md` §1.7."""
    pools = read(
        pool_of(name="a"),
        pool_of(name="z"),
        pool_of(name="ab"),
        pool_of(name="low", weight=1),
        pool_of(name="b", weight=9),
    ).node_pools
    assert [p.name for p in sorted(pools, key=lambda p: p.order)] == ["b", "low", "z", "ab", "a"]


def test_status_says_whether_a_pool_is_ready() -> None:
    down = pool_of()
    down["status"] = {"conditions": [{"type": "Ready", "status": "False", "reason": "NodeClassNotFound"}]}
    pool = only(read(down))
    assert (pool.ready, pool.not_ready_reason) == (False, "NodeClassNotFound")


@pytest.mark.parametrize(
    ("api_version", "kind", "karpenter", "severity"),
    [
        ("karpenter.sh/v1alpha5", "Provisioner", "1.14", "error"),
        ("karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate", "1.14", "error"),
        ("karpenter.sh/v1beta1", "NodePool", "1.14", "error"),
        ("karpenter.sh/v1beta1", "NodePool", "1.0", "warning"),
        ("karpenter.k8s.aws/v1beta1", "EC2NodeClass", "1.14", "error"),
    ],
)
def test_older_kinds(api_version: str, kind: str, karpenter: str, severity: str) -> None:
    """`karpenter.md` §1.9."""
    inventory = read({"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}, karpenter=karpenter)
    assert [(p.severity, str(p.place)) for p in inventory.problems] == [(severity, "apiVersion")]
    assert inventory.node_pools == ()


@pytest.mark.parametrize(
    "junk", [None, [], "text", {"template": []}, {"template": {"spec": {"requirements": [1, None]}}}]
)
def test_nonsense_is_reported_and_read_on(junk: Any) -> None:
    inventory = read({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "x"}, "spec": junk})
    assert only(inventory).refusals


@pytest.mark.parametrize(("text", "seconds"), [("1h30m", 5400), ("0s", 0), ("90s", 90), ("1d", None), ("", None)])
def test_time_spans(text: str, seconds: int | None) -> None:
    assert seconds_of(text) == seconds
