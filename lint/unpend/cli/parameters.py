"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from unpend.cli.plain import COLORS

Command = TypeVar("Command", bound=Callable[..., Any])


def config_options(command: Command) -> Command:
    """`--config FILE | --isolated`."""
    command = click.option("--isolated", is_flag=True, help="Look for no config file.")(command)
    return click.option("--config", "config_file", metavar="FILE", help="Use this config file.")(command)


def input_options(command: Command) -> Command:
    """What to read, and as what: PATH…, `--pools`, `--cluster`, `--complete`, `--namespace`, `--zone-shift` …"""
    command = config_options(command)
    command = click.option(
        "--stdin-filename", metavar="NAME", help="What to call the text that is read for the path -."
    )(command)
    command = click.option(
        "--zone-shift",
        metavar="ZONE",
        multiple=True,
        help="As if this zone were shifted away: nothing is launched there, its nodes are cordoned. Repeatable.",
    )(command)
    command = click.option("--namespace", metavar="NAME", help="Namespace of objects that name none.")(command)
    command = click.option("--complete", is_flag=True, help="No capacity exists beside what is read.")(command)
    command = click.option("--cluster", metavar="NAME", help="Use only this cluster of the config.")(command)
    command = click.option(
        "--pools",
        metavar="PATH",
        multiple=True,
        help="Files with the capacity: Nodes, pools, groups. No other capacity exists. Repeatable.",
    )(command)
    return click.argument("paths", metavar="[PATH]...", nargs=-1)(command)


def helm_options(command: Command) -> Command:
    """`--helm`, `--values FILE`, `--set KEY=VALUE`, `--values-set NAME=FILE,…`."""
    command = click.option(
        "--values-set",
        "values_sets",
        metavar="NAME=FILE[,FILE]",
        multiple=True,
        help="With --helm: one more way to install the chart, checked in the same run. Repeatable.",
    )(command)
    command = click.option(
        "--set", "settings", metavar="KEY=VALUE", multiple=True, help="With --helm: passed on to it. Repeatable."
    )(command)
    command = click.option(
        "--values", "-f", metavar="FILE", multiple=True, help="With --helm: passed on to it. Repeatable."
    )(command)
    return click.option(
        "--helm",
        is_flag=True,
        help="Render the charts among the paths (or those of the config) with the helm on the PATH.",
    )(command)


def reading_options(command: Command) -> Command:
    """`--force-exclude`."""
    return click.option("--force-exclude", is_flag=True, help="Pass over excluded files also when they are named.")(
        command
    )


def output_option(metavar: str, default: str) -> Callable[[Command], Command]:
    """`--output FORMAT[:FILE]`, repeatable."""

    def decorate(command: Command) -> Command:
        return click.option(
            "--output",
            "-o",
            "outputs",
            metavar="FORMAT[:FILE]",
            multiple=True,
            help=f"{metavar}; to standard output or a file. Repeatable. Default: {default}.",
        )(command)

    return decorate


def color_option(command: Command) -> Command:
    """`--color auto|always|never`."""
    return click.option("--color", type=click.Choice(COLORS), default=COLORS[0], help="When to use colours.")(command)
