"""Patterns of `.gitignore`, `.helmignore` and `exclude`: which files a search leaves out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_IGNORE_FILES = (".gitignore", ".helmignore")


class Patterns:
    """Patterns as in `.gitignore`, relative to a folder; matching is lazy and costs nothing without patterns."""

    __slots__ = ("_base", "_spec")

    def __init__(self, base: str, lines: Sequence[str]) -> None:
        self._base = base.rstrip(os.sep) + os.sep
        self._spec = _compile(lines)

    def decide(self, path: str, folder: bool) -> bool | None:
        """True: left out; False: a negation takes it back; None: no pattern speaks of it."""
        if self._spec is None or not path.startswith(self._base):
            return None
        relative = path[len(self._base) :].replace(os.sep, "/")
        return self._spec.check_file(relative + "/" if folder else relative).include

    def match(self, path: str, folder: bool) -> bool:
        """Whether a file or folder is left out, by itself or with a folder around it."""
        if self._spec is None:
            return False
        return bool(self.decide(path, folder))


def _compile(lines: Sequence[str]) -> GitIgnoreSpec | None:
    written = [line for line in lines if line.strip() and not line.startswith("#")]
    if not written:
        return None
    from pathspec import GitIgnoreSpec

    kept = []
    for line in written:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        kept.append(line)
    return GitIgnoreSpec.from_lines(kept) if kept else None


class IgnoreStack:
    """The ignore files that hold in a folder: the one next to a file speaks first."""

    __slots__ = ("_patterns",)

    def __init__(self, patterns: tuple[Patterns, ...] = ()) -> None:
        self._patterns = patterns

    def enter(self, folder: str, names: Iterable[str]) -> IgnoreStack:
        """The stack inside a folder that contains files of these names."""
        here = set(names)
        own = tuple(Patterns(folder, _lines(os.path.join(folder, name))) for name in _IGNORE_FILES if name in here)
        return IgnoreStack((*own, *self._patterns)) if own else self

    def match(self, path: str, folder: bool) -> bool:
        """Whether the nearest ignore file that speaks of a path leaves it out."""
        for patterns in self._patterns:
            said = patterns.decide(path, folder)
            if said is not None:
                return said
        return False


def above(folder: str) -> IgnoreStack:
    """The ignore files that hold for a folder from outside: those between it and the root of its repository."""
    chain = []
    at = os.path.abspath(folder)
    while not os.path.exists(os.path.join(at, ".git")):
        parent = os.path.dirname(at)
        if parent == at:
            return IgnoreStack()
        at = parent
        chain.append(at)
    exclude = os.path.join(at, ".git", "info", "exclude")
    stack = IgnoreStack((Patterns(at, _lines(exclude)),))
    for outer in reversed(chain):
        stack = stack.enter(outer, [name for name in _IGNORE_FILES if os.path.isfile(os.path.join(outer, name))])
    return stack


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []
