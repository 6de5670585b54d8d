"""Whether a text that parses as YAML is a template all the same."""

from __future__ import annotations

from bisect import bisect_right

from unpend.source.locator import composed
from unpend.source.table import quoted_ranges

_OPENING = "{{"


def is_template(text: str) -> bool:
    """Whether `{{` stands outside of quoted and block scalars: in a plain scalar, a flow mapping or a comment.

    Inside of them it may be text for another program: alert rules, dashboards and configuration files are full of it.
    """
    at = text.find(_OPENING)
    if at < 0:
        return False
    document = composed(text)
    if document is None:
        return True
    ranges = quoted_ranges(document.table)
    while at >= 0:
        found = bisect_right(ranges, (at, len(text))) - 1
        if found < 0 or at >= ranges[found][1]:
            return True
        at = text.find(_OPENING, at + 1)
    return False
