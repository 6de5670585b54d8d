"""Path patterns of the config: `*` and `?` stay inside a folder, `**` crosses folders, a plain folder means all below.

Patterns are relative to the folder of the config file and use forward slashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from posixpath import normpath


@lru_cache(maxsize=1024)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """A regular expression for whole paths that the pattern takes."""
    pattern = pattern.removeprefix("./")
    folder = pattern.endswith("/")
    pattern = pattern.rstrip("/")
    out: list[str] = []
    i = 0
    while i < len(pattern):
        if pattern.startswith("**/", i):
            out.append("(?:.*/)?")
            i += 3
        elif pattern.startswith("**", i):
            out.append(".*")
            i += 2
        elif pattern[i] == "*":
            out.append("[^/]*")
            i += 1
        elif pattern[i] == "?":
            out.append("[^/]")
            i += 1
        elif pattern[i] == "[" and (end := pattern.find("]", i + 2)) > 0:
            inner = pattern[i + 1 : end].replace("\\", "\\\\")
            negated = inner[0] in "!^"
            out.append(f"[{'^' if negated else ''}{inner[1:] if negated else inner}]")
            i = end + 1
        else:
            out.append(re.escape(pattern[i]))
            i += 1
    below = "/.+" if folder else "(?:/.+)?"
    return re.compile("".join(out) + below + r"\Z", re.DOTALL)


def matches_any(path: str, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns takes the path (relative to the config folder, forward slashes)."""
    return any(compile_glob(pattern).match(path) for pattern in patterns)


def relative_to(uri: str, directory: str, cwd: str = "") -> str:
    """`uri` as a path relative to `directory`; both may be relative to `cwd`. Paths outside keep their `../`.

    No file is looked at: this is arithmetic on names.
    """
    uri = uri.replace("\\", "/")
    if not directory and not (cwd and uri.startswith("/")):
        return normpath(uri)
    full = normpath(f"{cwd}/{uri}" if cwd and not uri.startswith("/") else uri)
    base = normpath(f"{cwd}/{directory}" if cwd and not directory.startswith("/") else directory)
    if full.startswith("/") != base.startswith("/"):
        return normpath(uri)
    parts = [p for p in full.split("/") if p and p != "."]
    bases = [p for p in base.split("/") if p and p != "."]
    common = 0
    while common < min(len(parts), len(bases)) and parts[common] == bases[common]:
        common += 1
    return "/".join([".."] * (len(bases) - common) + parts[common:])
