"""The catalogue against what Karpenter publishes per instance type."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def compared() -> tuple[ModuleType, int, int, list[tuple[str, str, str | None, str | None]]]:
    module = tool("compare_instance_table")
    types, values, differences = module.compare()
    return module, types, values, differences


def test_labels_and_allocatable_agree_with_the_table(
    compared: tuple[ModuleType, int, int, list[tuple[str, str, str | None, str | None]]],
) -> None:
    module, types, values, differences = compared
    exceptions = json.loads(module.EXCEPTIONS.read_text())["exceptions"]
    assert types > 1350
    assert values > 29_000
    assert [one for one in differences if module.explained(one, exceptions) is None] == []
    assert len(differences) / values < 0.005


def test_every_exception_is_still_one(
    compared: tuple[ModuleType, int, int, list[tuple[str, str, str | None, str | None]]],
) -> None:
    module, _, _, differences = compared
    names = {(fact, name) for name, fact, _, _ in differences}
    families = {(fact, name.split(".")[0]) for fact, name in names}
    for entry in json.loads(module.EXCEPTIONS.read_text())["exceptions"]:
        for name in entry["types"]:
            assert (entry["fact"], name) in names
        for family in entry["families"]:
            assert (entry["fact"], family) in families


def test_the_catalogue_files_are_as_the_generator_writes_them() -> None:
    pytest.importorskip("moto")
    module = tool("build_catalog")
    assert module.render(module.aws(module.moto_resources())) == (module.TARGET / "aws.json").read_text()
    assert module.render(module.azure()) == (module.TARGET / "azure.json").read_text()
