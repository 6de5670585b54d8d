"""`unpend check`: findings, and an exit code that a pipeline can trust."""

from __future__ import annotations

from typing import Any

import click

from unpend.cli.checking import check
from unpend.cli.parameters import color_option, helm_options, input_options, output_option, reading_options
from unpend.cli.plain import FAIL_ON, PROFILES
from unpend.report import FORMATS


@click.command("check")
@input_options
@reading_options
@helm_options
@click.option("--select", metavar="RULE", multiple=True, help="Only these rules, or topic/*. Repeatable.")
@click.option("--ignore", metavar="RULE", multiple=True, help="Not these rules, or topic/*. Repeatable.")
@click.option("--profile", type=click.Choice(PROFILES), help="Which rules are on.")
@click.option("--fail-on", type=click.Choice(FAIL_ON), help="Least severity that fails the run. Default: error.")
@click.option("--fail-on-unknown", is_flag=True, help="Fail when a verdict depends on a fact that is not given.")
@click.option("--max-warnings", type=click.IntRange(min=0), metavar="N", help="Fail on more than N warnings.")
@click.option("--allow-empty", is_flag=True, help="Exit with 0 when no Kubernetes object was met.")
@output_option(", ".join(FORMATS), "text")
@click.option("--report-only-paths", is_flag=True, help="Read everything, report only what concerns the paths given.")
@click.option("--statistics", is_flag=True, help="Count findings per rule.")
@click.option("--show-suppressed", is_flag=True, help="Show suppressed findings too.")
@click.option("--today", metavar="DATE", help="The day on which suppressions expire (YYYY-MM-DD). Default: today.")
@click.option("--fix", is_flag=True, help="Change the files where a safe fix is proved to help.")
@click.option("--unsafe-fixes", is_flag=True, help="As --fix, also with fixes that change what is meant.")
@click.option("--diff", is_flag=True, help="Show what --fix (with --unsafe-fixes) would change; change nothing.")
@click.option("--baseline", metavar="FILE", help="Do not count the findings in this file (see unpend baseline).")
@color_option
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but findings.")
def command(**given: Any) -> int:
    """Check workloads against the capacity they are meant for.

    PATH is a file, a folder, a pattern, or - for standard input; without one, the current folder is searched.

    Exit codes: 0 nothing to complain about, 1 findings, 2 the run is not trustworthy, 3 no Kubernetes object was met.
    """
    return check(given)
