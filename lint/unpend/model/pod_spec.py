"""Pod specs and pod templates."""

from __future__ import annotations

from typing import Any

from unpend.model.affinity import affinity
from unpend.model.containers import check_resources, containers
from unpend.model.field_names import POD_FIELDS, TEMPLATE_FIELDS, check_owner_fields, check_pod_fields
from unpend.model.fields import boolean, count, entries, integer, mapping, text, under
from unpend.model.metadata import labels
from unpend.model.placement_rules import node_selector, spread_constraints, tolerations
from unpend.model.pod import Amount, PodSpec, PodTemplate, Resources
from unpend.model.pod_rules import check_mounts, check_pod
from unpend.model.problems import Problems
from unpend.model.quantities import resources
from unpend.model.requests import pod_level
from unpend.model.selectors import unknown_word
from unpend.model.volumes import volumes
from unpend.source.place import Place

_EMPTY: dict[str, Any] = {}
_NONE: dict[str, Amount] = {}
_RESTART = frozenset({"Always", "OnFailure", "Never"})


def pod_template(
    owner: dict[str, Any],
    key: str,
    place: Place,
    problems: Problems,
    namespace: str,
    path: str,
    claims: tuple[str, ...] = (),
) -> PodTemplate:
    """The pod template at a key of its owner; an absent one is an empty one. `claims` are names of claim templates."""
    data = mapping(owner, key, place, problems) or _EMPTY
    here = under(place, key)
    if not (problems.muted or TEMPLATE_FIELDS.issuperset(data)):
        check_owner_fields(data, path, here, problems)
    metadata = mapping(data, "metadata", here, problems) or _EMPTY
    return template_of(data, metadata, here, problems, namespace, claims)


def template_of(
    data: dict[str, Any],
    metadata: dict[str, Any],
    place: Place,
    problems: Problems,
    namespace: str,
    claims: tuple[str, ...] = (),
) -> PodTemplate:
    """A template (or a whole Pod, which has the same shape) from its data and metadata."""
    where = under(place, "metadata")
    raw = mapping(data, "spec", place, problems) or _EMPTY
    spec = pod_spec(raw, under(place, "spec"), problems)
    if not problems.muted:
        check_mounts(spec, raw, claims, problems)
    return PodTemplate(
        namespace,
        labels(metadata, "labels", where, problems),
        labels(metadata, "annotations", where, problems, checked=False),
        spec,
        place,
    )


def pod_spec(spec: dict[str, Any], place: Place, problems: Problems) -> PodSpec:
    """The scheduling-relevant part of a pod spec, checked as the API server does it where the kind is known."""
    if not (problems.muted or POD_FIELDS.issuperset(spec)):
        check_pod_fields(spec, place, problems)
    rest = _NO_REST if _REST.isdisjoint(spec) else _rest(spec, place, problems)
    result = PodSpec(
        containers(spec, "containers", place, problems),
        containers(spec, "initContainers", place, problems),
        node_selector(spec, "nodeSelector", place, problems),
        affinity(spec, place, problems),
        tolerations(spec, "tolerations", place, problems),
        spread_constraints(spec, place, problems),
        volumes(spec, place, problems),
        place=place,
        **rest,
    )
    if not problems.muted:
        check_pod(result, problems)
    return result


def _rest(spec: dict[str, Any], place: Place, problems: Problems) -> dict[str, Any]:
    """The fields that most pods do not have; asking for each of them would cost more than everything else."""
    pod_requests, pod_limits = _pod_resources(spec, place, problems)
    return {
        "node_name": text(spec, "nodeName", place, problems),
        "scheduler_name": text(spec, "schedulerName", place, problems) or "default-scheduler",
        "scheduling_gates": tuple(
            text(e, "name", p, problems) for e, p in entries(spec, "schedulingGates", place, problems)
        ),
        "runtime_class": text(spec, "runtimeClassName", place, problems) or None,
        "priority_class": text(spec, "priorityClassName", place, problems),
        "priority": integer(spec, "priority", place, problems),
        "preemption_policy": text(spec, "preemptionPolicy", place, problems),
        "host_network": boolean(spec, "hostNetwork", place, problems),
        "restart_policy": _restart_policy(spec, place, problems),
        "grace_seconds": count(spec, "terminationGracePeriodSeconds", place, problems),
        "active_deadline_seconds": integer(spec, "activeDeadlineSeconds", place, problems),
        "overhead": resources(spec, "overhead", place, problems),
        "pod_requests": pod_requests,
        "pod_limits": pod_limits,
        "resource_claims": tuple(
            text(e, "name", p, problems) for e, p in entries(spec, "resourceClaims", place, problems)
        ),
        "os_name": _os_name(spec, place, problems),
    }


_NO_REST: dict[str, Any] = {}
_REST = frozenset(
    {
        "activeDeadlineSeconds",
        "hostNetwork",
        "nodeName",
        "os",
        "overhead",
        "preemptionPolicy",
        "priority",
        "priorityClassName",
        "resourceClaims",
        "resources",
        "restartPolicy",
        "runtimeClassName",
        "schedulerName",
        "schedulingGates",
        "terminationGracePeriodSeconds",
    }
)


def _pod_resources(spec: dict[str, Any], place: Place, problems: Problems) -> tuple[Resources, Resources]:
    data = mapping(spec, "resources", place, problems)
    if not data:
        return _NONE, _NONE
    where = under(place, "resources")
    requests = resources(data, "requests", where, problems)
    limits = resources(data, "limits", where, problems)
    for listed in (requests, limits):
        for name, amount in listed.items():
            if not pod_level(name):
                problems.refuse(
                    amount.place,
                    f"pod-level resources are cpu, memory and hugepages-<size>, not {name}",
                    "scheduler:A-735",
                    "key",
                )
    if not problems.muted:
        check_resources(requests, limits, problems)
    return requests, limits


def _restart_policy(spec: dict[str, Any], place: Place, problems: Problems) -> str:
    policy = text(spec, "restartPolicy", place, problems)
    if policy and policy not in _RESTART:
        problems.refuse(
            under(place, "restartPolicy"), unknown_word(policy, "restartPolicy", _RESTART), "scheduler:A-1544"
        )
    return policy or "Always"


def _os_name(spec: dict[str, Any], place: Place, problems: Problems) -> str:
    data = mapping(spec, "os", place, problems)
    return text(data, "name", under(place, "os"), problems) if data else ""
