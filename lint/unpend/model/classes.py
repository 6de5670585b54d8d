"""RuntimeClass and PriorityClass."""

from __future__ import annotations

from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import boolean, integer, mapping, text, under
from unpend.model.inventory import PriorityClass, RuntimeClass
from unpend.model.metadata import identity
from unpend.model.placement_rules import node_selector, tolerations
from unpend.model.problems import Problems
from unpend.model.quantities import resources
from unpend.source.document import Object

_EMPTY: dict[str, Any] = {}
_MOST = 1_000_000_000


def read_runtime_class(obj: Object, builder: Builder) -> None:
    """A RuntimeClass; node.k8s.io/v1alpha1 keeps its fields under `spec`."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    data, place = obj.data, obj.root
    if obj.version == "v1alpha1":
        data, place = mapping(data, "spec", place, problems) or _EMPTY, under(place, "spec")
    handler = "runtimeHandler" if obj.version == "v1alpha1" else "handler"
    overhead = mapping(data, "overhead", place, problems) or _EMPTY
    scheduling = mapping(data, "scheduling", place, problems) or _EMPTY
    where = under(place, "scheduling")
    builder.add(
        "runtime_classes",
        RuntimeClass(
            who.name,
            text(data, handler, place, problems),
            resources(overhead, "podFixed", under(place, "overhead"), problems),
            node_selector(scheduling, "nodeSelector", where, problems),
            tolerations(scheduling, "tolerations", where, problems),
            obj.root,
        ),
    )
    builder.problems.found.extend(problems.found)


def read_priority_class(obj: Object, builder: Builder) -> None:
    """A PriorityClass (A-1565)."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    value = integer(obj.data, "value", obj.root, problems)
    if not who.name.startswith("system-") and value is not None and value > _MOST:
        problems.refuse(under(obj.root, "value"), f"`value` may be at most {_MOST}", "scheduler:A-1565")
    builder.add(
        "priority_classes",
        PriorityClass(
            who.name,
            value or 0,
            boolean(obj.data, "globalDefault", obj.root, problems),
            text(obj.data, "preemptionPolicy", obj.root, problems),
            obj.root,
        ),
    )
    builder.problems.found.extend(problems.found)
