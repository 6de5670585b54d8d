"""Resource lists: requests, limits, overhead, capacity."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from unpend.algebra import quantity
from unpend.model.fields import mapping, under
from unpend.model.pod import Amount, Resources
from unpend.model.problems import Problems, describe
from unpend.source.place import Place

_EMPTY: dict[str, Amount] = {}


@lru_cache(maxsize=8192, typed=True)
def milli_of(value: str | int | float) -> int | None:
    """A quantity in thousandths of its unit, rounded up (A-204); None when the text is no quantity (A-741)."""
    try:
        return quantity.milli(value)
    except quantity.QuantityError:
        return None


def _fault(value: str | int | float) -> str:
    try:
        quantity.milli(value)
    except quantity.QuantityError as error:
        return str(error)
    return ""


def amount(value: Any, place: Place, problems: Problems) -> Amount | None:
    """One quantity (A-741, A-743); None after a problem was reported."""
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        milli = milli_of(value)
        if milli is not None:
            return Amount(milli, str(value), place)
        problems.refuse(place, _fault(value), "scheduler:A-741")
    else:
        problems.refuse(
            place, f"a quantity such as 500m or 2Gi is needed here, but this is {describe(value)}", "scheduler:A-743"
        )
    return None


def resources(owner: dict[str, Any], key: str, place: Place, problems: Problems) -> Resources:
    """The resource list at a key; negative amounts are refused (A-734) and left out, null is 0 as Go decodes it."""
    data = mapping(owner, key, place, problems)
    if not data:
        return _EMPTY
    parent = under(place, key)
    holder = place.object
    result: dict[str, Amount] = {}
    for name, value in data.items():
        here = Place(holder, parent, name)
        if value is None:
            result[name] = Amount(0, "0", here)
            continue
        found = amount(value, here, problems)
        if found is None:
            continue
        if found.milli < 0:
            problems.refuse(here, f"{name} may not be negative", "scheduler:A-734")
            continue
        result[name] = found
    return result
