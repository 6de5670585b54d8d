"""Which nodes run Windows, and of which build."""

from __future__ import annotations

from unpend.model.inventory import Inventory
from unpend.model.node_labels import OS, WINDOWS_BUILD


def windows_builds(inventory: Inventory) -> frozenset[str] | None:
    """The Windows builds of nodes and groups, as far as they are known; None where nothing runs Windows."""
    found: set[str] = set()
    runs = False
    for node in inventory.nodes:
        system = node.labels.get(OS)
        if system is not None and system.value == "windows":
            runs = True
            build = node.labels.get(WINDOWS_BUILD)
            found.update([build.value] if build is not None else ())
    for group in inventory.node_groups:
        if group.os == "windows":
            runs = True
            found.update([group.windows_build] if group.windows_build is not None else ())
    return frozenset(found) if runs else None
