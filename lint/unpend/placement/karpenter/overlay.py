"""Prices under a NodeOverlay (`karpenter.md` §9.10)."""

from __future__ import annotations

import re
from fractions import Fraction

_ADJUSTMENT = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(%?)")


def adjusted_price(price: float, adjustment: str) -> float:
    """The price after an adjustment: `+10%` or `-10%` of it, `+5` or `-2.5` added, a bare number instead of it.

    An empty adjustment changes nothing; no price falls below 0.

    Raises:
        ValueError: the adjustment is none of these.
    """
    if not adjustment:
        return price
    match = _ADJUSTMENT.fullmatch(adjustment)
    if match is None:
        raise ValueError(f'"{adjustment}" is not a price adjustment; write for example +10%, -0.5 or 1.25')
    sign, number, percent = match.groups()
    amount = Fraction(number)
    if not sign and not percent:
        return float(amount)
    exact = Fraction(repr(price))
    change = exact * amount / 100 if percent else amount
    return float(max(Fraction(0), exact - change if sign == "-" else exact + change))
