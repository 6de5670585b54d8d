"""Data that unpend ships: JSON Schemas, catalogues, cold-start profiles, and how to load them."""

from __future__ import annotations

import os.path
from typing import Any


def load_bytes(name: str) -> bytes:
    """The bytes of a data file, such as `catalog/aws.json`. Raises `FileNotFoundError` when there is none."""
    parts = name.split("/")
    get_data = getattr(__spec__.loader, "get_data", None) if __spec__ else None
    if get_data is not None:  # files and zip archives; far cheaper to start than importlib.resources
        try:
            data: bytes = get_data(os.path.join(os.path.dirname(__file__), "data", *parts))
        except OSError as error:
            raise FileNotFoundError(2, "there is no such data file", name) from error
        return data
    from importlib.resources import files

    path = files(__name__) / "data"
    for part in parts:
        path = path / part
    return path.read_bytes()


def load_text(name: str) -> str:
    """The text of a data file. Raises `FileNotFoundError` when there is none."""
    return load_bytes(name).decode("utf-8")


def load_json(name: str) -> Any:
    """The parsed JSON of a data file. Raises `FileNotFoundError` when there is none."""
    import json

    return json.loads(load_bytes(name))
