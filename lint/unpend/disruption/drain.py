"""How long a node takes to go: grace periods of pods and nodes, preStop hooks (`karpenter.md` §9.8, `C-401`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from unpend.model.inventory import Workload
from unpend.model.pod import PodSpec
from unpend.records import dataclass
from unpend.source.place import Place

DEFAULT_GRACE = 30
FINITE_KINDS = ("Job", "Workflow", "TaskRun", "PipelineRun", "SparkApplication")
"""Endings of kinds whose pods end by themselves (CronJob, PyTorchJob): what holds a node until they do is meant so."""

_SLEEP = re.compile(r"(?:^|[;&|\s/])sleep\s+([0-9]+(?:\.[0-9]+)?)([smh]?)(?=$|[;&|\s\"'])")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_SHELLS = frozenset({"sh", "bash", "ash", "dash", "busybox"})


@dataclass(frozen=True, slots=True)
class PreStop:
    """A preStop hook that surely sleeps so many seconds."""

    container: str
    seconds: float
    place: Place


def grace_seconds(spec: PodSpec) -> int:
    """`terminationGracePeriodSeconds` with its default."""
    return DEFAULT_GRACE if spec.grace_seconds is None else spec.grace_seconds


def grace_place(spec: PodSpec) -> Place:
    """Where the grace period is written, or would be."""
    return spec.place.at("terminationGracePeriodSeconds") if spec.grace_seconds is not None else spec.place


def is_finite(workload: Workload) -> bool:
    """Whether the pods end by themselves."""
    if workload.kind.endswith(FINITE_KINDS) or workload.hook:
        return True
    return workload.template.spec.restart_policy != "Always"


def pre_stops(spec: PodSpec) -> Iterator[PreStop]:
    """The preStop hooks that sleep for a literal time; hooks that do anything else are left out."""
    for container in (*spec.containers, *spec.init_containers):
        data = container.place.value
        lifecycle = data.get("lifecycle") if isinstance(data, dict) else None
        hook = lifecycle.get("preStop") if isinstance(lifecycle, dict) else None
        if not isinstance(hook, dict):
            continue
        seconds = _seconds(hook)
        if seconds is not None:
            yield PreStop(container.name, seconds, container.place.at("lifecycle", "preStop"))


def _seconds(hook: dict[str, object]) -> float | None:
    sleep = hook.get("sleep")
    if isinstance(sleep, dict):
        value = sleep.get("seconds")
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else None
    action = hook.get("exec")
    command = action.get("command") if isinstance(action, dict) else None
    if not isinstance(command, list) or not all(isinstance(part, str) for part in command) or not command:
        return None
    words: list[str] = command
    if words[0].rsplit("/", 1)[-1] in _SHELLS:
        # A sleep inside a condition or loop is not a literal one.
        script = words[-1]
        if re.search(r"\b(?:if|while|until|for|case|timeout)\b|\|\|", script):
            return None
        found = [float(number) * _UNITS[unit] for number, unit in _SLEEP.findall(script)]
        return sum(found) if found else None
    return next((float(n) * _UNITS[u] for n, u in _SLEEP.findall(" ".join(words[:2]))), None)
