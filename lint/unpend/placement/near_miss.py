"""Which known label key or value somebody most likely meant."""

from __future__ import annotations

from collections.abc import Iterable

OTHER_NAMES = {
    "x86_64": "amd64",
    "x86-64": "amd64",
    "x64": "amd64",
    "aarch64": "arm64",
    "armv8": "arm64",
    "ondemand": "on-demand",
    "on_demand": "on-demand",
}
"""Names of another convention for values that Kubernetes and Karpenter spell otherwise (P-519, N-12)."""


def nearest_key(key: str, known: Iterable[str]) -> str | None:
    """The known key that differs from `key` by a typo, or by its prefix alone; None without a single such key."""
    known = sorted(set(known))
    by_typo = _by_typo(key, known)
    if by_typo is not None:
        return by_typo
    name = key.rpartition("/")[2]
    same_name = [k for k in known if k.rpartition("/")[2] == name and "/" in key and "/" in k]
    return same_name[0] if len(same_name) == 1 else None


def nearest_value(value: str, known: Iterable[str]) -> str | None:
    """The known value that differs from `value` by a typo, by case, or by convention; None without a single one."""
    known = sorted(set(known))
    other = OTHER_NAMES.get(value.lower())
    if other is not None and other in known:
        return other
    same = [k for k in known if k.lower() == value.lower()]
    if len(same) == 1:
        return same[0]
    # One letter makes another zone, size or number: such values are near each other without being typos.
    if len(value) < 4 or any(character.isdigit() for character in value):
        return None
    return _by_typo(value, known)


def _by_typo(text: str, known: list[str]) -> str | None:
    allowed = 1 if len(text) < 8 else 2
    distances = [(edit_distance(text, k, allowed), k) for k in known if abs(len(k) - len(text)) <= allowed]
    near = sorted((d, k) for d, k in distances if d is not None and d <= allowed)
    if not near or (len(near) > 1 and near[0][0] == near[1][0]):
        return None
    return near[0][1]


def edit_distance(left: str, right: str, most: int) -> int | None:
    """How many letters to insert, delete, change or swap with their neighbour; None above `most`."""
    rows = [list(range(len(right) + 1))]
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        if min(row) > most:
            return None
        rows.append(row)
    return rows[-1][-1] if rows[-1][-1] <= most else None
