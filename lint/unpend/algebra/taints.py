"""Does a toleration cover a taint? (`P-401` to `P-408`)"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

EFFECTS = frozenset({"NoSchedule", "PreferNoSchedule", "NoExecute"})

FILTERING_EFFECTS = ("NoSchedule", "NoExecute")
"""The effects that keep a pod off a node; PreferNoSchedule only costs score (`P-401`)."""

_INTEGER = re.compile(r"(?:0|-?[1-9][0-9]*)\Z")


class TaintLike(Protocol):
    """A taint: key, value (`""` when not written), effect."""

    @property
    def key(self) -> str:
        """The key."""

    @property
    def value(self) -> str:
        """The value, `""` when there is none."""

    @property
    def effect(self) -> str:
        """NoSchedule, PreferNoSchedule or NoExecute."""


class TolerationLike(Protocol):
    """A toleration: `""` for everything that is not written."""

    @property
    def key(self) -> str:
        """The key; empty matches every key."""

    @property
    def operator(self) -> str:
        """Equal (also when empty), Exists, or with their feature gate Lt and Gt."""

    @property
    def value(self) -> str:
        """The value, compared as text."""

    @property
    def effect(self) -> str:
        """The effect; empty matches every effect."""


T = TypeVar("T", bound=TaintLike)


def tolerates(toleration: TolerationLike, taint: TaintLike, *, comparison: bool = False) -> bool:
    """Whether the toleration covers the taint (`P-403`, `P-404`).

    `comparison` stands for the gate TaintTolerationComparisonOperators: without it, Lt and Gt match nothing (`P-405`).
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    operator = toleration.operator
    if operator == "Exists":
        return True
    if operator in ("", "Equal"):
        return toleration.value == taint.value
    if operator in ("Lt", "Gt") and comparison:
        limit, number = _int64(toleration.value), _int64(taint.value)
        if limit is None or number is None:
            return False
        return number < limit if operator == "Lt" else number > limit
    return False


def _int64(text: str) -> int | None:
    if len(text) > 20 or not _INTEGER.match(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def untolerated(
    tolerations: Sequence[TolerationLike],
    taints: Iterable[T],
    effects: Sequence[str] = FILTERING_EFFECTS,
    *,
    comparison: bool = False,
) -> tuple[T, ...]:
    """The taints with one of these effects that no toleration covers, in node order (`P-402`); `()`: it passes."""
    return tuple(
        taint
        for taint in taints
        if taint.effect in effects and not any(tolerates(t, taint, comparison=comparison) for t in tolerations)
    )
