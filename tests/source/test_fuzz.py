"""A small run of `tools/fuzz_yaml.py`: the reader against PyYAML's composer on mutants."""

from __future__ import annotations

import importlib.util
import random
from itertools import islice
from pathlib import Path
from types import ModuleType

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "fuzz_yaml.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    if not TOOL.exists():
        pytest.skip("runs in the repository only")
    spec = importlib.util.spec_from_file_location("fuzz_yaml", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(4))
def test_mutants_read_the_same_in_two_ways(fuzz: ModuleType, seed: int) -> None:
    wrong = {
        text: found for text in islice(fuzz.mutants(random.Random(seed)), 400) if (found := fuzz.disagreements(text))
    }
    assert wrong == {}


def test_the_fragments_themselves(fuzz: ModuleType) -> None:
    assert [fuzz.disagreements(text) for text in fuzz.FRAGMENTS] == [[]] * len(fuzz.FRAGMENTS)


def test_a_wrong_reading_is_noticed(fuzz: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "plain_reading", lambda text: {"a": 2})
    assert fuzz.disagreements("a: 1\n") == ["read as {'a': 1}, the straightforward reading gives {'a': 2}"]
