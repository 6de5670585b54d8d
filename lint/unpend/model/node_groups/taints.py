"""The many ways in which node groups spell taints, each read to Kubernetes' own (C-216, C-625, §6.3, §6.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unpend.algebra.syntax import label_value_fault, qualified_name_fault
from unpend.algebra.taints import EFFECTS
from unpend.model.fields import entries, text, under
from unpend.model.pod import Taint
from unpend.model.problems import Problems, describe
from unpend.model.selectors import unknown_word
from unpend.source.place import Place

EKS_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
CAPA_EFFECTS = {"no-schedule": "NoSchedule", "no-execute": "NoExecute", "prefer-no-schedule": "PreferNoSchedule"}
_SAME = {effect: effect for effect in EFFECTS}


def check_taint(taint: Taint, problems: Problems, semantics: str) -> None:
    """Refuse a key or value that no taint can have."""
    fault = qualified_name_fault(taint.key)
    if fault:
        problems.refuse(taint.place, f'the taint key "{taint.key}" {fault}', semantics)
    fault = label_value_fault(taint.value)
    if fault:
        problems.refuse(taint.place, f'the taint value "{taint.value}" {fault}', semantics)


def taint_list(
    owner: dict[str, Any],
    key: str,
    place: Place,
    problems: Problems,
    semantics: str,
    effects: Mapping[str, str] = _SAME,
    names: tuple[str, str, str] = ("key", "value", "effect"),
) -> tuple[Taint, ...]:
    """A list of taints; `effects` are the words of the format, `names` its field names. Unknown effects are refused."""
    found = []
    for entry, here in entries(owner, key, place, problems):
        written = text(entry, names[2], here, problems)
        effect = effects.get(written)
        if effect is None:
            _refuse_effect(written, under(here, names[2]), problems, semantics, effects)
        taint = Taint(
            text(entry, names[0], here, problems), text(entry, names[1], here, problems), effect or written, here
        )
        check_taint(taint, problems, semantics)
        found.append(taint)
    return tuple(found)


def _refuse_effect(
    written: str, place: Place, problems: Problems, semantics: str, effects: Mapping[str, str] = _SAME
) -> None:
    meant = EKS_EFFECTS.get(written) or CAPA_EFFECTS.get(written) or (written if written in EFFECTS else None)
    spelled = next((word for word, effect in effects.items() if effect == meant), None)
    if spelled:
        message = f'"{written}" is no effect here; write {spelled}'
    else:
        message = unknown_word(written, "effect", frozenset(effects))
    problems.refuse(place, message, semantics)


def taint_map(data: Mapping[str, Any], place: Place, problems: Problems, semantics: str) -> tuple[Taint, ...]:
    """eksctl's map form: `key: "value:Effect"`, `key: ":Effect"` or `key: Effect` (C-625)."""
    if set(data) == {"key", "value", "effect"} or set(data) == {"key", "effect"}:
        problems.refuse(
            place,
            "this is read as taints named key, value and effect; write a list: - {key: …, value: …, effect: …}",
            semantics,
        )
        return ()
    found = []
    for key, value in data.items():
        here = under(place, key)
        if not isinstance(value, str):
            problems.refuse(here, f'a taint in this form is "value:Effect", but this is {describe(value)}', semantics)
            continue
        taint_value, colon, effect = value.rpartition(":")
        if ":" in taint_value:
            taint_value, effect = "", ""
        if effect not in EFFECTS:
            if colon or not effect:
                _refuse_effect(effect, here, problems, semantics)
            else:
                problems.refuse(here, f'"{value}" is no effect; write "{value}:NoSchedule"', semantics)
        taint = Taint(key, taint_value, effect, here)
        check_taint(taint, problems, semantics)
        found.append(taint)
    return tuple(found)


def taint_text(written: str, place: Place) -> Taint | None:
    """A taint as `key=value:Effect` or `key:Effect`; None when it is none."""
    rest, colon, effect = written.strip().rpartition(":")
    if not colon or effect not in EFFECTS:
        return None
    key, _, value = rest.partition("=")
    if qualified_name_fault(key) or label_value_fault(value):
        return None
    return Taint(key, value, effect, place)
