"""Namespaces and what they hold their pods to: LimitRange, ResourceQuota."""

from __future__ import annotations

from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import entries, mapping, text, under
from unpend.model.inventory import LimitRange, LimitRangeItem, Namespace, ResourceQuota
from unpend.model.metadata import identity, labels
from unpend.model.pod import Resources
from unpend.model.problems import Problems
from unpend.model.quantities import resources
from unpend.model.selectors import unknown_word
from unpend.source.document import Object
from unpend.source.place import Place

_KINDS = frozenset({"Container", "Pod", "PersistentVolumeClaim"})
NAME_LABEL = "kubernetes.io/metadata.name"


def read_namespace(obj: Object, builder: Builder) -> None:
    """A Namespace; the API server labels it with its own name."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    found = {key: label.value for key, label in labels(who.data, "labels", who.place, problems).items()}
    found[NAME_LABEL] = who.name
    annotations = labels(who.data, "annotations", who.place, problems, checked=False)
    builder.add("namespaces", Namespace(who.name, found, annotations, obj.root))
    builder.problems.found.extend(problems.found)


def read_limit_range(obj: Object, builder: Builder) -> None:
    """A LimitRange, as written: its own defaulting (A-221) is admission's."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec: dict[str, Any] = mapping(obj.data, "spec", obj.root, problems) or {}
    items = tuple(
        _item(entry, here, problems) for entry, here in entries(spec, "limits", under(obj.root, "spec"), problems)
    )
    builder.add("limit_ranges", LimitRange(who.namespace, who.name, items, obj.root))
    builder.problems.found.extend(problems.found)


def read_quota(obj: Object, builder: Builder) -> None:
    """A ResourceQuota: what its namespace may have altogether (A-238)."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec: dict[str, Any] = mapping(obj.data, "spec", obj.root, problems) or {}
    hard = resources(spec, "hard", under(obj.root, "spec"), problems)
    scoped = bool(spec.get("scopes") or spec.get("scopeSelector"))
    builder.add("quotas", ResourceQuota(who.namespace, who.name, hard, scoped, obj.root))
    builder.problems.found.extend(problems.found)


def _item(entry: dict[str, Any], place: Place, problems: Problems) -> LimitRangeItem:
    kind = text(entry, "type", place, problems)
    if kind not in _KINDS and "/" not in kind:
        problems.refuse(under(place, "type"), unknown_word(kind, "type", _KINDS), "scheduler:A-1564")
    item = LimitRangeItem(
        kind,
        resources(entry, "min", place, problems),
        resources(entry, "max", place, problems),
        resources(entry, "default", place, problems),
        resources(entry, "defaultRequest", place, problems),
        resources(entry, "maxLimitRequestRatio", place, problems),
        place,
    )
    if kind == "Pod":
        for key, given in (("default", item.default), ("defaultRequest", item.default_request)):
            if given:
                problems.refuse(under(place, key), f"`{key}` is only for items of type Container", "scheduler:A-1564")
    _check_order(("min", item.minimum), ("max", item.maximum), problems)
    _check_order(("min", item.minimum), ("defaultRequest", item.default_request), problems)
    _check_order(("min", item.minimum), ("default", item.default), problems)
    _check_order(("defaultRequest", item.default_request), ("default", item.default), problems)
    _check_order(("defaultRequest", item.default_request), ("max", item.maximum), problems)
    _check_order(("default", item.default), ("max", item.maximum), problems)
    for name, ratio in item.max_ratio.items():
        if ratio.milli < 1000:
            problems.refuse(ratio.place, f"the ratio of {name} must be at least 1", "scheduler:A-1564")
    return item


def _check_order(low: tuple[str, Resources], high: tuple[str, Resources], problems: Problems) -> None:
    for name, amount in low[1].items():
        other = high[1].get(name)
        if other is not None and amount.milli > other.milli:
            problems.refuse(
                amount.place,
                f"{low[0]} of {name} ({amount.text}) is above {high[0]} ({other.text})",
                "scheduler:A-1564",
            )
