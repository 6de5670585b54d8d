"""NodeOverlay (`karpenter.md` §9.10)."""

from __future__ import annotations

from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import integer, mapping, under
from unpend.model.karpenter import NodeOverlay
from unpend.model.karpenter_fields import condition, requirements
from unpend.model.karpenter_labels import release
from unpend.model.metadata import identity
from unpend.model.problems import Problems
from unpend.model.quantities import resources
from unpend.records import replace
from unpend.source.document import Object
from unpend.source.place import Place

_EMPTY: dict[str, Any] = {}
_RULE = "karpenter:§9.10"
_ORDINARY = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})


def read_node_overlay(obj: Object, builder: Builder) -> None:
    """A NodeOverlay of `karpenter.sh/v1alpha1`."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec = mapping(obj.data, "spec", obj.root, problems) or _EMPTY
    place = under(obj.root, "spec")
    found = NodeOverlay(
        who.name,
        requirements(spec, place, problems, release(builder.settings.karpenter.version)),
        _number(spec, "price", place, problems),
        _number(spec, "priceAdjustment", place, problems),
        resources(spec, "capacity", place, problems),
        integer(spec, "weight", place, problems) or 0,
        condition(obj.data, "Ready")[0],
        object=obj,
    )
    if found.price is not None and found.price_adjustment is not None:
        problems.refuse(under(place, "price"), "`price` and `priceAdjustment` exclude each other", _RULE, "entry")
    for name, amount in found.capacity.items():
        if name in _ORDINARY:
            problems.refuse(amount.place, f"`capacity` takes extended resources only, not {name}", _RULE, "entry")
    if spec.get("weight") is not None and not 1 <= found.weight <= 10_000:
        problems.refuse(under(place, "weight"), f"`weight` must be from 1 to 10000, this is {found.weight}", _RULE)
    builder.add("node_overlays", replace(found, refusals=tuple(p for p in problems.found if p.refused)))
    builder.problems.found.extend(problems.found)


def _number(spec: dict[str, Any], key: str, place: Place, problems: Problems) -> str | None:
    value = spec.get(key)
    if value is None or isinstance(value, str):
        return value
    problems.wrong_type(under(place, key), "text", value)
    return None
