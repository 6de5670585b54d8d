"""Names, namespaces, labels and annotations of objects and pod templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from unpend.algebra.syntax import label_value_fault, qualified_name_fault
from unpend.model.fields import mapping, text, under
from unpend.model.pod import Label
from unpend.model.problems import Problems
from unpend.settings import Settings
from unpend.source.document import Object
from unpend.source.place import Place

_EMPTY: dict[str, Any] = {}


class Identity(NamedTuple):
    """Who an object is. `namespace` is the effective one; `data` and `place` are its metadata."""

    name: str
    namespace: str
    data: dict[str, Any]
    place: Place


def identity(obj: Object, settings: Settings, problems: Problems) -> Identity:
    """The identity of a namespaced object; one without a namespace belongs to the namespace of the settings."""
    place = under(obj.root, "metadata")
    data = mapping(obj.data, "metadata", obj.root, problems) or _EMPTY
    name = text(data, "name", place, problems) or text(data, "generateName", place, problems)
    return Identity(name, text(data, "namespace", place, problems) or settings.namespace, data, place)


def labels(
    owner: dict[str, Any], key: str, place: Place, problems: Problems, checked: bool = True
) -> Mapping[str, Label]:
    """Labels (or, unchecked, annotations) at a key: text to text, each entry with its place (A-1501, A-1502, A-743)."""
    data = mapping(owner, key, place, problems)
    if not data:
        return _EMPTY
    parent = under(place, key)
    holder = place.object
    result: dict[str, Label] = {}
    for name, value in data.items():
        here = Place(holder, parent, name)
        if isinstance(value, str):
            result[name] = Label(name, value, here)
            if checked:
                check_label(name, value, here, problems)
        elif value is None:
            result[name] = Label(name, "", here)
        else:
            problems.wrong_type(here, "text", value)
    return result


def check_label(key: str, value: str, place: Place, problems: Problems) -> None:
    """Report a label key or value with an illegal spelling."""
    fault = qualified_name_fault(key)
    if fault:
        problems.refuse(place, f'the label key "{key}" {fault}', "scheduler:A-1502", "key")
    fault = label_value_fault(value)
    if fault:
        problems.refuse(place, f'the label value "{value}" {fault}', "scheduler:A-1501")
