"""`unpend rule`: the page of a rule, or the list of all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from unpend.cli.outputs import chosen_outputs, write_text
from unpend.cli.parameters import config_options, output_option
from unpend.cli.stream import report_width

if TYPE_CHECKING:
    from unpend.engine.registry import Registry
    from unpend.rule import RuleEntry

_FORMATS = ("text", "json")


@click.command("rule")
@click.argument("name", required=False)
@click.option("--all", "every", is_flag=True, help="The pages of all rules.")
@output_option("text or json", "text")
@config_options
def command(name: str | None, every: bool, outputs: tuple[str, ...], config_file: str | None, isolated: bool) -> int:
    """Print the page of the rule NAME, or the list of all rules.

    A topic (topic/*) lists its rules.
    """
    from unpend.cli.session import read_config
    from unpend.config.errors import ConfigError
    from unpend.engine.registry import registry_of

    targets = chosen_outputs(outputs, _FORMATS)
    if name and every:
        raise click.UsageError("give either a NAME or --all.")
    config = read_config(config_file, isolated)
    registry = registry_of(config.plugins, config.path, config.root)
    names = registry.expand(name or "*")
    if not names:
        raise ConfigError(registry.complaint(name or "*"))
    pages = every or (name is not None and len(names) == 1 and not name.endswith("*"))
    for target in targets:
        render = _json if target.format == "json" else _pages if pages else _list
        write_text(target, render(registry, [registry.entries[n] for n in names], pages))
    return 0


def _pages(registry: Registry, entries: list[RuleEntry], _pages: bool) -> str:
    parts = []
    for entry in entries:
        on = "on by default" if entry.enabled else "off by default"
        head = f"{entry.name} ({entry.topic}, {entry.severity}, {on})"
        parts.append(f"{head}\n{'=' * len(head)}\n\n{page(registry, entry.name).strip()}\n")
    return "\n\n".join(parts)


def _list(registry: Registry, entries: list[RuleEntry], _pages: bool) -> str:
    size = max(len(entry.name) for entry in entries)
    room = max(20, report_width(False, os.environ) - size - 12)
    lines = []
    for entry in entries:
        summary = entry.summary if len(entry.summary) <= room else entry.summary[: room - 1] + "…"
        lines.append(f"{entry.name:<{size}}  {entry.severity:<7}  {summary}".rstrip() + "\n")
    return "".join(lines)


def _json(registry: Registry, entries: list[RuleEntry], pages: bool) -> str:
    from unpend.report.jsontext import dumps

    return dumps({"version": 1, "rules": [_entry(registry, entry, pages) for entry in entries]})


def _entry(registry: Registry, entry: RuleEntry, pages: bool) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": entry.name,
        "topic": entry.topic,
        "severity": entry.severity,
        "enabled": entry.enabled,
        "profiles": list(entry.profiles),
        "needs": list(entry.needs),
        "summary": entry.summary,
        "options": [
            {"name": o.name, "default": list(o.default) if isinstance(o.default, tuple) else o.default, "doc": o.doc}
            for o in entry.options
        ],
    }
    if pages:
        data["page"] = page(registry, entry.name).strip()
    return data


def page(registry: Registry, name: str) -> str:
    """The page of a rule; empty for one that is not in a pack or does not load."""
    if name not in registry.entries:
        return ""
    return registry.load(name).doc
