"""What readers fill: typed objects by field of the inventory, and problems."""

from __future__ import annotations

from typing import Any

from unpend.model.inventory import Inventory, OtherObject
from unpend.model.metadata import identity
from unpend.model.problems import Problems
from unpend.settings import Settings
from unpend.source.document import Object

BY_NAME = frozenset({"runtime_classes", "priority_classes", "namespaces", "storage_classes"})
"""Fields of the inventory that are mappings by name: of two objects with one name the first counts."""


class Builder:
    """An inventory while it is being read."""

    __slots__ = ("_lists", "_names", "object_count", "problems", "settings")

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.problems = Problems()
        self.object_count = 0
        self._lists: dict[str, list[Any]] = {}
        self._names: dict[str, dict[str, Any]] = {}

    def add(self, field: str, value: Any) -> None:
        """Append a typed object to a field of the inventory."""
        if field in BY_NAME:
            self._names.setdefault(field, {}).setdefault(value.name, value)
        else:
            self._lists.setdefault(field, []).append(value)

    def other(self, obj: Object, field: str = "others") -> None:
        """Keep an object that has no typed reader."""
        who = identity(obj, self.settings, Problems(muted=True))
        self.add(field, OtherObject(obj.api_version, obj.kind, who.namespace, who.name, obj))

    def pop(self, field: str) -> list[Any]:
        """Take what was added to a field so far."""
        return self._lists.pop(field, [])

    def finish(self) -> Inventory:
        """The inventory."""
        fields: dict[str, Any] = {field: tuple(values) for field, values in self._lists.items()}
        fields.update(self._names)
        return Inventory(**fields, problems=tuple(self.problems.found), object_count=self.object_count)
