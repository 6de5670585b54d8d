"""Finding `.unpend.yaml`; reading it is `unpend.config.load`, which a run without a config does not need."""

from __future__ import annotations

NAMES = (".unpend.yaml", ".unpend.yml")


def find_config(start: str) -> str | None:
    """The path of the config that holds for the folder `start`: the nearest one upwards, up to the repository root.

    The repository root is the first folder upwards with a `.git`; without one, the search goes up to the top.
    """
    from unpend.source.discovery import find_upwards

    return find_upwards(start, NAMES, stop_at=".git")
