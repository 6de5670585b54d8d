from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from unpend.model.reading import read_objects
from unpend.rule import Facts
from unpend.settings import Settings, World
from unpend.source.reading import read_text
from unpend.startup.analysis import Starts, starts_in

Start = Callable[..., Starts]


@pytest.fixture
def start() -> Start:
    """The starts of manifests in a closed world; `startup` as `Settings.startup` has it."""

    def make(text: str, **startup: Any) -> Starts:
        settings = Settings(world=World.all_closed(), startup=startup)
        inventory = read_objects(read_text(text, "a.yaml").objects, settings)
        return starts_in(Facts(inventory, settings))

    return make
