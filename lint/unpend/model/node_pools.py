"""NodePool (`karpenter.md` §1)."""

from __future__ import annotations

from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import entries, integer, mapping, text, under
from unpend.model.karpenter import Disruption, Duration, NodeClassRef, NodePool
from unpend.model.karpenter_budgets import budgets
from unpend.model.karpenter_fields import check_fields, condition, requirements, span
from unpend.model.karpenter_labels import Version, release
from unpend.model.metadata import Identity, identity, labels
from unpend.model.node_pool_rules import check_admission, faults
from unpend.model.placement_rules import read_taint
from unpend.model.pod import Taint
from unpend.model.problems import Problems
from unpend.model.quantities import resources
from unpend.model.selectors import unknown_word
from unpend.source.document import Object
from unpend.source.place import Place

_EMPTY: dict[str, Any] = {}
_SPEC = frozenset({"template", "disruption", "limits", "weight", "replicas"})
_TEMPLATE = frozenset({"metadata", "spec"})
_TEMPLATE_METADATA = frozenset({"labels", "annotations"})
_TEMPLATE_SPEC = frozenset(
    {"requirements", "taints", "startupTaints", "nodeClassRef", "expireAfter", "terminationGracePeriod"}
)
_DISRUPTION = frozenset({"consolidationPolicy", "consolidateAfter", "budgets"})
_TAINT = frozenset({"key", "value", "effect", "timeAdded"})
_MOVED_SPEC = {
    "expireAfter": "it belongs in `spec.template.spec`",
    "requirements": "it belongs in `spec.template.spec`",
    "taints": "it belongs in `spec.template.spec`",
    "consolidation": "it became `spec.disruption`",
    "providerRef": "it became `spec.template.spec.nodeClassRef`",
    "ttlSecondsAfterEmpty": "it became `spec.disruption.consolidateAfter` with the policy WhenEmpty",
    "ttlSecondsUntilExpired": "it became `spec.template.spec.expireAfter`",
}
_MOVED_TEMPLATE_SPEC = {"kubelet": "from v1 on it belongs in the EC2NodeClass, as `spec.kubelet`"}
_MOVED_DISRUPTION = {"expireAfter": "from v1 on it belongs in `spec.template.spec`; 720h counts until it stands there"}
_POLICIES = frozenset({"WhenEmptyOrUnderutilized", "WhenEmpty"})
_BALANCED_SINCE: Version = (1, 14)
_CONSOLIDATE_AFTER_OPTIONAL_SINCE: Version = (1, 15)
_DEFAULT_EXPIRY = Duration(720 * 3600, "720h", None)


def read_node_pool(obj: Object, builder: Builder) -> None:
    """A NodePool of `karpenter.sh/v1`; one of an older version is reported and not understood (`karpenter.md` §1.9)."""
    version = release(builder.settings.karpenter.version)
    if obj.version != "v1":
        from unpend.model.karpenter_older import report_older

        builder.other(obj, "unread_capacity")
        report_older(obj, builder)
        return
    problems = Problems()
    pool = _node_pool(obj, identity(obj, builder.settings, problems), problems, version)
    builder.add("node_pools", pool)
    builder.problems.found.extend(problems.found)
    builder.problems.found.extend(pool.faults)


def _node_pool(obj: Object, who: Identity, problems: Problems, version: Version) -> NodePool:
    spec, place = _inside(obj.data, "spec", obj.root, problems)
    check_fields(spec, _SPEC, place, problems, _MOVED_SPEC)
    template, template_place = _inside(spec, "template", place, problems)
    check_fields(template, _TEMPLATE, template_place, problems)
    metadata, metadata_place = _inside(template, "metadata", template_place, problems)
    check_fields(metadata, _TEMPLATE_METADATA, metadata_place, problems)
    inner, inner_place = _inside(template, "spec", template_place, problems)
    check_fields(inner, _TEMPLATE_SPEC, inner_place, problems, _MOVED_TEMPLATE_SPEC)
    if inner.get("requirements") is None:
        problems.refuse(
            under(inner_place, "requirements"), "`requirements` is missing; it may be empty: []", "karpenter:§1.1"
        )
    weight, replicas = integer(spec, "weight", place, problems), integer(spec, "replicas", place, problems)
    ready, reason = condition(obj.data, "Ready")
    pool = NodePool(
        who.name,
        labels(who.data, "labels", who.place, problems),
        labels(who.data, "annotations", who.place, problems, checked=False),
        labels(metadata, "labels", metadata_place, problems),
        labels(metadata, "annotations", metadata_place, problems, checked=False),
        requirements(inner, inner_place, problems, version),
        _taints(inner, "taints", inner_place, problems),
        _taints(inner, "startupTaints", inner_place, problems),
        _node_class_ref(inner, inner_place, problems),
        span(inner, "expireAfter", inner_place, problems, "karpenter:§1.1") or _DEFAULT_EXPIRY,
        span(inner, "terminationGracePeriod", inner_place, problems, "karpenter:§1.1", never=False),
        resources(spec, "limits", place, problems),
        weight or 0,
        replicas,
        _disruption(spec, place, problems, version),
        ready,
        reason,
        who.data.get("deletionTimestamp") is not None,
        object=obj,
    )
    check_admission(pool, place, weight, problems, version)
    return _with_verdicts(pool, problems, version)


