"""Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Job, CronJob."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from unpend.algebra.selectors import matches
from unpend.model.builder import Builder
from unpend.model.field_names import check_owner_fields
from unpend.model.fields import boolean, count, entries, mapping, text, under
from unpend.model.inventory import IntOrPercent, PersistentVolumeClaim, Strategy, Workload
from unpend.model.metadata import Identity, identity, labels
from unpend.model.pod import Label, LabelSelector, PodTemplate, Refusal
from unpend.model.pod_spec import pod_template
from unpend.model.problems import Problems, describe
from unpend.model.selectors import label_selector, plain_selector, unknown_word
from unpend.source.document import Object
from unpend.source.place import Place

_EMPTY: dict[str, Any] = {}
_JOB_RESTART = frozenset({"Never", "OnFailure"})
_TEMPLATE = "spec.template"


class Head(NamedTuple):
    """The beginning of every workload: who it is, its labels, its spec and where that stands."""

    who: Identity
    labels: Mapping[str, Label]
    annotations: Mapping[str, Label]
    spec: dict[str, Any]
    place: Place


def head(obj: Object, builder: Builder, problems: Problems) -> Head:
    """Read metadata and find the spec."""
    who = identity(obj, builder.settings, problems)
    return Head(
        who,
        labels(who.data, "labels", who.place, problems),
        labels(who.data, "annotations", who.place, problems, checked=False),
        mapping(obj.data, "spec", obj.root, problems) or _EMPTY,
        under(obj.root, "spec"),
    )


def workload_id(kind: str, namespace: str, name: str) -> str:
    """`Kind/namespace/name`; the unnamed namespace is left out."""
    return f"{kind}/{namespace}/{name}" if namespace else f"{kind}/{name}"


def hook_of(annotations: Mapping[str, Label]) -> str:
    """The value of the `helm.sh/hook` annotation."""
    hook = annotations.get("helm.sh/hook")
    return hook.value if hook else ""


def refusals_of(problems: Problems) -> tuple[Refusal, ...]:
    """The problems for which the API server refuses the object or its pods."""
    if not problems.found:
        return ()
    return tuple(Refusal(p.message, p.place, p.semantics) for p in problems.found if p.refused)


def read_deployment(obj: Object, builder: Builder) -> None:
    """Deployment, ReplicaSet."""
    problems = Problems()
    start = head(obj, builder, problems)
    spec, place = start.spec, start.place
    template, selector = _owned(obj, start, problems)
    _add(
        obj,
        builder,
        problems,
        start,
        template,
        selector=selector,
        replicas=count(spec, "replicas", place, problems),
        replicas_place=under(place, "replicas"),
        strategy=_strategy(spec, "strategy", place, problems),
        suspended=boolean(spec, "paused", place, problems),
    )


def read_stateful_set(obj: Object, builder: Builder) -> None:
    """StatefulSet."""
    from unpend.model.storage import claim_template

    problems = Problems()
    start = head(obj, builder, problems)
    spec, place = start.spec, start.place
    claims: tuple[PersistentVolumeClaim, ...] = tuple(
        claim_template(entry, here, problems, start.who.namespace)
        for entry, here in entries(spec, "volumeClaimTemplates", place, problems)
    )
    template, selector = _owned(obj, start, problems, tuple(claim.name for claim in claims))
    _add(
        obj,
        builder,
        problems,
        start,
        template,
        selector=selector,
        replicas=count(spec, "replicas", place, problems),
        replicas_place=under(place, "replicas"),
        strategy=_strategy(spec, "updateStrategy", place, problems),
        pod_management=text(spec, "podManagementPolicy", place, problems),
        first_ordinal=_first_ordinal(spec, place, problems),
        claim_templates=claims,
    )


def read_daemon_set(obj: Object, builder: Builder) -> None:
    """DaemonSet."""
    problems = Problems()
    start = head(obj, builder, problems)
    template, selector = _owned(obj, start, problems)
    strategy = _strategy(start.spec, "updateStrategy", start.place, problems)
    _add(obj, builder, problems, start, template, selector=selector, strategy=strategy)


def read_replication_controller(obj: Object, builder: Builder) -> None:
    """ReplicationController: a plain map as selector, defaulted from the template's labels."""
    problems = Problems()
    start = head(obj, builder, problems)
    spec, place = start.spec, start.place
    template = pod_template(spec, "template", place, problems, start.who.namespace, _TEMPLATE)
    selector = plain_selector(spec, "selector", place, problems)
    if selector is not None and selector.expressions:
        _check_match(selector, template, under(place, "selector"), problems)
    _check_always(obj.kind, template, problems)
    check_owner_fields(spec, _TEMPLATE, place, problems)
    _add(
        obj,
        builder,
        problems,
        start,
        template,
        selector=selector,
        replicas=count(spec, "replicas", place, problems),
        replicas_place=under(place, "replicas"),
    )


