"""PodDisruptionBudget."""

from __future__ import annotations

from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import mapping, text, under
from unpend.model.inventory import PodDisruptionBudget
from unpend.model.metadata import identity
from unpend.model.problems import Problems
from unpend.model.selectors import label_selector
from unpend.model.workloads import int_or_percent
from unpend.source.document import Object


def read_disruption_budget(obj: Object, builder: Builder) -> None:
    """A PodDisruptionBudget (A-1563)."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec: dict[str, Any] = mapping(obj.data, "spec", obj.root, problems) or {}
    place = under(obj.root, "spec")
    selector = label_selector(spec, "selector", place, problems)
    if obj.version == "v1beta1" and selector is not None and not selector.expressions:
        selector = None
    low = int_or_percent(spec, "minAvailable", place, problems)
    high = int_or_percent(spec, "maxUnavailable", place, problems)
    if low is not None and high is not None:
        problems.refuse(
            low.place, "`minAvailable` and `maxUnavailable` exclude each other", "scheduler:A-1563", "entry"
        )
    for given in (low, high):
        if given is not None and given.percent is not None and given.percent > 100:
            problems.refuse(given.place, f"{given.percent}% is more than 100%", "scheduler:A-1563")
    policy = text(spec, "unhealthyPodEvictionPolicy", place, problems)
    builder.add(
        "disruption_budgets", PodDisruptionBudget(who.namespace, who.name, selector, low, high, policy, obj.root)
    )
    builder.problems.found.extend(problems.found)
