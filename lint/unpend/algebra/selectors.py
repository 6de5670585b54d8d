"""Label selectors: does a set of labels match a list of expressions?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from unpend.algebra.values import from_expression


class ExpressionLike(Protocol):
    """One expression: key, operator, values."""

    @property
    def key(self) -> str:
        """The label key."""

    @property
    def operator(self) -> str:
        """In, NotIn, Exists, DoesNotExist, Gt or Lt."""

    @property
    def values(self) -> Sequence[str]:
        """The values."""


def matches(expressions: Iterable[ExpressionLike], labels: Mapping[str, str]) -> bool:
    """Whether the labels meet all expressions (`P-507`); no expression at all matches everything.

    An expression that cannot be parsed (unknown operator, wrong number of values) matches nothing, and with it the
    whole selector (`P-506`).
    """
    return all(from_expression(e.operator, e.values).admits(labels.get(e.key)) for e in expressions)
