"""Which nodes run Windows, and of which build."""

from __future__ import annotations

from unpend.model.inventory import Inventory
from unpend.model.node_labels import OS, WINDOWS_BUILD


def windows_builds(inventory: Inventory) -> frozenset[str] | None:
    """The Windows builds of nodes, groups and NodePools, as far as they are known; None where nothing runs Windows."""
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
    for runs_on, build_of_class in systems_of_node_pools(inventory).values():
        if runs_on == "windows":
            runs = True
            found.update([build_of_class] if build_of_class else ())
    return frozenset(found) if runs else None


def systems_of_node_pools(inventory: Inventory) -> dict[str, tuple[str, str]]:
    """By id, the operating system of the nodes of a NodePool and the Windows build, empty where there is none (M-10).

    The image decides; pools whose image is not known are left out.
    """
    families = {(c.group, c.kind, c.name): c.ami_family for c in inventory.node_classes}
    found = {}
    for pool in inventory.node_pools:
        ref = pool.node_class
        family = families.get((ref.group, ref.kind, ref.name))
        if family in _WINDOWS:
            found[f"NodePool/{pool.name}"] = ("windows", _WINDOWS[family])
        elif family is not None and family != "Custom":
            found[f"NodePool/{pool.name}"] = ("linux", "")
    return found


_WINDOWS = {"Windows2019": "10.0.17763", "Windows2022": "10.0.20348", "Windows2025": "10.0.26100"}
