"""Priority admission (A-231)."""

from __future__ import annotations

from collections.abc import Iterable

from unpend.model.admission_findings import AdmissionFindings
from unpend.model.inventory import Inventory
from unpend.model.pod import PodSpec, changed
from unpend.settings import Settings

BUILT_IN = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Priority classes that every cluster has."""


def apply_priority(spec: PodSpec, inventory: Inventory, settings: Settings, found: AdmissionFindings) -> PodSpec:
    """The spec with the number and the preemption policy of its class; without a class, of the global default."""
    name = spec.priority_class
    if not name:
        default = next((c for c in inventory.priority_classes.values() if c.global_default), None)
        if default is None:
            return spec
        policy = spec.preemption_policy or default.preemption_policy
        return changed(spec, priority=default.value, preemption_policy=policy, priority_class=default.name)
    place = spec.place.at("priorityClassName")
    given = inventory.priority_classes.get(name)
    if given is None and name not in BUILT_IN:
        if settings.world.classes == "closed":
            near = _near(name, (*inventory.priority_classes, *BUILT_IN))
            found.refuse(f'there is no PriorityClass "{name}"{near}: every pod is refused', place, "scheduler:A-231")
        return spec
    value = given.value if given is not None else BUILT_IN[name]
    if spec.priority is not None and spec.priority != value:
        found.refuse(
            f"`priority` is {spec.priority}, but PriorityClass {name} has {value}; leave `priority` out",
            spec.place.at("priority"),
            "scheduler:A-1547",
            *(((f"value of PriorityClass {name}", given.place.at("value")),) if given is not None else ()),
        )
    policy = spec.preemption_policy or (given.preemption_policy if given is not None else "")
    return changed(spec, priority=value, preemption_policy=policy)


def _near(name: str, known: Iterable[str]) -> str:
    """` (did you mean "high"?)` for the nearest name that there is, else an empty text."""
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(known), 1, 0.75)
    return f' (did you mean "{near[0]}"?)' if near else ""
