"""Objects that are only a part of an object: patches of kustomize, which lie beside whole manifests and look like them.

What such a text says of its pods is not what they will be, and what it does not say is not missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import under
from unpend.source.document import Object

_TEMPLATE = ("spec", "template", "spec")
_REQUIRED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Deployment": (("spec", "selector"), _TEMPLATE),
    "ReplicaSet": (("spec", "selector"), _TEMPLATE),
    "StatefulSet": (("spec", "selector"), _TEMPLATE),
    "DaemonSet": (("spec", "selector"), _TEMPLATE),
    "Job": ((*_TEMPLATE, "restartPolicy"), _TEMPLATE),
    "CronJob": (("spec", "schedule"), ("spec", "jobTemplate", *_TEMPLATE)),
}
"""By kind: a field that every whole object has, and where its pods are described."""

GROUPS = frozenset({"apps", "batch"})


def is_patch(obj: Object) -> bool:
    """Whether an object is surely or most likely a patch.

    Surely: it has a directive such as `$patch`. Most likely: two things are missing that no object can do without, the
    images of all its containers and what its kind requires beside them. (Somebody who writes a whole manifest may
    forget one.) Objects that came without a text are whole: an API client has them from where they are.
    """
    if obj.document.locator is None:
        return False
    data = obj.data
    required, pods = _REQUIRED.get(obj.kind, ((), ()))
    if pods and obj.group in GROUPS and _at(data, required) is None:
        containers = _at(data, (*pods, "containers"))
        if containers is None:
            return True
        if isinstance(containers, list) and containers and not any(_has_image(one) for one in containers):
            return True
    return any(_has_directive(part) for part in _parts(data, pods))


def leave_out(obj: Object, builder: Builder) -> None:
    """Keep a patch as an object without a reader, and say so."""
    builder.other(obj)
    builder.problems.note(
        under(obj.root, "kind"),
        f"this is a part of a {obj.kind}, as patches of kustomize are, and not checked; "
        "check what `kustomize build` prints",
        "scheduler:A-1503",
        severity="info",
    )


def _at(data: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        if not isinstance(data, dict):
            return data  # of a wrong type, which is a fault of its own, not something that is missing
        data = data.get(step)
    return data


def _has_image(container: Any) -> bool:
    return not isinstance(container, dict) or "image" in container


def _parts(data: dict[str, Any], pods: tuple[str, ...]) -> Iterator[Any]:
    """The mappings of an object that a patch may have a directive in, as far as they are of interest here."""
    yield data
    part: Any = data
    for step in pods:
        part = part.get(step) if isinstance(part, dict) else None
        yield part
    containers = part.get("containers") if isinstance(part, dict) else None
    if isinstance(containers, list):
        yield from containers


def _has_directive(part: Any) -> bool:
    return isinstance(part, dict) and any(isinstance(key, str) and key[:1] == "$" for key in part)
