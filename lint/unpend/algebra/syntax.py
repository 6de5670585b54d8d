"""What may be a label value, a label key, a domain (`A-1501`, `A-1502`)."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")

LONGEST_NAME = 63
LONGEST_DOMAIN = 253


def is_label_value(text: str) -> bool:
    """Whether the text may be the value of a label (`A-1501`); the empty one may."""
    return not text or (len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None)


def is_qualified_name(text: str) -> bool:
    """Whether the text may be a label or taint key: an optional domain and `/`, then a name (`A-1502`)."""
    domain, slash, name = text.rpartition("/")
    if slash and not is_subdomain(domain):
        return False
    return len(name) <= LONGEST_NAME and _NAME.fullmatch(name) is not None


def is_subdomain(text: str) -> bool:
    """Whether the text is a DNS subdomain: lower case, at most 253 characters."""
    return len(text) <= LONGEST_DOMAIN and _SUBDOMAIN.fullmatch(text) is not None


def domain_of(key: str) -> str:
    """The part of a label key before the slash, `""` when there is none."""
    return key.rpartition("/")[0]