def read_job(obj: Object, builder: Builder) -> None:
    """Job."""
    problems = Problems()
    start = head(obj, builder, problems)
    _job(obj, builder, problems, start, start.spec, start.place, _TEMPLATE)


def read_cron_job(obj: Object, builder: Builder) -> None:
    """CronJob: the Job stands in `spec.jobTemplate.spec`."""
    problems = Problems()
    start = head(obj, builder, problems)
    spec, place = start.spec, start.place
    path = "spec.jobTemplate.spec.template"
    check_owner_fields(spec, path, place, problems)
    outer = mapping(spec, "jobTemplate", place, problems) or _EMPTY
    job_place = under(place, "jobTemplate")
    check_owner_fields(outer, path, job_place, problems)
    job = mapping(outer, "spec", job_place, problems) or _EMPTY
    schedule = text(spec, "schedule", place, problems)
    suspended = boolean(spec, "suspend", place, problems)
    _job(obj, builder, problems, start, job, under(job_place, "spec"), path, schedule, suspended)


def _job(
    obj: Object,
    builder: Builder,
    problems: Problems,
    start: Head,
    spec: dict[str, Any],
    place: Place,
    path: str,
    schedule: str = "",
    suspended: bool = False,
) -> None:
    template = pod_template(spec, "template", place, problems, start.who.namespace, path)
    restart = template.place.value
    restart = restart.get("spec") if isinstance(restart, dict) else None
    if template.spec.containers and template.spec.restart_policy not in _JOB_RESTART:
        shown = "Always" if isinstance(restart, dict) and restart.get("restartPolicy") else "Always (its default)"
        problems.refuse(
            under(template.spec.place, "restartPolicy"),
            f"the pods of a {obj.kind} need `restartPolicy: Never` or OnFailure, this is {shown}",
            "scheduler:A-1544",
        )
    check_owner_fields(spec, path, place, problems)
    _add(
        obj,
        builder,
        problems,
        start,
        template,
        path,
        selector=label_selector(spec, "selector", place, problems),
        parallelism=count(spec, "parallelism", place, problems),
        completions=count(spec, "completions", place, problems),
        suspended=boolean(spec, "suspend", place, problems) or suspended,
        schedule=schedule,
    )


def _owned(
    obj: Object, start: Head, problems: Problems, claims: tuple[str, ...] = ()
) -> tuple[PodTemplate, LabelSelector | None]:
    """The template and the selector of a kind of apps/v1, checked against each other."""
    spec, place = start.spec, start.place
    template = pod_template(spec, "template", place, problems, start.who.namespace, _TEMPLATE, claims)
    selector = label_selector(spec, "selector", place, problems)
    _check_selector(obj, selector, template, place, problems)
    _check_always(obj.kind, template, problems)
    check_owner_fields(spec, _TEMPLATE, place, problems)
    return template, selector


