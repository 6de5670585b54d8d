"""Volumes of a pod."""

from __future__ import annotations

from typing import Any

from unpend.algebra.syntax import dns_label_fault
from unpend.model.fields import entries, mapping, text, under
from unpend.model.pod import Volume
from unpend.model.problems import Problems
from unpend.source.place import Place

_NO_SOURCE: dict[str, Any] = {}


def volumes(spec: dict[str, Any], place: Place, problems: Problems) -> tuple[Volume, ...]:
    """`spec.volumes`; names must be unique DNS labels (A-1546). A volume without a source is an emptyDir."""
    if not spec.get("volumes"):
        return ()
    found = []
    seen: set[str] = set()
    for entry, here in entries(spec, "volumes", place, problems):
        name = text(entry, "name", here, problems)
        if not problems.muted:
            fault = dns_label_fault(name)
            if fault:
                problems.refuse(under(here, "name"), f'the volume name "{name}" {fault}', "scheduler:A-1546")
            if name in seen:
                problems.refuse(under(here, "name"), f'a second volume named "{name}"', "scheduler:A-1546")
            seen.add(name)
        found.append(_volume(name, entry, here, problems))
    return tuple(found)


def _volume(name: str, entry: dict[str, Any], place: Place, problems: Problems) -> Volume:
    kind, source = "emptyDir", _NO_SOURCE
    for key, value in entry.items():
        if key != "name" and isinstance(value, dict):
            kind, source = key, value
            break
    claim = None
    if kind == "persistentVolumeClaim":
        claim = text(source, "claimName", under(place, kind), problems)
    elif kind == "ephemeral":
        mapping(source, "volumeClaimTemplate", under(place, kind), problems)
    return Volume(name, kind, source, claim, place)
