"""Which rules run, at which severity and with which options: packs, profile, select, ignore and config together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unpend.config.errors import ErrorList, did_you_mean
from unpend.config.model import RuleSetting
from unpend.config.shape import Flag, ListOf, Number, Shape, Text
from unpend.engine.options import RunOptions
from unpend.engine.registry import Registry
from unpend.records import dataclass
from unpend.rule import Option, RuleEntry, Severity

# These speak about the run itself: without them a run that understood nothing would look like a clean one.
ALWAYS = ("internal-error", "yaml-syntax", "chart-not-rendered")


@dataclass(frozen=True, slots=True)
class ActiveRule:
    """A rule that may run. `selected` is False for one that only takes part in the ownership of causes."""

    entry: RuleEntry
    severity: Severity | None
    options: Mapping[str, Any]
    selected: bool = True


@dataclass(frozen=True, slots=True)
class Selection:
    """The rules of a run in the order of names: `rules` are reported, `bystanders` only own causes."""

    rules: tuple[ActiveRule, ...]
    bystanders: tuple[ActiveRule, ...]

    def entries(self) -> tuple[RuleEntry, ...]:
        """The selected rules as reports list them, with the severity that holds in this run."""
        from unpend.records import replace

        return tuple(replace(r.entry, severity=r.severity) if r.severity else r.entry for r in self.rules)


@dataclass(slots=True)
class _Setting:
    severity: Severity | None = None
    off: bool = False
    options: dict[str, Any] | None = None


def select_rules(registry: Registry, options: RunOptions) -> Selection:
    """The rules that run. Raises ConfigError with everything that is wrong with names, severities and options."""
    errors = ErrorList(options.config_path or "config")
    settings = _settings(registry, options.rules, errors)
    chosen = _names(registry, options, options.select, ("select", "select"), errors)
    ignored = _names(registry, options, options.ignore, ("ignore", "ignoreRules"), errors)
    errors.raise_if_any()

    rules: list[ActiveRule] = []
    bystanders: list[ActiveRule] = []
    for name, entry in registry.entries.items():
        setting = settings.get(name, _DEFAULT)
        switched_on = in_profile(entry, options.profile) or setting.severity is not None
        off = setting.off or name in ignored
        if options.select:
            wanted = name in chosen or name in ALWAYS
        else:
            wanted = switched_on
        active = ActiveRule(entry, setting.severity, _with_defaults(entry, setting))
        if wanted and (not off or name == "internal-error"):
            rules.append(active)
        elif entry.competes and switched_on:
            bystanders.append(ActiveRule(entry, setting.severity, active.options, selected=False))
    return Selection(tuple(rules), tuple(bystanders))


def in_profile(entry: RuleEntry, profile: str) -> bool:
    """Whether a profile turns the rule on: `strict` all, the others what is on by default and what names them."""
    return profile == "strict" or entry.enabled or profile in entry.profiles


_DEFAULT = _Setting()


def _names(
    registry: Registry, options: RunOptions, patterns: tuple[str, ...], words: tuple[str, str], errors: ErrorList
) -> set[str]:
    """The rules that are meant; `words` are what the patterns are called on the command line and in the config."""
    names: set[str] = set()
    for index, pattern in enumerate(patterns):
        found = registry.expand(pattern)
        if not found and pattern in options.from_command_line:
            errors.add_name(None, f"--{words[0]}", index, registry.complaint(pattern))
        elif not found:
            key = words[0] if options.config_root is None else words[1]
            errors.add_name(options.config_root, key, index, registry.complaint(pattern))
        names.update(found)
    return names


def _with_defaults(entry: RuleEntry, setting: _Setting) -> Mapping[str, Any]:
    given = setting.options or {}
    return {option.name: given.get(option.name, option.default) for option in entry.options}


def _settings(registry: Registry, given: tuple[RuleSetting, ...], errors: ErrorList) -> dict[str, _Setting]:
    """By rule name; `topic/*` first, so that a rule's own entry wins."""
    settings: dict[str, _Setting] = {}
    for setting in sorted(given, key=lambda s: not s.name.endswith("*")):
        names = registry.expand(setting.name)
        if not names:
            errors.add(setting.place, registry.complaint(setting.name), key=True)
            continue
        many = setting.name.endswith("*")
        known = {} if many else {option.name: option for option in registry.entries[names[0]].options}
        read = _read(setting, known, errors)
        for name in names:
            target = settings.setdefault(name, _Setting())
            if read.severity or read.off:
                target.severity, target.off = read.severity, read.off
            if read.options:
                target.options = read.options
    return settings


def _read(setting: RuleSetting, known: Mapping[str, Option], errors: ErrorList) -> _Setting:
    out = _Setting(options={})
    for key, value in setting.values.items():
        place = setting.place.at(key)
        if key == "severity":
            out.off = value in (False, "off")
            out.severity = None if out.off else value
        elif key in known:
            read = shape_of(known[key]).read(value, place, errors)
            if read is not None and out.options is not None:
                out.options[key] = read
        else:
            names = ["severity", *known]
            hint = did_you_mean(key, names) or f"; known are {', '.join(names)}"
            errors.add(place, f"unknown key{hint}", key=True)
    return out


def shape_of(option: Option) -> Shape:
    """What a value of the option may be, after the type of its default."""
    default = option.default
    if isinstance(default, bool):
        return Flag(doc=option.doc)
    if isinstance(default, int | float):
        return Number(whole=isinstance(default, int), minimum=option.minimum, doc=option.doc)
    if isinstance(default, tuple):
        return ListOf(Text(), single=True, doc=option.doc)
    return Text(doc=option.doc)
