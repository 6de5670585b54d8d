from __future__ import annotations

import json
from pathlib import Path

import pytest

from unpend.catalog.load import catalogs_of
from unpend.config.errors import ConfigError
from unpend.config.load import load_config

_TYPE = {"name": "big", "capacity": {"cpu": "8"}, "offerings": [{"zone": "a", "capacityType": "on-demand"}]}


def _config(folder: Path, catalog: object) -> str:
    (folder / "types.json").write_text(catalog if isinstance(catalog, str) else json.dumps(catalog), encoding="utf-8")
    path = folder / ".unpend.yaml"
    path.write_text("clusters: {a: {catalog: [aws, types.json]}, b: {}}\n", encoding="utf-8")
    return str(path)


def test_a_file_of_types_is_read_with_the_config(tmp_path: Path) -> None:
    data: dict[str, object] = {
        "version": 1,
        "name": "metal",
        "provides": [{"group": "x.example", "kind": "MetalClass"}],
    }
    data["instanceTypes"] = [_TYPE]
    settings = load_config(_config(tmp_path, data)).settings("a")
    assert [catalog.name for catalog in catalogs_of(settings)] == ["aws", "metal"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("[]", "is no catalogue"), ("{", "types.json"), ('{"format": 1, "typos": 1}', "typos")],
)
def test_a_file_that_is_none_is_an_error_of_the_config(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(_config(tmp_path, text))


def test_a_file_that_is_not_there_too(tmp_path: Path) -> None:
    path = _config(tmp_path, "{}")
    (tmp_path / "types.json").unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(path)
