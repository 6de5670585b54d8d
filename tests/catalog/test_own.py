"""Catalogues of the published schema; it can express every instance type of the conformance corpus."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from unpend.algebra.quantity import milli
from unpend.algebra.values import exists, one_of
from unpend.catalog.azure import azure_sizes
from unpend.catalog.catalog import CatalogError, Zone
from unpend.catalog.load import catalog_for, catalog_of, catalogs_of
from unpend.catalog.own import OwnCatalog, own_catalog
from unpend.model.node_labels import CAPACITY_TYPE, INSTANCE_TYPE, ZONE
from unpend.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "fixtures" / "conformance" / "karpenter"
FILES = ("scheduling", "provisioning", "instance_selection", "topology")


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tools_karpenter_cases", ROOT / "tools" / "karpenter_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = load_tool()


def same(ours: OwnCatalog, theirs: list[dict[str, Any]]) -> None:
    shapes = ours.shapes()
    assert shapes.names == tuple(one["name"] for one in theirs)
    for number, one in enumerate(theirs):
        made = shapes.type(number)
        assert made.labels == {key: tuple(values) for key, values in one["labels"].items() if values}
        assert {name: amount.low for name, amount in made.allocatable.items()} == {
            name: milli(amount) for name, amount in one["allocatable"].items()
        }
        offered = [
            (group.zone, group.capacity_type, group.prices[number], group.available)
            for group in shapes.offerings
            if group.sure >> number & 1
        ]
        wanted = [(o["zone"], o["capacityType"], o["price"], o["available"]) for o in one["offerings"]]
        assert sorted(offered) == sorted(wanted)


@pytest.mark.parametrize("name", json.loads((CASES / "instance_type_sets.json").read_text()))
def test_named_sets(name: str) -> None:
    same(own_catalog(TOOL.catalog(name)), TOOL.named_set(name))


def test_inline_types_of_every_case() -> None:
    inline = 0
    for file in FILES:
        for line in (CASES / f"{file}.jsonl").read_text().splitlines():
            case = json.loads(line)
            lists = [case.get("instanceTypes"), *case.get("instanceTypesByNodePool", {}).values()]
            for types in lists:
                if isinstance(types, list):
                    inline += 1
                    same(own_catalog(TOOL.catalog(types)), types)
    assert inline >= 20


def test_capacity_of_single_offerings() -> None:
    slots = {"test.com/extended-slots": "4"}
    catalog = own_catalog(
        base(
            capacity={"cpu": "4", "memory": "4Gi"},
            overhead={"kubeReserved": {"memory": "10Mi"}},
            offerings=[
                {"zone": "a", "capacity": slots, "overhead": {"systemReserved": {"memory": "1Gi"}}},
                {"zone": "b"},
            ],
        )
    )
    shapes = catalog.shapes()
    with_slots, plain = shapes.offerings
    assert plain.resources is None
    assert with_slots.resources is not None
    assert with_slots.resources.takes({"test.com/extended-slots": 4000}).sure == 1
    assert with_slots.resources.amount("memory", 0)[0] == milli("4Gi") - milli("10Mi") - milli("1Gi")
    assert shapes.resources.takes({"test.com/extended-slots": 1000}).possible == 0
    assert shapes.resources.amount("memory", 0)[0] == milli("4Gi") - milli("10Mi")


def test_reservations() -> None:
    catalog = own_catalog(
        base(
            offerings=[
                {"zone": "a", "capacityType": "reserved", "labels": {"example.com/reservation": "r-1"}, "count": 2},
                {"zone": "a"},
            ]
        )
    )
    reserved, _ = catalog.shapes().offerings
    assert reserved.counts == {0: 2}
    assert ("example.com/reservation", "r-1") in reserved.values(None)


def base(**entry: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "name": "own",
        "provides": [{"group": "example.com", "kind": "Machine"}],
        "instanceTypes": [{"name": "big", "capacity": {"cpu": 8}} | entry],
    }


def test_types_without_offerings_are_sold_where_the_pool_runs() -> None:
    shapes = own_catalog(base()).shapes(zones=[Zone("rack-1"), Zone("rack-2")])
    assert shapes.may(ZONE, one_of(["rack-2"])) == 1
    assert shapes.may(ZONE, one_of(["rack-3"])) == 0
    assert shapes.may(CAPACITY_TYPE, one_of(["on-demand"])) == 1
    assert shapes.may(INSTANCE_TYPE, one_of(["big"])) == 1
    nowhere = own_catalog(base(offerings=[])).shapes(zones=[Zone("rack-1")])
    assert nowhere.offerings == ()
    unnamed = own_catalog(base()).shapes()
    assert unnamed.may(ZONE, exists()) == 1


def test_complete_and_open_catalogues() -> None:
    closed = own_catalog(base())
    assert closed.knows("other")
    assert closed.unknown(INSTANCE_TYPE, one_of(["other"])) is None
    opened = own_catalog(base() | {"complete": False})
    assert not opened.knows("other")
    assert opened.unknown(INSTANCE_TYPE, one_of(["big", "other"])) == f"{INSTANCE_TYPE} other"


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ([], ()),
        (base() | {"name": ""}, ("name",)),
        (base() | {"tpyes": []}, ()),
        (base(capacity={"cpu": "4 cores"}), ("instanceTypes", 0, "capacity", "cpu")),
        (base(offerings=[{"capacity": {"cpu": "x"}}]), ("instanceTypes", 0, "offerings", 0, "capacity", "cpu")),
        (base(offerings=[{"capacityType": "free"}]), ("instanceTypes", 0, "offerings", 0, "capacityType")),
        (base() | {"instanceTypes": base()["instanceTypes"] * 2}, ("instanceTypes", 1, "name")),
    ],
)
def test_mistakes_have_a_place(data: Any, path: tuple[str | int, ...]) -> None:
    with pytest.raises(CatalogError) as caught:
        own_catalog(data)
    assert path in [place for place, _ in caught.value.problems]


def test_choosing_a_catalogue() -> None:
    mine = base() | {"nodePools": ["special"]}
    catalogs = catalogs_of(Settings(catalogs=("aws", base(), mine)))
    assert catalog_for(catalogs, "karpenter.k8s.aws", "EC2NodeClass") is catalogs[0]
    assert catalog_for(catalogs, "example.com", "Machine", "special") is catalogs[2]
    assert catalog_for(catalogs, "example.com", "Machine", "other") is catalogs[1]
    assert catalog_for(catalogs, "karpenter.azure.com", "AKSNodeClass") is None
    assert catalog_of(catalogs[1]) is catalogs[1]
    with pytest.raises(CatalogError, match="no catalogue is called 'asw'"):
        catalog_of("asw")


def test_azure_sizes() -> None:
    sizes = azure_sizes()
    one = sizes.get("standard_d4s_v5")
    assert one is not None
    assert (one.name, one.cpu, one.memory, one.gpu, one.arch) == ("Standard_D4s_v5", 4, 16384, 0, "amd64")
    assert sizes.get("Standard_None") is None
    assert sizes.date == "2026-08-31"
