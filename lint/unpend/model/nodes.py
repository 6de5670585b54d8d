"""Node objects."""

from __future__ import annotations

from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import boolean, mapping, under
from unpend.model.inventory import Node
from unpend.model.metadata import identity, labels
from unpend.model.placement_rules import taints
from unpend.model.problems import Problems
from unpend.model.quantities import resources
from unpend.source.document import Object

_EMPTY: dict[str, Any] = {}


def read_node(obj: Object, builder: Builder) -> None:
    """A Node; without allocatable its capacity counts, as the API defaults it.

    A manifest without either is not what the cluster has: the kubelet tells the capacity when the node joins. So it is
    capacity that nothing is known of; a Node that came without a text is as it is stored, and has none.
    """
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec = mapping(obj.data, "spec", obj.root, problems) or _EMPTY
    spec_place = under(obj.root, "spec")
    status = mapping(obj.data, "status", obj.root, problems) or _EMPTY
    status_place = under(obj.root, "status")
    capacity = resources(status, "capacity", status_place, problems)
    given = status.get("allocatable") is not None
    node = Node(
        who.name,
        labels(who.data, "labels", who.place, problems),
        labels(who.data, "annotations", who.place, problems, checked=False),
        taints(spec, "taints", spec_place, problems),
        resources(status, "allocatable", status_place, problems) if given else capacity,
        capacity,
        boolean(spec, "unschedulable", spec_place, problems),
        obj.root,
    )
    if obj.document.locator is None or _tells_capacity(obj.data):
        builder.add("nodes", node)
    else:
        builder.other(obj, "unread_capacity")
        said = "this Node says nothing of its capacity (status.allocatable), so what it takes is not known"
        problems.note(under(obj.root, "kind"), said, "scheduler:A-1535", severity="info")
    builder.problems.found.extend(problems.found)


def _tells_capacity(data: dict[str, Any]) -> bool:
    status = data.get("status")
    if not isinstance(status, dict):
        return status is not None  # a wrong type is told as such
    return status.get("allocatable") is not None or status.get("capacity") is not None
