"""What autoscalers of workloads look at: HorizontalPodAutoscaler, KEDA ScaledObject, VerticalPodAutoscaler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unpend.model.inventory import Autoscaler, Inventory, OtherObject
from unpend.records import dataclass
from unpend.source.place import Place

Target = tuple[str, str, str]
"""Kind, namespace and name of what is scaled."""

_RESOURCES = ("cpu", "memory")


@dataclass(frozen=True, slots=True)
class ResourceMetric:
    """A metric that is a share of the request: utilisation of a resource, of one container where it names one."""

    resource: str
    container: str | None
    place: Place


@dataclass(frozen=True, slots=True)
class Vertical:
    """A VerticalPodAutoscaler that changes requests, and the resources that it changes."""

    name: str
    resources: tuple[str, ...]
    place: Place


def target_of(autoscaler: Autoscaler) -> Target:
    """What an autoscaler scales."""
    return (autoscaler.target_kind, autoscaler.namespace, autoscaler.target_name)


def utilisation_metrics(autoscaler: Autoscaler) -> Iterator[ResourceMetric]:
    """The metrics that need a request to be a share of (`scheduler:S-1641`). An HPA without any looks at cpu."""
    spec = autoscaler.place.at("spec")
    data = spec.value
    if not isinstance(data, dict):
        return
    if autoscaler.kind == "ScaledObject":
        yield from _triggers(data, spec)
        return
    metrics = data.get("metrics")
    if not metrics:
        key = "targetCPUUtilizationPercentage"
        yield ResourceMetric("cpu", None, spec.at(key) if key in data else spec)
        return
    for number, entry in enumerate(metrics if isinstance(metrics, list) else ()):
        if isinstance(entry, dict):
            yield from _metric(entry, spec.at("metrics", number))


def _metric(entry: dict[str, Any], place: Place) -> Iterator[ResourceMetric]:
    field = {"Resource": "resource", "ContainerResource": "containerResource"}.get(str(entry.get("type")))
    source = entry.get(field) if field else None
    if not isinstance(source, dict) or source.get("name") not in _RESOURCES:
        return
    target = source.get("target")
    by_share = isinstance(target, dict) and target.get("type") == "Utilization"
    if by_share or "targetAverageUtilization" in source:
        container = source.get("container")
        yield ResourceMetric(source["name"], container if isinstance(container, str) else None, place)


def _triggers(data: dict[str, Any], spec: Place) -> Iterator[ResourceMetric]:
    triggers = data.get("triggers")
    for number, entry in enumerate(triggers if isinstance(triggers, list) else ()):
        if not isinstance(entry, dict) or entry.get("type") not in _RESOURCES:
            continue
        metadata = entry.get("metadata")
        kind = entry.get("metricType") or (metadata.get("type") if isinstance(metadata, dict) else None)
        if kind in (None, "Utilization"):
            name = metadata.get("containerName") if isinstance(metadata, dict) else None
            yield ResourceMetric(entry["type"], name if isinstance(name, str) else None, spec.at("triggers", number))


def verticals(inventory: Inventory) -> dict[Target, Vertical]:
    """The VerticalPodAutoscalers that act, by what they act on; those with mode Off only recommend."""
    found: dict[Target, Vertical] = {}
    for item in inventory.others:
        if item.kind == "VerticalPodAutoscaler":
            one = _vertical(item)
            if one is not None:
                found.setdefault(*one)
    return found


def _vertical(item: OtherObject) -> tuple[Target, Vertical] | None:
    spec = item.object.data.get("spec")
    target = spec.get("targetRef") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(target, dict):
        return None
    policy = spec.get("updatePolicy")
    if isinstance(policy, dict) and str(policy.get("updateMode")) in ("Off", "False"):
        return None
    resources: set[str] = set()
    policies = spec.get("resourcePolicy")
    listed = policies.get("containerPolicies") if isinstance(policies, dict) else None
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and entry.get("mode") != "Off":
            controlled = entry.get("controlledResources")
            listed_names = [c for c in controlled if isinstance(c, str)] if isinstance(controlled, list) else _RESOURCES
            resources.update(listed_names)
    if not listed:
        resources.update(_RESOURCES)
    key = (str(target.get("kind")), item.namespace, str(target.get("name")))
    return key, Vertical(item.name, tuple(sorted(resources)), item.place)
