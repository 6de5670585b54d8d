"""Sizes of node groups by the defaults of each format (C-621, C-241, §6.3)."""

from __future__ import annotations

from typing import Any

from unpend.model.fields import count, mapping, under
from unpend.model.node_groups.group import Size
from unpend.model.problems import Problems
from unpend.source.place import Place


def eksctl_size(owner: dict[str, Any], place: Place, problems: Problems, managed: bool) -> Size:
    """minSize, maxSize and desiredCapacity of eksctl (C-621)."""
    minimum, maximum, desired = (
        count(owner, key, place, problems) for key in ("minSize", "maxSize", "desiredCapacity")
    )
    low = minimum if minimum is not None else desired if desired is not None else 2
    high = maximum if maximum is not None else desired if desired is not None else low
    if managed and maximum is None:
        high = max(high, 1)
    if minimum is not None or desired is not None or maximum is not None:
        _check_order(place, problems, low, high, desired, minimum is None)
    if maximum is not None and managed and maximum < 1:
        problems.refuse(under(place, "maxSize"), "`maxSize` of a managed group must be at least 1", "autoscaler:C-621")
    return Size(low, high, desired, _written(owner, place, "minSize"), _written(owner, place, "maxSize"))


def _written(owner: dict[str, Any], place: Place, key: str) -> Place:
    return under(place, key) if owner.get(key) is not None else place


def _check_order(place: Place, problems: Problems, low: int, high: int, desired: int | None, defaulted: bool) -> None:
    rule = "autoscaler:C-621"
    if desired is not None and not low <= desired <= high:
        side = f"below minSize {low}" if desired < low else f"above maxSize {high}"
        problems.refuse(under(place, "desiredCapacity"), f"desiredCapacity {desired} is {side}", rule)
    elif high < low:
        why = f"minSize is not written and is {low}" if defaulted else f"minSize is {low}"
        problems.refuse(under(place, "maxSize"), f"maxSize {high} is too small: {why}", rule)


def eks_size(
    owner: dict[str, Any],
    key: str,
    place: Place,
    problems: Problems,
    names: tuple[str, str, str] = ("minSize", "maxSize", "desiredSize"),
) -> Size:
    """The scalingConfig of the EKS API; left out, the service takes 1 to 2 with 2 at first (§6.3)."""
    data = mapping(owner, key, place, problems)
    if not data:
        return Size(1, 2, 2, place, place)
    return eks_bounds(data, under(place, key), problems, names)


def eks_bounds(data: dict[str, Any], here: Place, problems: Problems, names: tuple[str, str, str]) -> Size:
    """The three sizes of a scalingConfig."""
    low, high, desired = (count(data, name, here, problems) for name in names)
    rule = "autoscaler:§6.3"
    if low is not None and high is not None and high < low:
        problems.refuse(under(here, names[1]), f"{names[1]} {high} is smaller than {names[0]} {low}", rule)
    elif high is not None and high < 1:
        problems.refuse(under(here, names[1]), f"`{names[1]}` must be at least 1", rule)
    if desired is not None and (desired < (low or 0) or (high is not None and desired > high)):
        span = f"{names[0]} {low} to {names[1]} {high}"
        problems.refuse(under(here, names[2]), f"{names[2]} {desired} is not within {span}", rule)
    return Size(low, high, desired, under(here, names[0]), under(here, names[1]))
