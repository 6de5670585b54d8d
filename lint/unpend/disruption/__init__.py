"""What keeps nodes from going away. The package can be called: `unpend.disruption(objects, settings)` is public API.

Importing a submodule binds the package to the name that the function has in `unpend`, so the package answers for it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """A package that passes a call on to the function of the same name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from importlib import import_module

        return import_module("unpend.api").disruption(*args, **kwargs)


sys.modules[__name__].__class__ = _CallablePackage
