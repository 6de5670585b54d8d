"""The flat placement fields of a pod spec: nodeSelector, tolerations, taints and topology spread constraints."""

from __future__ import annotations

from typing import Any

from unpend.algebra.syntax import label_value_fault, qualified_name_fault
from unpend.algebra.taints import EFFECTS
from unpend.model.fields import entries, integer, mapping, text, texts, under
from unpend.model.metadata import check_label
from unpend.model.pod import Label, SpreadConstraint, Taint, Toleration
from unpend.model.problems import Problems
from unpend.model.selectors import label_selector, unknown_word
from unpend.source.place import Place

_OPERATORS = frozenset({"Equal", "Exists"})
_UNSATISFIABLE = frozenset({"DoNotSchedule", "ScheduleAnyway"})
_POLICIES = frozenset({"Honor", "Ignore"})


def node_selector(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> tuple[Label, ...]:
    """A nodeSelector: every entry a label the node must have (A-1511)."""
    data = mapping(owner, key, place, problems)
    if not data:
        return ()
    parent = under(place, key)
    found = []
    for name, value in data.items():
        here = under(parent, name)
        if value is None:
            value = ""
        if isinstance(value, str):
            check_label(name, value, here, problems)
            found.append(Label(name, value, here))
        else:
            problems.wrong_type(here, "text", value)
    return tuple(found)


def tolerations(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> tuple[Toleration, ...]:
    """A list of tolerations (A-1531 to A-1534)."""
    if not owner.get(key):
        return ()
    found = []
    for entry, here in entries(owner, key, place, problems):
        toleration = Toleration(
            text(entry, "key", here, problems),
            text(entry, "operator", here, problems),
            text(entry, "value", here, problems),
            text(entry, "effect", here, problems),
            integer(entry, "tolerationSeconds", here, problems),
            here,
        )
        found.append(toleration)
        _check_toleration(toleration, here, problems)
    return tuple(found)


def _check_toleration(toleration: Toleration, place: Place, problems: Problems) -> None:
    key, operator, value, effect = toleration.key, toleration.operator, toleration.value, toleration.effect
    if key:
        fault = qualified_name_fault(key)
        if fault:
            problems.refuse(under(place, "key"), f'the taint key "{key}" {fault}', "scheduler:A-1531")
    elif operator != "Exists":
        problems.refuse(place, "a toleration without a key needs `operator: Exists`", "scheduler:A-1531")
    if effect and effect not in EFFECTS:
        problems.refuse(under(place, "effect"), unknown_word(effect, "effect", EFFECTS), "scheduler:A-1534")
    if toleration.seconds is not None and effect != "NoExecute":
        problems.refuse(
            under(place, "tolerationSeconds"),
            "`tolerationSeconds` needs `effect: NoExecute` beside it",
            "scheduler:A-1533",
        )
    if operator in {"", "Equal"}:
        fault = label_value_fault(value)
        if fault:
            problems.refuse(under(place, "value"), f'the taint value "{value}" {fault}', "scheduler:A-1532")
    elif operator == "Exists":
        if value:
            problems.refuse(under(place, "value"), "`operator: Exists` takes no value", "scheduler:A-1532")
    elif operator not in {"Lt", "Gt"}:
        # Lt and Gt are behind a gate (A-1532): the cluster may take them, so nothing is said of them here.
        problems.refuse(under(place, "operator"), unknown_word(operator, "operator", _OPERATORS), "scheduler:A-1532")


def read_taint(entry: dict[str, Any], here: Place, problems: Problems, semantics: str) -> Taint:
    """One taint; illegal parts are refused by the rule that `semantics` names, and kept."""
    taint = Taint(
        text(entry, "key", here, problems),
        text(entry, "value", here, problems),
        text(entry, "effect", here, problems),
        here,
    )
    fault = qualified_name_fault(taint.key)
    if fault:
        problems.refuse(under(here, "key"), f'the taint key "{taint.key}" {fault}', semantics)
    fault = label_value_fault(taint.value)
    if fault:
        problems.refuse(under(here, "value"), f'the taint value "{taint.value}" {fault}', semantics)
    if taint.effect not in EFFECTS:
        problems.refuse(under(here, "effect"), unknown_word(taint.effect, "effect", EFFECTS), semantics)
    return taint


def taints(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> tuple[Taint, ...]:
    """A list of node taints (A-1535)."""
    if not owner.get(key):
        return ()
    found = []
    seen: set[tuple[str, str]] = set()
    for entry, here in entries(owner, key, place, problems):
        taint = read_taint(entry, here, problems, "scheduler:A-1535")
        found.append(taint)
        if (taint.key, taint.effect) in seen:
            problems.refuse(here, f"the taint {taint.key}:{taint.effect} is there twice", "scheduler:A-1535")
        seen.add((taint.key, taint.effect))
    return tuple(found)


def spread_constraints(spec: dict[str, Any], place: Place, problems: Problems) -> tuple[SpreadConstraint, ...]:
    """`topologySpreadConstraints` (A-1521 to A-1524)."""
    if not spec.get("topologySpreadConstraints"):
        return ()
    found = []
    seen: set[tuple[str, str]] = set()
    for entry, here in entries(spec, "topologySpreadConstraints", place, problems):
        constraint = _spread_constraint(entry, here, problems)
        pair = (constraint.topology_key, constraint.when_unsatisfiable)
        if pair in seen:
            problems.refuse(
                here,
                f"a second constraint with topologyKey {pair[0]} and whenUnsatisfiable {pair[1]}",
                "scheduler:A-1522",
            )
        seen.add(pair)
        found.append(constraint)
    return tuple(found)


def _spread_constraint(entry: dict[str, Any], place: Place, problems: Problems) -> SpreadConstraint:
    max_skew = integer(entry, "maxSkew", place, problems)
    if max_skew is None or max_skew < 1:
        missing = "is missing" if max_skew is None else f"is {max_skew}"
        problems.refuse(under(place, "maxSkew"), f"`maxSkew` must be at least 1, but {missing}", "scheduler:A-1521")
    topology_key = text(entry, "topologyKey", place, problems)
    if not topology_key:
        problems.refuse(under(place, "topologyKey"), "`topologyKey` is missing", "scheduler:A-1521")
    when = text(entry, "whenUnsatisfiable", place, problems)
    if when not in _UNSATISFIABLE:
        problems.refuse(
            under(place, "whenUnsatisfiable"),
            unknown_word(when, "whenUnsatisfiable", _UNSATISFIABLE),
            "scheduler:A-1521",
        )
    min_domains = integer(entry, "minDomains", place, problems)
    if min_domains is not None:
        if min_domains < 1:
            problems.refuse(
                under(place, "minDomains"),
                f"`minDomains` must be at least 1, this is {min_domains}",
                "scheduler:A-1523",
            )
        elif when == "ScheduleAnyway":
            problems.refuse(
                under(place, "minDomains"), "`minDomains` needs `whenUnsatisfiable: DoNotSchedule`", "scheduler:A-1523"
            )
    constraint = SpreadConstraint(
        max_skew if max_skew is not None and max_skew >= 1 else 1,
        topology_key,
        when,
        label_selector(entry, "labelSelector", place, problems),
        min_domains if min_domains is not None and min_domains >= 1 else None,
        _policy(entry, "nodeAffinityPolicy", place, problems),
        _policy(entry, "nodeTaintsPolicy", place, problems),
        texts(entry, "matchLabelKeys", place, problems),
        place,
    )
    if constraint.match_label_keys:
        _check_label_keys(constraint, place, problems)
    return constraint


def _policy(entry: dict[str, Any], key: str, place: Place, problems: Problems) -> str | None:
    value = text(entry, key, place, problems)
    if value and value not in _POLICIES:
        problems.refuse(under(place, key), unknown_word(value, key, _POLICIES), "scheduler:A-1524")
        return None
    return value or None


def _check_label_keys(constraint: SpreadConstraint, place: Place, problems: Problems) -> None:
    where = under(place, "matchLabelKeys")
    if constraint.selector is None:
        problems.refuse(where, "`matchLabelKeys` needs a labelSelector beside it", "scheduler:A-1524")
        return
    used = {e.key for e in constraint.selector.expressions}
    for index, key in enumerate(constraint.match_label_keys):
        if key in used:
            problems.refuse(
                under(where, index),
                f'"{key}" is in matchLabelKeys and in the labelSelector: every pod is refused',
                "scheduler:A-1517",
            )
