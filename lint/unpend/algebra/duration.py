"""Durations as Go writes them: `90s`, `1m30s`, `500ms`."""

from __future__ import annotations

import re

_GO_DURATION = re.compile(r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
PATTERN = r"^(\d+(\.\d+)?(ms|s|m|h))+$"


def parse_duration(text: str) -> float:
    """Seconds. Raises ValueError for anything that is not a sequence of number and unit."""
    seconds = go_duration(text) if re.match(PATTERN, text) else None
    if seconds is None:
        raise ValueError(f"{text!r} is not a duration such as '90s' or '1m30s'")
    return seconds


def go_duration(text: str) -> float | None:
    """The seconds of a Go duration such as `1h30m`, negative ones included; None for anything else."""
    if len(text) > 64:
        return None
    if text in ("0", "+0", "-0"):
        return 0.0
    if not _GO_DURATION.fullmatch(text):
        return None
    from fractions import Fraction

    total = sum(Fraction(number.rstrip(".") or "0") * _NANOSECONDS[unit] for number, unit in _PART.findall(text))
    if total >= 2**63:
        return None
    return float(total / 10**9) * (-1 if text.startswith("-") else 1)