def _with_verdicts(pool: NodePool, problems: Problems, version: Version) -> NodePool:
    from unpend.records import replace

    refusals = tuple(problem for problem in problems.found if problem.refused)
    return replace(pool, refusals=refusals, faults=faults(pool, version))


def _inside(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> tuple[dict[str, Any], Place]:
    here = under(place, key)
    found = mapping(owner, key, place, problems)
    if found is None and owner.get(key) is None and key != "metadata":
        problems.refuse(here, f"`{key}` is missing", "karpenter:§1.1")
    return found or _EMPTY, here


def _taints(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> tuple[Taint, ...]:
    found = []
    for entry, here in entries(owner, key, place, problems):
        check_fields(entry, _TAINT, here, problems)
        found.append(read_taint(entry, here, problems, "karpenter:N-5"))
    return tuple(found)


def _node_class_ref(owner: dict[str, Any], place: Place, problems: Problems) -> NodeClassRef:
    data, here = _inside(owner, "nodeClassRef", place, problems)
    moved = {"apiVersion": "from v1 on it is `group`, without the version"}
    check_fields(data, frozenset({"group", "kind", "name"}), here, problems, moved)
    group, kind, name = (text(data, key, here, problems) for key in ("group", "kind", "name"))
    if data:
        for key, value in (("group", group), ("kind", kind), ("name", name)):
            if not value:
                problems.refuse(under(here, key), f"`{key}` of nodeClassRef is missing", "karpenter:§1.1")
    if "/" in group:
        plain = group.partition("/")[0]
        problems.refuse(
            under(here, "group"), f'"{group}" has a version in it; write the group only: {plain}', "karpenter:§1.1"
        )
    return NodeClassRef(group, kind, name, here)


def _disruption(spec: dict[str, Any], place: Place, problems: Problems, version: Version) -> Disruption:
    data = mapping(spec, "disruption", place, problems)
    if data is None:
        return Disruption(place=None)
    here = under(place, "disruption")
    check_fields(data, _DISRUPTION, here, problems, _MOVED_DISRUPTION)
    after = span(data, "consolidateAfter", here, problems, "karpenter:§1.1")
    if data.get("consolidateAfter") is None and version < _CONSOLIDATE_AFTER_OPTIONAL_SINCE:
        # Not a refusal: newer releases default it, and the release is often only assumed.
        problems.note(
            under(here, "consolidateAfter"),
            "`consolidateAfter` is missing; up to Karpenter 1.14 a given `disruption` needs it",
            "karpenter:§1.1",
        )
    policy = text(data, "consolidationPolicy", here, problems)
    known = _POLICIES | {"Balanced"} if version >= _BALANCED_SINCE else _POLICIES
    if policy and policy not in known:
        problems.refuse(under(here, "consolidationPolicy"), _unknown_policy(policy, known), "karpenter:§1.1")
        policy = ""
    default = Disruption(place=None)
    return Disruption(
        policy or default.policy,
        after or default.consolidate_after,
        budgets(data, here, problems),
        here,
    )


def _unknown_policy(policy: str, known: frozenset[str]) -> str:
    if policy == "WhenUnderutilized":
        return '"WhenUnderutilized" was renamed in v1; write WhenEmptyOrUnderutilized'
    if policy == "Balanced":
        return '"Balanced" is known to Karpenter from 1.14 on'
    return unknown_word(policy, "consolidationPolicy", known)
