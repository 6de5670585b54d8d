"""What may be a label value, a label key, a name: the grammar of the API server, and why a text breaks it.

Every check is memoised, since manifests repeat.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?\Z", re.ASCII)
_DNS_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\Z", re.ASCII)
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\Z", re.ASCII)

_ALPHABET = "letters, digits, `-`, `_` and `.`, starting and ending with a letter or digit"

LONGEST_NAME = 63
LONGEST_DOMAIN = 253


@lru_cache(maxsize=8192)
def label_value_fault(value: str) -> str | None:
    """Why a text is no label value (`A-1501`), None when it is one; the empty one is."""
    if not value or (len(value) <= LONGEST_NAME and _NAME.match(value)):
        return None
    if len(value) > LONGEST_NAME:
        return f"has {len(value)} characters, at most {LONGEST_NAME} are allowed"
    return f"may only have {_ALPHABET}"


def is_label_value(text: str) -> bool:
    """Whether the text may be the value of a label (`A-1501`)."""
    return label_value_fault(text) is None


@lru_cache(maxsize=8192)
def qualified_name_fault(key: str) -> str | None:
    """Why a text is no qualified name (label key, taint key; `A-1502`), None when it is one."""
    domain, slash, name = key.rpartition("/")
    if slash and (len(domain) > LONGEST_DOMAIN or not _SUBDOMAIN.match(domain)):
        return "needs a lower-case DNS name before its one `/`"
    if not name:
        return "has no name"
    if len(name) > LONGEST_NAME:
        return f"has a name of {len(name)} characters, at most {LONGEST_NAME} are allowed"
    return None if _NAME.match(name) else f"may only have {_ALPHABET}"


@lru_cache(maxsize=4096)
def dns_label_fault(name: str) -> str | None:
    """Why a text is no DNS label (container and volume names), None when it is one."""
    if len(name) <= LONGEST_NAME and _DNS_LABEL.match(name):
        return None
    return "must have 1 to 63 lower-case letters, digits or `-`, starting and ending with a letter or digit"


@lru_cache(maxsize=4096)
def subdomain_fault(name: str) -> str | None:
    """Why a text is no DNS subdomain (object names), None when it is one."""
    if len(name) <= LONGEST_DOMAIN and _SUBDOMAIN.match(name):
        return None
    return "must be a lower-case DNS name"
