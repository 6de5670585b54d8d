"""How long a start may take: an annotation, the command line, or the config."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from unpend.algebra.duration import parse_duration
from unpend.model.inventory import Workload
from unpend.model.pod import Label
from unpend.records import dataclass, field
from unpend.settings import Settings
from unpend.source.place import Place

ANNOTATION = "unpend.dev/cold-start-budget"


@dataclass(frozen=True, slots=True)
class Budget:
    """Seconds that a start may take, and who says so; `place` is where, None for the config and the command line."""

    seconds: float
    origin: str
    place: Place | None = field(default=None, compare=False, repr=False)


def seconds_of(text: str) -> float | None:
    """A duration such as `90s` or `1m30s` in seconds, None for anything else."""
    try:
        return parse_duration(text)
    except ValueError:
        return None


def written(workload: Workload) -> Label | None:
    """The annotation of a workload or its template, the nearer one first."""
    return workload.template.annotations.get(ANNOTATION) or workload.annotations.get(ANNOTATION)


def has_budgets(settings: Settings) -> bool:
    """Whether the config or the command line gives any budget."""
    return bool(settings.startup.get("budget"))


def budget_of(workload: Workload, settings: Settings) -> Budget | None:
    """The budget of a workload: its annotation, else an entry for its id or name, for its RuntimeClass, the default."""
    label = written(workload)
    seconds = None if label is None else seconds_of(label.value)
    if label is not None and seconds is not None:
        return Budget(seconds, "annotation", label.place)
    budgets: Mapping[str, Any] = settings.startup.get("budget") or {}
    if not budgets:
        return None
    names = (workload.id, f"{workload.namespace}/{workload.name}", workload.name)
    matching = [key for key in budgets if key != "default" and any(fnmatchcase(name, key) for name in names)]
    runtime = workload.template.spec.runtime_class
    if matching:
        key = max(matching, key=lambda key: (len(key), key))
    elif runtime and runtime in budgets:
        key = runtime
    else:
        key = "default"
    return Budget(float(budgets[key]), f"budget '{key}'") if key in budgets else None
