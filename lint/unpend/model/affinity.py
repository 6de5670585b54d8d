"""`spec.affinity`: node affinity, pod affinity and pod anti-affinity."""

from __future__ import annotations

from typing import Any

from unpend.algebra.syntax import dns_label_fault, qualified_name_fault
from unpend.model.fields import entries, integer, mapping, text, texts, under
from unpend.model.pod import Affinity, NodeSelectorTerm, PodAffinityTerm, PreferredNodeTerm
from unpend.model.problems import Problems
from unpend.model.selectors import item_place, label_selector, node_selector_term
from unpend.source.place import Place

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NO_AFFINITY = Affinity(place=None)

_PodTerms = tuple[tuple[PodAffinityTerm, ...], tuple[PodAffinityTerm, ...]]


def affinity(spec: dict[str, Any], place: Place, problems: Problems) -> Affinity:
    """The affinity of a pod spec."""
    data = mapping(spec, "affinity", place, problems)
    if not data:
        return NO_AFFINITY
    here = under(place, "affinity")
    required, preferred = _node_affinity(data, here, problems)
    pod_required, pod_preferred = _pod_affinity(data, "podAffinity", here, problems)
    anti_required, anti_preferred = _pod_affinity(data, "podAntiAffinity", here, problems)
    return Affinity(required, preferred, pod_required, pod_preferred, anti_required, anti_preferred, here)


def _node_affinity(
    data: dict[str, Any], place: Place, problems: Problems
) -> tuple[tuple[NodeSelectorTerm, ...] | None, tuple[PreferredNodeTerm, ...]]:
    node = mapping(data, "nodeAffinity", place, problems)
    if not node:
        return None, ()
    here = under(place, "nodeAffinity")
    preferred = []
    for entry, where in entries(node, _PREFERRED, here, problems):
        term = mapping(entry, "preference", where, problems) or {}
        weight = _weight(entry, where, problems)
        read = node_selector_term(term, under(where, "preference"), problems, required=False)
        preferred.append(PreferredNodeTerm(weight, read, where))
    required = mapping(node, _REQUIRED, here, problems)
    if required is None:
        return None, tuple(preferred)
    where = under(here, _REQUIRED)
    terms = tuple(
        node_selector_term(entry, item, problems, required=True)
        for entry, item in entries(required, "nodeSelectorTerms", where, problems)
    )
    if not terms:
        problems.refuse(
            under(where, "nodeSelectorTerms"),
            "required node affinity needs at least one nodeSelectorTerms entry",
            "scheduler:A-1512",
        )
    return terms, tuple(preferred)


def _weight(entry: dict[str, Any], place: Place, problems: Problems) -> int:
    weight = integer(entry, "weight", place, problems) or 0
    if not 1 <= weight <= 100:
        problems.refuse(
            under(place, "weight"), f"`weight` must be between 1 and 100, this is {weight}", "scheduler:A-1515"
        )
    return weight


def _pod_affinity(data: dict[str, Any], key: str, place: Place, problems: Problems) -> _PodTerms:
    rules = mapping(data, key, place, problems)
    if not rules:
        return (), ()
    here = under(place, key)
    required = tuple(
        _pod_term(entry, where, problems, None) for entry, where in entries(rules, _REQUIRED, here, problems)
    )
    preferred = []
    for entry, where in entries(rules, _PREFERRED, here, problems):
        weight = _weight(entry, where, problems)
        term = mapping(entry, "podAffinityTerm", where, problems) or {}
        preferred.append(_pod_term(term, under(where, "podAffinityTerm"), problems, weight))
    return required, tuple(preferred)


def _pod_term(entry: dict[str, Any], place: Place, problems: Problems, weight: int | None) -> PodAffinityTerm:
    topology_key = text(entry, "topologyKey", place, problems)
    fault = qualified_name_fault(topology_key)
    if fault:
        problems.refuse(under(place, "topologyKey"), f'the topologyKey "{topology_key}" {fault}', "scheduler:A-1516")
    namespaces = texts(entry, "namespaces", place, problems)
    for name in namespaces:
        fault = dns_label_fault(name)
        if fault:
            problems.refuse(
                item_place(entry, "namespaces", name, place), f'the namespace "{name}" {fault}', "scheduler:A-1516"
            )
    term = PodAffinityTerm(
        topology_key,
        label_selector(entry, "labelSelector", place, problems),
        namespaces,
        label_selector(entry, "namespaceSelector", place, problems),
        texts(entry, "matchLabelKeys", place, problems),
        texts(entry, "mismatchLabelKeys", place, problems),
        weight,
        place,
    )
    if term.match_label_keys or term.mismatch_label_keys:
        _check_label_keys(term, place, problems)
    return term


def _check_label_keys(term: PodAffinityTerm, place: Place, problems: Problems) -> None:
    used = {e.key for e in term.selector.expressions} if term.selector else set()
    for field, keys in (("matchLabelKeys", term.match_label_keys), ("mismatchLabelKeys", term.mismatch_label_keys)):
        where = under(place, field)
        if not keys:
            continue
        if term.selector is None:
            problems.refuse(where, f"`{field}` needs a labelSelector beside it", "scheduler:A-1517")
            continue
        for index, key in enumerate(keys):
            if key in used:
                problems.refuse(
                    under(where, index),
                    f'"{key}" is in {field} and in the labelSelector: every pod is refused',
                    "scheduler:A-1517",
                )
            elif field == "mismatchLabelKeys" and key in term.match_label_keys:
                problems.refuse(
                    under(where, index), f'"{key}" is in matchLabelKeys and in mismatchLabelKeys', "scheduler:A-1517"
                )
