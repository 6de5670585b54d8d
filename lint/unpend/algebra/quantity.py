"""Kubernetes quantities (`500m`, `1.5Gi`, `1e3`), exact.

The grammar is `A-741`, with one oddity of the API: a text without any digit, such as `Gi`, is 0. As in the API, a
fraction finer than a billionth is rounded away from zero to a billionth, and resource lists are rounded up to
thousandths (`A-204`). Every amount is an integer inside, so nothing is ever off by a float.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

_NANO = 10**9
_MICRO_PER_MILLI = 10**6

_GRAMMAR = re.compile(
    r"([+-]?)"
    r"([0-9]*)(?:\.([0-9]*))?"
    r"(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?[0-9]+))?"
)
_DECIMAL: dict[str, int] = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: dict[str, int] = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_BINARY_LIMIT = (2**63 - 1) * _NANO
"""Amounts with a binary suffix are capped here by the API."""

_MOST = 10**60 * _NANO
"""No amount is larger here, so that no text can cost unbounded memory; no node comes near."""

_MOST_DIGITS = 2000
"""Digits beyond this many are not read one by one (that is, only whether they are zero)."""


class QuantityError(ValueError):
    """A text that the API refuses as a quantity; the message says what is wrong and what was perhaps meant."""


def parse(value: str | int | float) -> Fraction:
    """The exact amount of a quantity (`A-741`).

    YAML numbers are taken as the text that they have in JSON, as the API server sees them. White space around a
    quantity is dropped, as when the API server decodes it; inside it is an error.

    Raises:
        QuantityError: the API would refuse it.
    """
    from fractions import Fraction

    return Fraction(_nano(value), _NANO)


def milli(value: str | int | float) -> int:
    """The amount in thousandths of the unit, rounded away from zero (`A-204`): `milli("0.0005") == 1`.

    Raises:
        QuantityError: the API would refuse it.
    """
    nano = _nano(value)
    rounded = -(-abs(nano) // _MICRO_PER_MILLI)
    return rounded if nano >= 0 else -rounded


def _nano(value: str | int | float) -> int:
    if isinstance(value, str):
        return _nano_of_text(value)
    if isinstance(value, bool):
        text = "true" if value else "false"
        raise QuantityError(f"{text} is a boolean, not a quantity")
    if isinstance(value, int):
        return value * _NANO
    if isinstance(value, float):
        if not math.isfinite(value):
            raise QuantityError(f"{value} is not a finite number, so it is not a quantity")
        return _nano_of_text(repr(value))
    raise QuantityError(f"{_kind(value)} is not a quantity; write a number or a text such as 500m or 1Gi")


def _kind(value: object) -> str:
    kinds = {"NoneType": "null", "dict": "a mapping", "list": "a list"}
    return kinds.get(type(value).__name__, f"a value of type {type(value).__name__}")


@lru_cache(maxsize=8192)
def _nano_of_text(text: str) -> int:
    text = text.strip(" \t\r\n\v\f")
    match = _GRAMMAR.fullmatch(text)
    if match is None or not text:
        raise QuantityError(_explain(text))
    sign, whole, fraction, suffix, exponent_text = match.groups()
    digits, fraction = whole.lstrip("0"), fraction or ""
    if not whole and not fraction and (suffix in ("Pi", "Ei") or (exponent_text and _exponent(exponent_text) < -9)):
        raise QuantityError(_explain(text))
    if suffix in _BINARY:
        amount = min(_round_away(digits, fraction, 9, 2 ** _BINARY[suffix]), _BINARY_LIMIT)
    else:
        exponent = _exponent(exponent_text) if exponent_text else _DECIMAL[suffix or ""]
        amount = _round_away(digits, fraction, exponent + 9, 1)
    return -amount if sign == "-" else amount


def _exponent(text: str) -> int:
    """The exponent; far outside of what any amount can be, it is cut so that it cannot cost memory."""
    if len(text) > 20:
        raise QuantityError(f"the exponent {_shown(text)} is too large for a quantity")
    return max(-2 * _MOST_DIGITS, min(int(text), 2 * _MOST_DIGITS))


def _round_away(digits: str, fraction: str, shift: int, factor: int) -> int:
    """`digits.fraction * 10**shift * factor` as an integer, rounded up; `digits` has no leading zero."""
    if len(digits) > _MOST_DIGITS:
        return _MOST
    kept, rest = fraction[:_MOST_DIGITS], fraction[_MOST_DIGITS:]
    unscaled = int((digits + kept) or "0") * factor
    inexact = bool(rest.strip("0"))
    power: int = shift - len(kept)
    if power >= 0:
        scaled: int = unscaled * 10**power + inexact
        return min(scaled, _MOST)
    unit: int = 10**-power
    quotient, remainder = divmod(unscaled, unit)
    return min(quotient + bool(remainder or inexact), _MOST)


_CONFUSED = {
    "K": "k (thousands) or Ki (1024)",
    "KB": "k (thousands) or Ki (1024)",
    "MB": "M (10^6) or Mi (2^20)",
    "GB": "G (10^9) or Gi (2^30)",
    "TB": "T (10^12) or Ti (2^40)",
    "PB": "P (10^15) or Pi (2^50)",
    "G": "G (10^9) or Gi (2^30)",
    "T": "T (10^12) or Ti (2^40)",
    "P": "P (10^15) or Pi (2^50)",
    "KI": "Ki",
    "MI": "Mi",
    "GI": "Gi",
    "TI": "Ti",
    "PI": "Pi",
    "EI": "Ei",
    "KIB": "Ki",
    "MIB": "Mi",
    "GIB": "Gi",
    "TIB": "Ti",
    "PIB": "Pi",
    "EIB": "Ei",
    "U": "u (millionths)",
    "N": "n (billionths)",
}
_LEADING_NUMBER = re.compile(r"\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(.*)\Z", re.DOTALL)
_SUFFIXES = "n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3"


def _shown(text: str) -> str:
    return f'"{text}"' if len(text) <= 40 else f'"{text[:40]}…"'


def _explain(text: str) -> str:
    shown = _shown(text)
    if not text.strip():
        return f"{shown} is empty, which is not a quantity"
    if re.fullmatch(r"\s*[+-]?[0-9]+,[0-9]+\D*", text):
        return f"{shown} is not a quantity: write the fraction with a point, {_shown(text.strip().replace(',', '.'))}"
    match = _LEADING_NUMBER.match(text)
    if match is None:
        return f"{shown} is not a quantity: it does not begin with a number"
    number, suffix = match.groups()
    if suffix[:1].isspace():
        joined = number + suffix.strip()
        if _GRAMMAR.fullmatch(joined):
            return f"{shown} is not a quantity: no space is allowed between number and suffix; did you mean {joined}?"
    suffix = suffix.strip()
    meant = _CONFUSED.get(suffix.upper())
    if meant is not None:
        return f'{shown} is not a quantity: there is no suffix "{suffix}"; did you mean {meant}?'
    if suffix == "e":
        return f'{shown} is not a quantity: "e" needs an exponent, as in {number}e3; did you mean E (10^18)?'
    if suffix.lower() in {"core", "cores", "cpu", "cpus", "vcpu", "vcpus"}:
        return f"{shown} is not a quantity: CPU is counted in cores without a suffix; did you mean {number}?"
    if suffix.lower() in {"b", "byte", "bytes"}:
        return f"{shown} is not a quantity: bytes have no suffix; did you mean {number}?"
    return f"{shown} is not a quantity: the suffix {_shown(suffix)} is none of {_SUFFIXES}"


_BYTES = ("memory", "ephemeral-storage", "storage", "hugepages-")


def render(amount: int, resource: str) -> str:
    """A short text for an amount in thousandths of the unit: `250m` or `2` of cpu, `1536Mi` of memory, `3` of others.

    Byte amounts that are no whole number of Ki are shown with two decimals, for reading only.
    """
    if amount < 0:
        return "-" + render(-amount, resource)
    whole, rest = divmod(amount, 1000)
    if resource.startswith(_BYTES) or resource.removeprefix("requests.").removeprefix("limits.").startswith(_BYTES):
        return _render_bytes(whole + (rest > 0))
    return f"{amount}m" if rest else str(whole)


def _render_bytes(count: int) -> str:
    for suffix in ("Ti", "Gi", "Mi"):
        unit = 2 ** _BINARY[suffix]
        if count >= unit and count % unit == 0:
            return f"{count // unit}{suffix}"
    for suffix, unit in (("T", 10**12), ("G", 10**9)):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{suffix}"
    if count >= 2**10 and count % 2**10 == 0:
        return f"{count // 2**10}Ki"
    for suffix in ("Gi", "Mi"):
        unit = 2 ** _BINARY[suffix]
        if count >= 10 * unit:
            hundredths = (count * 100 + unit // 2) // unit
            return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".") + suffix
    return str(count)
