"""The root command; the others are imported when they are called."""

from __future__ import annotations

from typing import Any

import click

_COMMANDS: dict[str, str] = {
    "check": "Check workloads against the capacity they are meant for.",
    "explain": "Show for each workload who says no in which pool, and what would help.",
    "pools": "Show what every pool is: instance types, zones, limits, and which workloads reach it.",
    "startup": "Show how long it takes until a pod serves, and what would shorten it.",
    "calibrate": "Measure the stages of a start from a dump of a cluster, as a profile.",
    "rule": "Print the page of a rule, or the list of all rules.",
    "baseline": "Write down the findings of an old repository, so that only new ones count.",
    "config": "Print the settings in force, or the schema of the config file.",
}


class LazyGroup(click.Group):
    """A group that knows the names of its commands and imports one when it is called."""

    def list_commands(self, _context: click.Context) -> list[str]:
        """The names, in the order of the help."""
        return list(_COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """The command of that name, imported now; None when there is none."""
        if name not in _COMMANDS:
            return None
        from importlib import import_module

        command: Any = import_module(f"unpend.cli.{name}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; an unknown name is an error that says which one is near."""
        name = arguments[0] if arguments else ""
        if name and name not in _COMMANDS and not name.startswith("-"):
            import difflib

            near = difflib.get_close_matches(name, _COMMANDS, 1)
            hint = f" Did you mean '{near[0]}'?" if near else f" Commands are {', '.join(_COMMANDS)}."
            raise click.UsageError(f"no such command '{name}'.{hint}", context)
        return super().resolve_command(context, arguments)


def _print_version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if not value or context.resilient_parsing:
        return
    from unpend.cli.about import version_text

    click.echo(version_text())
    context.exit()


@click.group(
    cls=LazyGroup,
    invoke_without_command=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", "-V", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print versions."
)
def unpend() -> None:
    """Find the pods that would stay Pending, and the nodes that would never go away, before anything is deployed."""
