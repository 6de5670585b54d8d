"""`unpend check`: findings, and an exit code that a pipeline can trust."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from unpend.cli.outputs import (
    chosen_outputs,
    report_options,
    wants_annotations,
    without_commands,
    write_outputs,
)
from unpend.cli.parameters import color_option, input_options, output_option, reading_options
from unpend.report import FORMATS, render

if TYPE_CHECKING:
    from unpend.engine.result import Result
    from unpend.report.options import ReportOptions

_FAIL_ON = ("error", "warning", "info", "none")
_PROFILES = ("default", "strict", "cost", "reliability")
_LONG = 50


@click.command("check")
@input_options
@reading_options
@click.option("--select", metavar="RULE", multiple=True, help="Only these rules, or topic/*. Repeatable.")
@click.option("--ignore", metavar="RULE", multiple=True, help="Not these rules, or topic/*. Repeatable.")
@click.option("--profile", type=click.Choice(_PROFILES), help="Which rules are on.")
@click.option("--fail-on", type=click.Choice(_FAIL_ON), help="Least severity that fails the run. Default: error.")
@click.option("--fail-on-unknown", is_flag=True, help="Fail when a verdict depends on a fact that is not given.")
@click.option("--max-warnings", type=click.IntRange(min=0), metavar="N", help="Fail on more than N warnings.")
@click.option("--allow-empty", is_flag=True, help="Exit with 0 when no Kubernetes object was met.")
@output_option(", ".join(FORMATS), "text")
@click.option("--report-only-paths", is_flag=True, help="Read everything, report only what concerns the paths given.")
@click.option("--statistics", is_flag=True, help="Count findings per rule.")
@click.option("--show-suppressed", is_flag=True, help="Show suppressed findings too.")
@click.option("--today", metavar="DATE", help="The day on which suppressions expire (YYYY-MM-DD). Default: today.")
@color_option
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but findings.")
def command(**given: Any) -> int:
    """Check workloads against the capacity they are meant for.

    PATH is a file, a folder, a pattern, or - for standard input; without one, the current folder is searched.

    Exit codes: 0 nothing to complain about, 1 findings, 2 the run is not trustworthy, 3 no Kubernetes object was met.
    """
    from unpend.cli.session import Request, gather
    from unpend.engine.exit import exit_code

    outputs = chosen_outputs(given["outputs"], FORMATS)
    gathered = gather(Request.of(given))
    result = gathered.run(select=given["select"], ignore=given["ignore"], profile=given["profile"])
    if not given["quiet"]:
        gathered.tell(result)
    options = report_options(
        given["color"],
        os.environ,
        docs_url=gathered.config.docs_url,
        show_suppressed=given["show_suppressed"],
        statistics=given["statistics"],
        quiet=given["quiet"],
        category=gathered.category,
        page=gathered.page,
    )
    annotated = wants_annotations(given["outputs"], os.environ)
    write_outputs(outputs, result, options, _with_annotations if annotated else render)
    return exit_code(
        result,
        fail_on=given["fail_on"] or gathered.config.fail_on,
        max_warnings=given["max_warnings"],
        fail_on_unknown=given["fail_on_unknown"],
        allow_empty=given["allow_empty"],
        untrustworthy=gathered.untrustworthy,
    )


def _with_annotations(name: str, result: Result, options: ReportOptions) -> str:
    """The text for the log (folded when it is long), and the annotations beneath it."""
    text = without_commands(render(name, result, options))
    if text.count("\n") > _LONG:
        text = f"::group::unpend\n{text}::endgroup::\n"
    return text + render("github", result, options)
