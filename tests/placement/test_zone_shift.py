"""The world without one zone, in both readings."""

from __future__ import annotations

from typing import Any

import pytest

import unpend
from unpend.model.reading import read_objects
from unpend.placement.zone_shift import ZoneRow, without_zone, zone_losses, zones_nowhere
from unpend.records import replace
from unpend.rule import Facts
from unpend.settings import Settings, World
from unpend.source.document import objects_of

ZONE = "topology.kubernetes.io/zone"
Json = dict[str, Any]


def node(name: str, zone: str, cpu: str = "4") -> Json:
    labels = {"kubernetes.io/hostname": name, ZONE: zone}
    allocatable = {"cpu": cpu, "memory": "16Gi", "pods": "58"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": allocatable},
    }


def pool(*zones: str, limits: Json | None = None) -> list[Json]:
    ref = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    requirements = [{"key": ZONE, "operator": "In", "values": list(zones)}]
    spec: Json = {"template": {"spec": {"nodeClassRef": ref, "requirements": requirements}}}
    if limits:
        spec["limits"] = limits
    terms = [{"tags": {"discovery": "prod"}}]
    node_class = {
        "role": "nodes",
        "amiSelectorTerms": [{"alias": "al2023@v20260101"}],
        "subnetSelectorTerms": terms,
        "securityGroupSelectorTerms": terms,
    }
    return [
        {
            "apiVersion": "karpenter.k8s.aws/v1",
            "kind": "EC2NodeClass",
            "metadata": {"name": "default"},
            "spec": node_class,
        },
        {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"}, "spec": spec},
    ]


def deployment(replicas: int, cpu: str = "100m", **spec: Any) -> Json:
    container = {"name": "web", "image": "web:1", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container], **spec}}
    selector = {"matchLabels": {"app": "web"}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": selector, "template": template},
    }


def spread(when: str = "DoNotSchedule", skew: int = 1, **more: Any) -> list[Json]:
    selector = {"matchLabels": {"app": "web"}}
    return [{"maxSkew": skew, "topologyKey": ZONE, "whenUnsatisfiable": when, "labelSelector": selector, **more}]


def anywhere() -> list[Json]:
    node_class, nodes = pool("us-east-1a")
    nodes["spec"]["template"]["spec"]["requirements"] = [
        {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}
    ]
    return [node_class, nodes]


def rows(*objects: Json) -> list[ZoneRow]:
    settings = Settings(world=World.all_closed())
    return [row for _, row in zone_losses(Facts(read_objects(objects_of(list(objects)), settings), settings)).rows()]


def most(row: ZoneRow) -> list[tuple[int, int]]:
    return [(cell.loss.at_most, cell.shift.at_most) for cell in row.cells]


THREE = pool("us-east-1a", "us-east-1b", "us-east-1c")


def test_a_free_workload_keeps_all_replicas() -> None:
    (row,) = rows(*THREE, deployment(6))
    assert most(row) == [(6, 6)] * 3
    assert not any(cell.changes for cell in row.cells)


def test_a_hard_spread_hangs_while_the_zone_still_counts() -> None:
    (row,) = rows(*THREE, deployment(6, topologySpreadConstraints=spread()))
    assert most(row) == [(6, 2)] * 3
    assert {cell.shift.cause for cell in row.cells} == {"topology"}


def test_min_domains_makes_the_loss_as_bad() -> None:
    (row,) = rows(*THREE, deployment(6, topologySpreadConstraints=spread(minDomains=3)))
    assert most(row) == [(2, 2)] * 3


def test_a_soft_spread_saves_it() -> None:
    (row,) = rows(*THREE, deployment(6, topologySpreadConstraints=spread("ScheduleAnyway")))
    assert all(cell.soft and cell.changes for cell in row.cells)
    assert most(row) == [(6, 6)] * 3


def test_what_is_pinned_is_gone() -> None:
    (row,) = rows(*THREE, deployment(2, nodeSelector={ZONE: "us-east-1b"}), deployment_elsewhere())[:1]
    (cell,) = row.cells
    assert (cell.zone, cell.loss.verdict, cell.loss.at_most) == ("us-east-1b", "never", 0)


def deployment_elsewhere() -> Json:
    other = deployment(1, nodeSelector={ZONE: "us-east-1a"})
    other["metadata"] = {"name": "other"}
    return other


def test_zone_anti_affinity_loses_one_replica() -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    (row,) = rows(*THREE, deployment(3, affinity=anti))
    assert most(row) == [(2, 2)] * 3


def test_nodes_that_are_left_have_to_hold_all() -> None:
    nodes = [node("n1", "a"), node("n2", "b"), node("n3", "b")]
    (row,) = rows(*nodes, deployment(3, cpu="3"))
    assert most(row) == [(2, 2), (1, 1)]


def test_a_single_zone_says_nothing() -> None:
    assert rows(node("n1", "a"), deployment(1)) == []


def test_zones_that_nobody_knows_are_not_guessed() -> None:
    assert rows(*anywhere(), deployment(3)) == []


@pytest.mark.parametrize("zones", [("us-east-1b",), ("use1-az9", "us-east-1b")])
def test_a_zone_shift_is_the_world_of_the_run(zones: tuple[str, ...]) -> None:
    objects = [*THREE, node("n1", "us-east-1b"), deployment(2, nodeSelector={ZONE: "us-east-1b"})]
    assert unpend.evaluate(objects)[0].verdict == "fits"
    assert unpend.evaluate(objects, Settings(zone_shift=zones))[0].verdict == "never"


def test_without_a_zone_nothing_of_it_is_left() -> None:
    objects = [*THREE, node("n1", "us-east-1a"), node("n2", "us-east-1b")]
    settings = Settings(zones=("us-east-1a", "us-east-1b"))
    inventory = read_objects(objects_of(objects), settings)
    world, changed = without_zone(inventory, settings, "us-east-1a")
    assert [n.name for n in world.nodes] == ["n2"]
    assert world.node_pools[0].requirements[0].values == ("us-east-1b", "us-east-1c")
    assert changed.zones == ("us-east-1b",)
    only = replace(
        inventory, node_pools=(replace(inventory.node_pools[0], requirements=_only(inventory, "us-east-1a")),)
    )
    assert without_zone(only, settings, "us-east-1a")[0].node_pools == ()


def _only(inventory: Any, zone: str) -> Any:
    return (replace(inventory.node_pools[0].requirements[0], values=(zone,)),)


def test_a_zone_that_nothing_mentions_is_told() -> None:
    def nowhere(zone: str, *objects: Json) -> tuple[str, ...]:
        settings = Settings(zone_shift=(zone,))
        return zones_nowhere(read_objects(objects_of(list(objects)), settings), settings)

    assert nowhere("us-east-1x", *THREE) == ("us-east-1x",)
    assert nowhere("us-east-1a", *THREE) == ()
    assert nowhere("b", node("n1", "a"), node("n2", "b")) == ()
    assert nowhere("c", node("n1", "a"), node("n2", "b")) == ("c",)
    assert nowhere("use1-az4", *anywhere()) == ()
