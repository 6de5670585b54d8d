"""Pod templates inside kinds that nobody told us of: Argo Rollouts, Knative, KubeRay, Kubeflow, JobSet, operators' CRs.

A template is a mapping `{metadata?, spec: {containers: [{name | image, …}, …]}}`, wherever it stands. The search is
bounded, and it does not enter what only looks like objects: schemas, patterns, patches, values of charts, status.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import count, under
from unpend.model.inventory import Workload
from unpend.model.metadata import identity, labels
from unpend.model.pod_spec import template_of
from unpend.model.problems import Problems
from unpend.model.selectors import label_selector
from unpend.model.workloads import hook_of, workload_id
from unpend.source.document import Object
from unpend.source.place import Place, Step, render_path

_MOST_DEPTH = 24
_MOST_VALUES = 20_000
_CLOSED = frozenset(
    {
        "anyPattern",
        "examples",
        "metadata",
        "openAPIV3Schema",
        "overlay",
        "overlays",
        "patch",
        "patchStrategicMerge",
        "patches",
        "pattern",
        "properties",
        "schema",
        "status",
        "values",
        "valuesObject",
    }
)


def read_embedded(obj: Object, builder: Builder) -> bool:
    """Add one workload per template found in the object; False when there is none."""
    found = list(find_templates(obj.data))
    if not found:
        return False
    who = identity(obj, builder.settings, Problems(muted=True))
    shared = labels(who.data, "labels", who.place, Problems(muted=True))
    annotations = labels(who.data, "annotations", who.place, Problems(muted=True), checked=False)
    for path in found:
        # Which rules the kind has is not known, so nothing that is written is called wrong.
        problems = Problems(lenient=True)
        place = obj.root.at(*path)
        data: dict[str, Any] = place.value
        metadata = data.get("metadata")
        owner_place = place.parent
        owner: dict[str, Any] = {}
        if path and owner_place is not None and isinstance(owner_place.value, dict):
            owner = owner_place.value
        elif not path:
            owner, owner_place = data["spec"], under(place, "spec")
        shown = render_path(path)
        suffix = f":{shown}" if len(found) > 1 else ""
        template = template_of(data, metadata if isinstance(metadata, dict) else {}, place, problems, who.namespace)
        builder.add(
            "workloads",
            Workload(
                workload_id(obj.kind, who.namespace, who.name) + suffix,
                obj.kind,
                obj.api_version,
                who.namespace,
                who.name,
                obj,
                template,
                shown,
                _count(owner, "replicas", owner_place, problems),
                None if owner_place is None else under(owner_place, "replicas"),
                selector=None if owner_place is None else label_selector(owner, "selector", owner_place, problems),
                parallelism=_count(owner, "parallelism", owner_place, problems),
                completions=_count(owner, "completions", owner_place, problems),
                labels=shared,
                annotations=annotations,
                hook=hook_of(annotations),
                unknown=tuple(problems.unsure),
            ),
        )
    return True


def _count(owner: dict[str, Any], key: str, place: Place | None, problems: Problems) -> int | None:
    return None if place is None else count(owner, key, place, problems)


def find_templates(data: dict[str, Any]) -> Iterator[tuple[Step, ...]]:
    """The paths of the pod templates in plain data, in reading order."""
    budget = _MOST_VALUES
    pending: list[tuple[Any, tuple[Step, ...]]] = [(data, ())]
    while pending:
        value, path = pending.pop()
        budget -= 1
        if budget < 0 or len(path) > _MOST_DEPTH:
            continue
        inner: list[tuple[Any, tuple[Step, ...]]] = []
        if isinstance(value, dict):
            if _is_template(value, root=not path):
                yield path
                continue
            inner = [
                (item, (*path, key))
                for key, item in value.items()
                if isinstance(item, (dict, list)) and item and isinstance(key, str) and key not in _CLOSED
            ]
        elif isinstance(value, list):
            inner = [(item, (*path, i)) for i, item in enumerate(value) if isinstance(item, (dict, list)) and item]
        pending.extend(reversed(inner))


def _is_template(value: dict[str, Any], root: bool) -> bool:
    spec = value.get("spec")
    if not isinstance(spec, dict):
        return False
    containers = spec.get("containers")
    if not isinstance(containers, list) or not containers:
        return False
    metadata = value.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        return False
    # At the root (`spec.containers` of a Prometheus) entries without an image are patches of containers made elsewhere.
    wanted = ("image",) if root else ("name", "image")
    return all(isinstance(c, dict) and any(isinstance(c.get(key), str) for key in wanted) for c in containers)
