"""Parts that Karpenter's kinds share: requirements, time spans, conditions, known fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from unpend.algebra.syntax import label_value_fault, qualified_name_fault
from unpend.model.fields import entries, integer, text, texts, under
from unpend.model.karpenter import Duration, PoolRequirement
from unpend.model.karpenter_labels import Version
from unpend.model.problems import Problems, describe
from unpend.model.selectors import unknown_word
from unpend.source.place import Place

_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"})
_INCLUSIVE = frozenset({"Gte", "Lte"})
_INCLUSIVE_SINCE: Version = (1, 9)
_BOUNDS = frozenset({"Gt", "Lt"}) | _INCLUSIVE
_REQUIREMENT_FIELDS = frozenset({"key", "operator", "values", "minValues"})
_LONGEST_KEY = 316
_SPAN = re.compile(r"(?:[0-9]+[smh])+")
_SPAN_PART = re.compile(r"([0-9]+)([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_INTEGER = re.compile(r"[0-9]{1,19}")


def requirements(
    owner: dict[str, Any], place: Place, problems: Problems, version: Version
) -> tuple[PoolRequirement, ...]:
    """The `requirements` of a NodePool or NodeOverlay; illegal ones are reported and kept (`N-3`, `N-4`)."""
    found = []
    for entry, here in entries(owner, "requirements", place, problems):
        requirement = PoolRequirement(
            text(entry, "key", here, problems),
            text(entry, "operator", here, problems),
            texts(entry, "values", here, problems),
            integer(entry, "minValues", here, problems),
            here,
        )
        check_fields(entry, _REQUIREMENT_FIELDS, here, problems)
        _check_requirement(requirement, problems, version)
        found.append(requirement)
    if len(found) > 100:
        problems.refuse(under(place, "requirements"), f"{len(found)} requirements, at most 100 are allowed", _id("N-3"))
    return tuple(found)


def _id(rule: str) -> str:
    return f"karpenter:{rule}"


def _check_requirement(requirement: PoolRequirement, problems: Problems, version: Version) -> None:
    place, operator, values = requirement.place, requirement.operator, requirement.values
    fault = qualified_name_fault(requirement.key)
    if fault is None and len(requirement.key) > _LONGEST_KEY:
        fault = f"has {len(requirement.key)} characters, at most {_LONGEST_KEY} are allowed"
    if fault:
        problems.refuse(under(place, "key"), f'the label key "{requirement.key}" {fault}', _id("N-3"))
    known = _OPERATORS | _INCLUSIVE if version >= _INCLUSIVE_SINCE else _OPERATORS
    if operator not in known:
        problems.refuse(under(place, "operator"), _unknown_operator(operator, known), _id("N-4"))
        return
    for index, value in enumerate(values):
        fault = label_value_fault(value)
        if fault:
            problems.refuse(under(place, "values").at(index), f'the label value "{value}" {fault}', _id("N-3"))
    if operator == "In" and not values:
        problems.refuse(under(place, "values"), "operator In needs at least one value", _id("N-4"))
    if operator in _BOUNDS and (len(values) != 1 or not _INTEGER.fullmatch(values[0])):
        written = f"this has {len(values)} values" if len(values) != 1 else f'this is "{values[0]}"'
        problems.refuse(
            under(place, "values"), f"operator {operator} needs one whole number of at least 0, {written}", _id("N-4")
        )
    _check_min_values(requirement, problems)


def _unknown_operator(operator: str, known: frozenset[str]) -> str:
    if operator in _INCLUSIVE:
        return f"operator {operator} is known to Karpenter from 1.9 on; write {operator[:2]} with the next number"
    return unknown_word(operator, "operator", known)


def _check_min_values(requirement: PoolRequirement, problems: Problems) -> None:
    least = requirement.min_values
    if least is None:
        return
    where = under(requirement.place, "minValues")
    if not 1 <= least <= 50:
        problems.refuse(where, f"`minValues` must be from 1 to 50, this is {least}", _id("N-4"))
    elif requirement.operator == "In" and requirement.values and len(requirement.values) < least:
        problems.refuse(where, f"`minValues` is {least}, but `values` has only {len(requirement.values)}", _id("N-4"))


def span(
    owner: dict[str, Any], key: str, place: Place, problems: Problems, semantics: str, never: bool = True
) -> Duration | None:
    """A time span such as `720h` or `1h30m`, or `Never` where that is allowed; None when absent or illegal."""
    value = owner.get(key)
    if value is None:
        return None
    here = under(place, key)
    seconds = seconds_of(value) if isinstance(value, str) else None
    if value == "Never" and never:
        return Duration(None, "Never", here)
    if seconds is None:
        words = "hours, minutes and seconds, as in 1h30m" + (", or Never" if never else "")
        problems.refuse(here, f"`{key}` takes {words}, but is {describe(value)}{_span_hint(value)}", semantics)
        return None
    return Duration(seconds, str(value), here)


def _span_hint(value: Any) -> str:
    if isinstance(value, str):
        days = re.fullmatch(r"([0-9]{1,6})d", value)
        if days:
            return f"; did you mean {int(days[1]) * 24}h?"
        if value.lower() == "never":
            return "; did you mean Never?"
    return ""


def seconds_of(text_: str) -> int | None:
    """The whole seconds of a span such as `1h30m`; None when it is none."""
    if len(text_) > 64 or not _SPAN.fullmatch(text_):
        return None
    return sum(int(number) * _SECONDS[unit] for number, unit in _SPAN_PART.findall(text_))


def condition(data: dict[str, Any], kind: str) -> tuple[bool | None, str]:
    """A status condition of an object: True, False or None (not there or unknown), and its reason."""
    status = data.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for entry in conditions if isinstance(conditions, list) else ():
        if isinstance(entry, dict) and entry.get("type") == kind:
            reason = entry.get("reason")
            word = str(entry.get("status"))
            return {"True": True, "False": False}.get(word), reason if isinstance(reason, str) else ""
    return None, ""


def check_fields(
    owner: dict[str, Any],
    known: frozenset[str],
    place: Place,
    problems: Problems,
    moved: Mapping[str, str] | None = None,
) -> None:
    """Report fields that the kind does not have: the API server drops them, so they never act (`karpenter.md` §1.1).

    `moved` tells for fields of an older version of the kind what became of them.
    """
    for key, value in owner.items():
        if key in known or value is None:
            continue
        hint = (moved or {}).get(key)
        if hint is None:
            from difflib import get_close_matches

            close = get_close_matches(str(key), sorted(known), 1, 0.8)
            hint = f"did you mean `{close[0]}`?" if close else "it is dropped and never acts"
        problems.note(under(place, key), f"there is no field `{key}` here: {hint}", "karpenter:§1.1", "error", "key")