def _add(
    obj: Object,
    builder: Builder,
    problems: Problems,
    start: Head,
    template: PodTemplate,
    path: str = _TEMPLATE,
    **own: Any,
) -> None:
    """Add the workload with what all kinds have and with fields of its `own`, and report its problems."""
    who = start.who
    builder.add(
        "workloads",
        Workload(
            workload_id(obj.kind, who.namespace, who.name),
            obj.kind,
            obj.api_version,
            who.namespace,
            who.name,
            obj,
            template,
            path,
            labels=start.labels,
            annotations=start.annotations,
            hook=hook_of(start.annotations),
            refusals=refusals_of(problems),
            unknown=tuple(problems.unsure),
            **own,
        ),
    )
    if problems.found:
        builder.problems.found.extend(problems.found)


def _first_ordinal(spec: dict[str, Any], place: Place, problems: Problems) -> int:
    ordinals = mapping(spec, "ordinals", place, problems) or {}
    return count(ordinals, "start", under(place, "ordinals"), problems) or 0


def _check_selector(
    obj: Object, selector: LabelSelector | None, template: PodTemplate, place: Place, problems: Problems
) -> None:
    # Before apps/v1 an absent selector was taken from the labels of the template.
    if selector is None:
        if obj.api_version in {"apps/v1", "apps/v1beta2"}:
            problems.refuse(under(place, "selector"), f"a {obj.kind} needs a selector", "scheduler:A-1545")
        return
    where = under(place, "selector")
    if not selector.expressions:
        problems.refuse(where, "an empty selector is not allowed here", "scheduler:A-1545")
        return
    _check_match(selector, template, where, problems)


def _check_match(selector: LabelSelector, template: PodTemplate, place: Place, problems: Problems) -> None:
    found = template.labels
    for expression in selector.expressions:
        if expression.operator == "In" and len(expression.values) == 1:
            label = found.get(expression.key)
            if label is not None and label.value == expression.values[0]:
                continue
        elif matches((expression,), {key: label.value for key, label in found.items()}):
            continue
        problems.refuse(
            expression.place,
            f"the selector does not match the labels of the pod template: {_difference(expression.key, found)}",
            "scheduler:A-1545",
        )


def _difference(key: str, found: Mapping[str, Label]) -> str:
    label = found.get(key)
    return f"they have no {key}" if label is None else f'there {key} is "{label.value}"'


def _check_always(kind: str, template: PodTemplate, problems: Problems) -> None:
    policy = template.spec.restart_policy
    if policy in {"Never", "OnFailure"}:
        problems.refuse(
            under(template.spec.place, "restartPolicy"),
            f"the pods of a {kind} need `restartPolicy: Always`, this is {policy}",
            "scheduler:A-1544",
        )


_KINDS = {
    "strategy": frozenset({"RollingUpdate", "Recreate"}),
    "updateStrategy": frozenset({"RollingUpdate", "OnDelete"}),
}


def _strategy(spec: dict[str, Any], key: str, place: Place, problems: Problems) -> Strategy | None:
    data = mapping(spec, key, place, problems)
    if data is None:
        return None
    here = under(place, key)
    kind = text(data, "type", here, problems) or "RollingUpdate"
    if kind not in _KINDS[key]:
        problems.refuse(under(here, "type"), unknown_word(kind, "type", _KINDS[key]), "scheduler:A-1545")
    rolling = mapping(data, "rollingUpdate", here, problems) or _EMPTY
    where = under(here, "rollingUpdate")
    return Strategy(
        kind,
        int_or_percent(rolling, "maxSurge", where, problems),
        int_or_percent(rolling, "maxUnavailable", where, problems),
        here,
    )


def int_or_percent(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> IntOrPercent | None:
    """A field that takes a number or a percentage such as 25%."""
    value = owner.get(key)
    if value is None:
        return None
    here = under(place, key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
        return IntOrPercent(value, None, here)
    if isinstance(value, str) and value.endswith("%") and value[:-1].isascii() and value[:-1].isdigit():
        return IntOrPercent(None, int(value[:-1][:9]), here)
    hint = "; write it without quotes" if isinstance(value, str) and value.isdigit() else ""
    problems.refuse(
        here, f"`{key}` must be a number or a percentage such as 25%, but is {describe(value)}{hint}", "scheduler:A-743"
    )
    return None
