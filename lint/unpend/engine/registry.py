"""Rule packs: the built-in one by its name, others by entry point, and only those that the config names."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from unpend.config.errors import ErrorList, UnpendError, did_you_mean
from unpend.records import dataclass, field
from unpend.rule import Pack, Rule, RuleEntry
from unpend.source.place import Place

BUILT_IN = "unpend_rules"
GROUP = "unpend.rules"


class PackError(UnpendError):
    """A rule pack does not load; the message names the distribution that it comes from.

    `plugins` are the numbers of the names in the config that the messages are about, where they are about such names.
    """

    def __init__(self, messages: Sequence[str] | str, plugins: Sequence[int] = ()) -> None:
        super().__init__(messages)
        self.plugins = tuple(plugins)

    def at(self, uri: str, root: Place) -> PackError:
        """The same with the places in the config that name the packs."""
        if not self.plugins:
            return self
        errors = ErrorList(uri)
        for index, message in zip(self.plugins, self.messages, strict=True):
            errors.add_name(root, "plugins", index, message.removeprefix("plugins: "))
        return PackError(errors.messages)


@dataclass(frozen=True, slots=True)
class Registry:
    """All rules of the loaded packs by name, in the order of names."""

    packs: tuple[Pack, ...]
    entries: Mapping[str, RuleEntry]
    _owner: Mapping[str, Pack] = field(repr=False)

    @classmethod
    def of(cls, packs: Sequence[Pack]) -> Registry:
        """The rules of several packs. Raises PackError when two packs have a rule of the same name."""
        owner: dict[str, Pack] = {}
        entries: dict[str, RuleEntry] = {}
        for pack in packs:
            for entry in pack.index:
                if entry.name in owner:
                    raise PackError(
                        f"rule pack '{pack.name}' has a rule '{entry.name}', which is a rule of "
                        f"'{owner[entry.name].name}' already"
                    )
                owner[entry.name] = pack
                entries[entry.name] = entry
        return cls(tuple(packs), dict(sorted(entries.items())), owner)

    def load(self, name: str) -> Rule:
        """The rule itself, imported on first use. Whatever its module raises goes through."""
        return self._owner[name].load(name)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics in the order of names."""
        return tuple(sorted({entry.topic for entry in self.entries.values()}))

    def expand(self, pattern: str) -> tuple[str, ...]:
        """The rules that a name, `topic/*` or `*` means; empty when it means none."""
        if pattern == "*":
            return tuple(self.entries)
        if pattern.endswith("/*"):
            topic = pattern[:-2]
            return tuple(name for name, entry in self.entries.items() if entry.topic == topic)
        return (pattern,) if pattern in self.entries else ()

    def complaint(self, pattern: str) -> str:
        """Why a pattern means no rule: `there is no rule 'x', did you mean 'y'?`."""
        if pattern.endswith("/*"):
            hint = did_you_mean(pattern[:-2], self.topics) or f"; the topics are {', '.join(self.topics)}"
            return f"there is no topic '{pattern[:-2]}'{hint}"
        within = [name for name in self.entries if len(pattern) > 3 and pattern in name]
        if 0 < len(within) <= 3:
            listed = "' or '".join(within)
            return f"there is no rule '{pattern}', did you mean '{listed}'?"
        return f"there is no rule '{pattern}'{did_you_mean(pattern, self.entries)}"


@lru_cache(maxsize=8)
def load_registry(plugins: tuple[str, ...] = ()) -> Registry:
    """The built-in pack and the packs named by `plugins` (distributions or entry points). Raises PackError."""
    packs = [_built_in()]
    if plugins:
        packs.extend(_plugins(plugins))
    return Registry.of(packs)


def registry_of(plugins: tuple[str, ...], uri: str, root: Place | None) -> Registry:
    """The packs that the config at `root` names, and the built-in one. Raises PackError with the places there."""
    try:
        return load_registry(plugins)
    except PackError as error:
        raise (error if root is None else error.at(uri, root)) from error


def _built_in() -> Pack:
    try:
        pack: Pack = importlib.import_module(BUILT_IN).PACK
    except Exception as error:
        raise PackError(f"the built-in rule pack does not load: {_reason(error)}") from error
    return pack


def _plugins(names: Iterable[str]) -> list[Pack]:
    from importlib.metadata import entry_points

    points = sorted(entry_points(group=GROUP), key=lambda p: (p.dist.name if p.dist else "", p.name))
    packs: list[Pack] = []
    errors: list[tuple[int, str]] = []
    for index, name in enumerate(names):
        wanted = _canonical(name)
        chosen = [p for p in points if wanted in (_canonical(p.name), _canonical(p.dist.name if p.dist else ""))]
        if not chosen:
            installed = sorted({p.dist.name for p in points if p.dist})
            hint = did_you_mean(name, installed) or f"; installed are: {', '.join(installed) or 'none'}"
            errors.append((index, f"plugins: no rule pack '{name}' is installed{hint}"))
        for point in chosen:
            where = f"rule pack '{point.name}' of distribution '{point.dist.name if point.dist else 'unknown'}'"
            try:
                pack = point.load()
            except Exception as error:
                errors.append((index, f"{where} does not load: {_reason(error)}"))
                continue
            if not isinstance(pack, Pack):
                what = f"{point.value} is a {type(pack).__name__}, expected an unpend.rule.Pack"
                errors.append((index, f"{where}: {what}"))
            elif pack not in packs:
                packs.append(pack)
    if errors:
        raise PackError([message for _, message in errors], [index for index, _ in errors])
    return packs


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
