from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from unpend_schemas import load_bytes, load_json, load_text

ROOT = Path(__file__).resolve().parents[2]


def test_data_is_loaded_by_name() -> None:
    assert load_json("output.schema.json")["type"] == "object"
    assert load_text("output.schema.json").encode() == load_bytes("output.schema.json")


@pytest.mark.parametrize("load", [load_bytes, load_text, load_json])
def test_missing_data_says_so(load: object) -> None:
    assert callable(load)
    with pytest.raises(FileNotFoundError):
        load("no-such.json")


def test_every_shipped_schema_is_a_schema() -> None:
    folder = ROOT / "schemas" / "unpend_schemas" / "data"
    schemas = sorted(path.name for path in folder.glob("*.schema.json"))
    assert "output.schema.json" in schemas
    for name in schemas:
        jsonschema.validators.validator_for(load_json(name)).check_schema(load_json(name))


def test_loading_costs_no_imports(tmp_path: Path) -> None:
    code = "import sys, unpend_schemas as s; s.load_bytes('output.schema.json'); print('importlib.util' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(ROOT / "schemas")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
