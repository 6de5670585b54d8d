"""Names, labels and quantities as the API server spells them; every check is memoised, since manifests repeat."""

from __future__ import annotations

import re
from functools import lru_cache

from unpend.algebra.quantity import QuantityError
from unpend.algebra.quantity import milli as _milli

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?\Z", re.ASCII)
_DNS_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\Z", re.ASCII)
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\Z", re.ASCII)

_ALPHABET = "letters, digits, `-`, `_` and `.`, starting and ending with a letter or digit"


@lru_cache(maxsize=8192)
def label_value_fault(value: str) -> str | None:
    """Why a text is no label value (A-1501), None when it is one."""
    if not value or (len(value) <= 63 and _NAME.match(value)):
        return None
    if len(value) > 63:
        return f"has {len(value)} characters, at most 63 are allowed"
    return f"may only have {_ALPHABET}"


@lru_cache(maxsize=8192)
def qualified_name_fault(key: str) -> str | None:
    """Why a text is no qualified name (label key, taint key; A-1502), None when it is one."""
    prefix, slash, name = key.rpartition("/")
    if slash and ("/" in prefix or len(prefix) > 253 or not _SUBDOMAIN.match(prefix)):
        return "needs a lower-case DNS name before its one `/`"
    if not name:
        return "has no name"
    if len(name) > 63:
        return f"has a name of {len(name)} characters, at most 63 are allowed"
    return None if _NAME.match(name) else f"may only have {_ALPHABET}"


@lru_cache(maxsize=4096)
def dns_label_fault(name: str) -> str | None:
    """Why a text is no DNS label (container and volume names), None when it is one."""
    if len(name) <= 63 and _DNS_LABEL.match(name):
        return None
    return "must have 1 to 63 lower-case letters, digits or `-`, starting and ending with a letter or digit"


@lru_cache(maxsize=4096)
def subdomain_fault(name: str) -> str | None:
    """Why a text is no DNS subdomain (object names), None when it is one."""
    if len(name) <= 253 and _SUBDOMAIN.match(name):
        return None
    return "must be a lower-case DNS name"


@lru_cache(maxsize=8192, typed=True)
def milli_of(value: str | int | float) -> int | None:
    """A quantity in thousandths of its unit, rounded up (A-204); None when the text is no quantity (A-741)."""
    try:
        return _milli(value)
    except QuantityError:
        return None


def quantity_fault(value: str | int | float) -> str:
    """Why a value is no quantity (A-741)."""
    try:
        _milli(value)
    except QuantityError as error:
        return str(error)
    return ""
