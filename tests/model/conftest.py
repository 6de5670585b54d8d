"""Manifests as text in, an inventory out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from unpend.model.inventory import Inventory
from unpend.model.reading import read_objects
from unpend.settings import Settings, World
from unpend.source.document import objects_of

Read = Callable[..., Inventory]


def _documents(text: str) -> list[dict[str, Any]]:
    return [data for data in yaml.safe_load_all(text) if data is not None]


@pytest.fixture
def read() -> Read:
    def run(*texts: str, settings: Settings | None = None) -> Inventory:
        documents = [data for text in texts for data in _documents(text)]
        return read_objects(objects_of(documents), settings or Settings())

    return run


@pytest.fixture
def closed() -> Settings:
    return Settings(world=World.all_closed())
