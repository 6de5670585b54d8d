"""What changes the number of replicas: HorizontalPodAutoscaler and KEDA ScaledObject."""

from __future__ import annotations

from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import count, mapping, text, under
from unpend.model.inventory import Autoscaler
from unpend.model.metadata import identity
from unpend.model.problems import Problems
from unpend.source.document import Object

_EMPTY: dict[str, Any] = {}


def read_horizontal_pod_autoscaler(obj: Object, builder: Builder) -> None:
    """A HorizontalPodAutoscaler of any version."""
    _read(obj, builder, "minReplicas", "maxReplicas", "")


def read_scaled_object(obj: Object, builder: Builder) -> None:
    """A KEDA ScaledObject; its target is a Deployment unless a kind is written."""
    _read(obj, builder, "minReplicaCount", "maxReplicaCount", "Deployment")


def _read(obj: Object, builder: Builder, low: str, high: str, default_kind: str) -> None:
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec = mapping(obj.data, "spec", obj.root, problems) or _EMPTY
    place = under(obj.root, "spec")
    target = mapping(spec, "scaleTargetRef", place, problems) or _EMPTY
    where = under(place, "scaleTargetRef")
    minimum = count(spec, low, place, problems)
    maximum = count(spec, high, place, problems)
    if minimum is not None and maximum is not None and minimum > maximum:
        problems.refuse(under(place, low), f"`{low}` ({minimum}) is above `{high}` ({maximum})", "scheduler:S-1641")
    builder.add(
        "autoscalers",
        Autoscaler(
            obj.kind,
            who.namespace,
            who.name,
            text(target, "kind", where, problems) or default_kind,
            text(target, "name", where, problems),
            minimum,
            maximum,
            obj.root,
        ),
    )
    builder.problems.found.extend(problems.found)
