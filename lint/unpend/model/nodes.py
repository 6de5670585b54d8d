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
    """A Node; without allocatable its capacity counts, as the API defaults it."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec = mapping(obj.data, "spec", obj.root, problems) or _EMPTY
    spec_place = under(obj.root, "spec")
    status = mapping(obj.data, "status", obj.root, problems) or _EMPTY
    status_place = under(obj.root, "status")
    capacity = resources(status, "capacity", status_place, problems)
    given = status.get("allocatable") is not None
    builder.add(
        "nodes",
        Node(
            who.name,
            labels(who.data, "labels", who.place, problems),
            labels(who.data, "annotations", who.place, problems, checked=False),
            taints(spec, "taints", spec_place, problems),
            resources(status, "allocatable", status_place, problems) if given else capacity,
            capacity,
            boolean(spec, "unschedulable", spec_place, problems),
            obj.root,
        ),
    )
    builder.problems.found.extend(problems.found)
