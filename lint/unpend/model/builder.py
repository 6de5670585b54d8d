"""What readers fill: typed objects by field of the inventory, and problems."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unpend.model.inventory import Inventory, OtherObject, Workload
from unpend.model.kinds import is_cluster_scoped
from unpend.model.metadata import identity
from unpend.model.problems import Problems
from unpend.records import replace
from unpend.settings import Settings
from unpend.source.document import Object

BY_NAME = frozenset({"runtime_classes", "priority_classes", "namespaces", "storage_classes"})
"""Fields of the inventory that are mappings by name: of two objects with one name the first counts."""


class Builder:
    """An inventory while it is being read."""

    __slots__ = ("_last", "_lists", "_names", "kept", "object_count", "problems", "settings")

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.problems = Problems()
        self.object_count = 0
        self._lists: dict[str, list[Any]] = {}
        self._names: dict[str, dict[str, Any]] = {}
        self.kept: dict[str, list[Object]] = {}
        self._last: dict[str, Callable[[Builder], None]] = {}

    def keep(self, name: str, obj: Object, last: Callable[[Builder], None]) -> None:
        """Hold back an object that only means something with others; `last` reads what was kept under the name."""
        self.kept.setdefault(name, []).append(obj)
        self._last[name] = last

    def add(self, field: str, value: Any) -> None:
        """Append a typed object to a field of the inventory."""
        if field in BY_NAME:
            self._names.setdefault(field, {}).setdefault(value.name, value)
        else:
            self._lists.setdefault(field, []).append(value)

    def other(self, obj: Object, field: str = "others") -> None:
        """Keep an object that has no typed reader."""
        who = identity(obj, self.settings, Problems(muted=True))
        namespace = who.namespace
        if is_cluster_scoped(obj.group, obj.kind):
            namespace = ""
        self.add(field, OtherObject(obj.api_version, obj.kind, namespace, who.name, obj))

    def drop_owned(self) -> None:
        """Leave out workloads that another workload of these objects made: a dump of a cluster has both."""
        workloads: list[Workload] = self._lists.get("workloads", [])
        owned = {id(w): owner for w in workloads for owner in [_owner(w)] if owner is not None}
        if not owned:
            return
        # A kind that is read from its root only resembles a pod; what it makes is the better reading.
        makers = {(w.kind, w.namespace, w.name) for w in workloads if w.template_path}
        self._lists["workloads"] = [w for w in workloads if owned.get(id(w)) not in makers]

    def tell_apart(self) -> None:
        """Number workloads that share an id, as the copies of overlays do: each has a verdict of its own."""
        workloads: list[Workload] = self._lists.get("workloads", [])
        seen: dict[str, int] = {}
        for index, workload in enumerate(workloads):
            count = seen[workload.id] = seen.get(workload.id, 0) + 1
            if count > 1:
                workloads[index] = replace(workload, id=f"{workload.id}#{count}")

    def finish(self) -> Inventory:
        """The inventory."""
        for last in self._last.values():
            last(self)
        fields: dict[str, Any] = {field: tuple(values) for field, values in self._lists.items()}
        fields.update(self._names)
        return Inventory(**fields, problems=tuple(self.problems.found), object_count=self.object_count)


def _owner(workload: Workload) -> tuple[str, str, str] | None:
    """Kind, namespace and name of the controller that made a workload."""
    metadata = workload.object.data.get("metadata")
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    for owner in owners if isinstance(owners, list) else ():
        if isinstance(owner, dict) and owner.get("controller") is True:
            return (str(owner.get("kind")), workload.namespace, str(owner.get("name")))
    return None
