"""unpend finds the pods that would stay Pending, and the nodes that would never go away, before anything is deployed.

The public API is loaded on first use, since start-up time is a feature::

    import unpend

    verdicts = unpend.evaluate(objects, settings=unpend.Settings())
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unpend.version import __version__

if TYPE_CHECKING:
    from unpend.api import check, disruption, evaluate, load_settings
    from unpend.settings import Settings

__all__ = ["Settings", "__version__", "check", "disruption", "evaluate", "load_settings"]


def __getattr__(name: str) -> Any:
    if name in {"check", "disruption", "evaluate", "load_settings"}:
        from unpend import api

        return getattr(api, name)
    if name == "Settings":
        from unpend.settings import Settings

        return Settings
    raise AttributeError(f"module 'unpend' has no attribute {name!r}")
