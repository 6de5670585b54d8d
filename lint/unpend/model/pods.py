"""Pod objects: a workload of their own, or a bound pod that occupies its node."""

from __future__ import annotations

from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import entries, mapping, text, under
from unpend.model.inventory import BoundPod, Workload
from unpend.model.metadata import Identity
from unpend.model.pod import PodTemplate, Resources
from unpend.model.pod_spec import template_of
from unpend.model.problems import Problems
from unpend.model.quantities import resources
from unpend.model.workloads import head, hook_of, refusals_of, workload_id
from unpend.source.document import Object

_FINISHED = frozenset({"Succeeded", "Failed"})


def read_pod(obj: Object, builder: Builder) -> None:
    """A Pod: bound when it has `spec.nodeName`, gone when its phase is Succeeded or Failed, else a workload."""
    data = obj.data
    status = data.get("status")
    phase = status.get("phase") if isinstance(status, dict) else None
    raw_metadata, raw_spec = data.get("metadata"), data.get("spec")
    bound = isinstance(raw_spec, dict) and bool(raw_spec.get("nodeName"))
    admitted = bound or (isinstance(raw_metadata, dict) and bool(raw_metadata.get("uid")))
    # What an API server already took is not judged again.
    problems = Problems(muted=admitted)
    if isinstance(phase, str) and phase in _FINISHED:
        builder.other(obj)
        return
    start = head(obj, builder, problems)
    who = start.who
    template = template_of(data, who.data, obj.root, problems, who.namespace)
    if bound:
        _bound(obj, builder, template, phase if isinstance(phase, str) else "", who)
        return
    builder.add(
        "workloads",
        Workload(
            workload_id("Pod", who.namespace, who.name),
            "Pod",
            obj.api_version,
            who.namespace,
            who.name,
            obj,
            template,
            "",
            None,
            None,
            labels=start.labels,
            annotations=start.annotations,
            hook=hook_of(start.annotations),
            admitted=admitted,
            refusals=refusals_of(problems),
            unknown=tuple(problems.unsure),
        ),
    )
    builder.problems.found.extend(problems.found)


def _bound(obj: Object, builder: Builder, template: PodTemplate, phase: str, who: Identity) -> None:
    muted = Problems(muted=True)
    owner_kind = ""
    for owner, here in entries(who.data, "ownerReferences", who.place, muted):
        if owner.get("controller") is True or not owner_kind:
            owner_kind = text(owner, "kind", here, muted)
    builder.add(
        "bound_pods",
        BoundPod(
            who.name,
            template.spec.node_name,
            template,
            phase,
            who.data.get("deletionTimestamp") is not None,
            owner_kind,
            _status_requests(obj, muted),
            obj.root,
        ),
    )


def _status_requests(obj: Object, problems: Problems) -> dict[str, Resources]:
    """Requests of containers as the kubelet reports them (in-place resize, P-706), by container name."""
    status: dict[str, Any] = mapping(obj.data, "status", obj.root, problems) or {}
    place = under(obj.root, "status")
    found: dict[str, Resources] = {}
    for key in ("containerStatuses", "initContainerStatuses"):
        for entry, here in entries(status, key, place, problems):
            actual = mapping(entry, "resources", here, problems) or {}
            requests = resources(actual, "requests", under(here, "resources"), problems)
            allocated = resources(entry, "allocatedResources", here, problems)
            merged = dict(requests)
            for name, amount in allocated.items():
                if name not in merged or merged[name].milli < amount.milli:
                    merged[name] = amount
            if merged:
                found[text(entry, "name", here, problems)] = merged
    return found
