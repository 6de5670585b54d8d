"""Reading one field of a mapping: its value when the type is right, else a problem at its place and a default.

A field that is absent and one that is null are the same to the API server, so both give the default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unpend.model.problems import Problems
from unpend.source.place import Place, Step

_INT32 = 2**31


def under(place: Place, step: Step) -> Place:
    """The place of a value directly inside another one."""
    return Place(place.object, place, step)


def mapping(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> dict[str, Any] | None:
    """The mapping at a key; None when there is none."""
    value = owner.get(key)
    if value is None or isinstance(value, dict):
        return value
    problems.wrong_type(under(place, key), "mapping", value)
    return None


def sequence(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> list[Any]:
    """The list at a key, empty when there is none."""
    value = owner.get(key)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    problems.wrong_type(under(place, key), "list", value)
    return []


def entries(
    owner: dict[str, Any], key: str, place: Place, problems: Problems
) -> Sequence[tuple[dict[str, Any], Place]]:
    """The mappings of the list at a key, each with its place; a null item is an empty mapping, as Go decodes it."""
    items = owner.get(key)
    if items is None:
        return ()
    if not isinstance(items, list):
        problems.wrong_type(under(place, key), "list", items)
        return ()
    holder = place.object
    parent = Place(holder, place, key)
    found: list[tuple[dict[str, Any], Place]] = []
    for index, item in enumerate(items):
        here = Place(holder, parent, index)
        if isinstance(item, dict):
            found.append((item, here))
        elif item is None:
            found.append(({}, here))
        else:
            problems.wrong_type(here, "mapping", item)
    return found


def text(owner: dict[str, Any], key: str, place: Place, problems: Problems, default: str = "") -> str:
    """The text at a key."""
    value = owner.get(key)
    if isinstance(value, str):
        return value
    if value is not None:
        problems.wrong_type(under(place, key), "text", value)
    return default


def texts(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> tuple[str, ...]:
    """The list of texts at a key; an item of another type is left out, null counts as an empty text."""
    items = sequence(owner, key, place, problems)
    if not items:
        return ()
    result: list[str] = []
    for index, item in enumerate(items):
        if isinstance(item, str):
            result.append(item)
        elif item is None:
            result.append("")
        else:
            problems.wrong_type(under(under(place, key), index), "text", item)
    return tuple(result)


def integer(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> int | None:
    """The whole number at a key, None when there is none. `3.0` is one: tools turn YAML into JSON and write 3."""
    value = owner.get(key)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if -(2**63) <= value < 2**63:
            return value
        problems.refuse(under(place, key), f"`{key}` is too large a number", "scheduler:A-743")
        return None
    problems.wrong_type(under(place, key), "whole number", value)
    return None


def count(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> int | None:
    """A number that may not be negative, such as `replicas`."""
    value = integer(owner, key, place, problems)
    if value is not None and not 0 <= value < _INT32:
        what = "negative" if value < 0 else "larger than 2147483647"
        problems.refuse(under(place, key), f"`{key}` is {what}", "scheduler:A-1550")
        return None
    return value


def boolean(owner: dict[str, Any], key: str, place: Place, problems: Problems, default: bool = False) -> bool:
    """The true/false value at a key."""
    value = owner.get(key)
    if isinstance(value, bool):
        return value
    if value is not None:
        problems.wrong_type(under(place, key), "true/false value", value)
    return default
