"""Durations as Go writes them: `90s`, `1m30s`, `500ms`."""

from __future__ import annotations

import re

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
PATTERN = r"^(\d+(\.\d+)?(ms|s|m|h))+$"


def parse_duration(text: str) -> float:
    """Seconds. Raises ValueError for anything that is not a sequence of number and unit."""
    if not re.match(PATTERN, text):
        raise ValueError(f"{text!r} is not a duration such as '90s' or '1m30s'")
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
