"""What a plain YAML scalar means to Kubernetes: the rules of go-yaml v2 and the way through JSON.

They are YAML 1.1 with differences: `y` and `n` are booleans, `0o17` and `017` are octal, `0899` and `1e3` are numbers,
`1:30`, dates and `=` are strings. Whole floats become integers, since the API server reads them from JSON text.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from typing import Any

TAG_PREFIX = "tag:yaml.org,2002:"
MERGE_TAG = TAG_PREFIX + "merge"
MERGE_KEY = "<<"

_MEMO_ENTRIES = 100_000
_MEMO_CHARACTERS = 64
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_LEADING_POINT = re.compile(r"\.[0-9]+([eE][-+]?[0-9]+)?\Z")
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]([0-7]+)|0([0-7]+)|([1-9][0-9]*|0))\Z")
_STARTS_NUMBER = frozenset("+-.0123456789")
_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}


class ScalarError(ValueError):
    """A scalar that has no meaning in a manifest; the text says why."""


def resolve(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar as go-yaml v2 decodes it; infinities and NaN are left in."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _STARTS_NUMBER:
        return text
    if text[0] == ".":
        return _finite_float(text, text) if _LEADING_POINT.match(text) else text
    digits = text.replace("_", "") if "_" in text else text
    whole = _INTEGER.match(digits)
    if whole is not None:
        value = _integer(whole)
        if _fits(value, whole.group(1)):
            return value
    if _FLOAT.match(digits):
        return _finite_float(digits, text)
    return text


def _integer(match: re.Match[str]) -> int:
    sign, hexadecimal, binary, octal, old_octal, decimal = match.groups()
    for digits, base in ((hexadecimal, 16), (binary, 2), (octal, 8), (old_octal, 8)):
        if digits is not None:
            value = int(digits, base) if len(digits) <= _MEMO_CHARACTERS + 2 else 1 << 64
            break
    else:
        value = int(decimal) if len(decimal) <= _MEMO_CHARACTERS else 1 << 64
    return -value if sign == "-" else value


def _fits(value: int, sign: str) -> bool:
    """Whether Go keeps the number as int64, or as uint64 when it is written without a sign."""
    return -(1 << 63) <= value < (1 << 63) or (not sign and 0 <= value < (1 << 64))


def _finite_float(digits: str, text: str) -> str | float:
    value = float(digits)
    return text if math.isinf(value) else value


def in_json(value: Any) -> Any:
    """A scalar after its way through JSON: whole floats are integers. Raises ScalarError for infinities and NaN."""
    if value.__class__ is float:
        if math.isinf(value) or math.isnan(value):
            raise ScalarError("this number is not finite, and JSON, which Kubernetes uses, has no such numbers")
        if value.is_integer() and abs(value) < 1 << 63:
            return int(value)
    return value


def plain(text: str) -> Any:
    """The data of a plain scalar. Raises ScalarError for infinities and NaN."""
    return in_json(resolve(text))


def tagged(tag: str, text: str) -> Any:
    """The data of a scalar with an explicit tag. Raises ScalarError where tag and text do not go together."""
    name = tag[len(TAG_PREFIX) :] if tag.startswith(TAG_PREFIX) else ""
    if name == "binary":
        try:
            raw = base64.b64decode("".join(text.splitlines()), validate=True)
        except (binascii.Error, ValueError):
            raise ScalarError("the value is tagged !!binary and is not base64") from None
        return raw.decode("utf-8", "replace")
    if name not in ("bool", "int", "float", "null", "timestamp"):
        return text
    value = resolve(text)
    if name == "timestamp" and value.__class__ is str:
        return text
    if _type_name(value) == name:
        return in_json(value)
    if name == "float" and _type_name(value) == "int":
        return value
    raise ScalarError(f"the value is tagged !!{name} and is written as a {_type_name(value)}")


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "bool", int: "int", float: "float"}.get(value.__class__, "str")


def key_text(value: Any) -> str:
    """The string that Kubernetes makes of the value of a key: `on` is `true`, `1.50` is `1.5`.

    Raises ScalarError for a null key and for an integer above the signed 64-bit range.
    """
    if value.__class__ is str:
        return str(value)
    if value is None:
        raise ScalarError("a key of a mapping is null; quote it or give it a name")
    if value is True or value is False:
        return "true" if value else "false"
    if value.__class__ is int:
        if value >= 1 << 63:
            raise ScalarError("a key of a mapping is a number above 2^63 - 1; quote it")
        return str(value)
    return _short_float(value)


def _short_float(value: float) -> str:
    """`strconv.FormatFloat(value, 'g', -1, 32)`: the shortest digits that give the same 32-bit number."""
    if math.isnan(value):
        return ".nan"
    try:
        narrow = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        narrow = math.copysign(math.inf, value)
    if math.isinf(narrow):
        return ".inf" if narrow > 0 else "-.inf"
    if narrow == 0:
        return "-0" if math.copysign(1, narrow) < 0 else "0"
    for precision in range(1, 10):
        digits = f"{narrow:.{precision - 1}e}"
        if struct.unpack("f", struct.pack("f", float(digits)))[0] == narrow:
            break
    mantissa, _, exponent = digits.partition("e")
    power = int(exponent)
    if power < -4 or power >= 6:
        return f"{mantissa}e{'-' if power < 0 else '+'}{abs(power):02d}"
    decimals = max(precision - 1 - power, 0)
    return f"{float(digits):.{decimals}f}"


class PlainValues(dict[str, Any]):
    """Plain scalar text to data, memoised and bounded. Raises ScalarError like `plain`."""

    def __missing__(self, text: str) -> Any:
        value = plain(text)
        if len(text) <= _MEMO_CHARACTERS:
            if len(self) >= _MEMO_ENTRIES:
                self.clear()
            self[text] = value
        return value


class PlainKeys(dict[str, str]):
    """Plain key text to the string it becomes, memoised and bounded.

    Raises ScalarError like `key_text`, and for a merge key, which is no key.
    """

    def __missing__(self, text: str) -> str:
        if text == MERGE_KEY:
            raise ScalarError("a merge key")
        name = key_text(resolve(text))
        if len(text) <= _MEMO_CHARACTERS:
            if len(self) >= _MEMO_ENTRIES:
                self.clear()
            self[text] = name
        return name
