"""Data that unpend ships: JSON Schemas, catalogues, cold-start profiles, and how to load them."""

from __future__ import annotations

from typing import Any


def load_text(name: str) -> str:
    """The text of a data file, such as `output.schema.json`. Raises `FileNotFoundError` when there is none."""
    return load_bytes(name).decode("utf-8")


def load_bytes(name: str) -> bytes:
    """The bytes of a data file, such as `catalog/aws.json`. Raises `FileNotFoundError` when there is none."""
    from importlib.resources import files

    path = files(__name__) / "data"
    for part in name.split("/"):
        path = path / part
    return path.read_bytes()


def load_json(name: str) -> Any:
    """The parsed JSON of a data file. Raises `FileNotFoundError` when there is none."""
    import json

    return json.loads(load_bytes(name))
