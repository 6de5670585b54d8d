"""What Kubernetes does with one expression and one label, written as plainly as can be and sharing no code with unpend.

From `k8s.io/apimachinery` `labels.NewRequirement` and `Requirement.Matches`: an expression that does not parse matches
nothing, `strconv.ParseInt(text, 10, 64)` reads numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

ALPHANUMERIC = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
DIGITS = "0123456789"


def label_value(text: str) -> bool:
    if text == "":
        return True
    if len(text) > 63 or text[0] not in ALPHANUMERIC or text[-1] not in ALPHANUMERIC:
        return False
    return all(c in ALPHANUMERIC or c in "-_." for c in text)


def go_int(text: str) -> int | None:
    sign = 1
    if text[:1] in ("+", "-"):
        sign = -1 if text[0] == "-" else 1
        text = text[1:]
    if not text:
        return None
    number = 0
    for c in text:
        if c not in DIGITS:
            return None
        number = number * 10 + DIGITS.index(c)
    number *= sign
    return number if -(2**63) <= number <= 2**63 - 1 else None


def matches(operator: str, values: Sequence[str], label: str | None) -> bool:
    for value in values:
        if not label_value(value):
            return False
    if operator == "In":
        return label is not None and label in values
    if operator == "NotIn":
        return bool(values) and (label is None or label not in values)
    if operator == "Exists":
        return not values and label is not None
    if operator == "DoesNotExist":
        return not values and label is None
    if operator in ("Gt", "Lt", "Gte", "Lte"):
        if len(values) != 1 or label is None:
            return False
        bound, number = go_int(values[0]), go_int(label)
        if bound is None or number is None:
            return False
        return {
            "Gt": number > bound,
            "Lt": number < bound,
            "Gte": number >= bound,
            "Lte": number <= bound,
        }[operator]
    return False
