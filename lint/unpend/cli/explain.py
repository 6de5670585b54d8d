"""`unpend explain`: for each workload who says no in which pool, and what would help."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from unpend.cli.outputs import chosen_outputs, refuse_inputs, report_options, write_outputs
from unpend.cli.parameters import color_option, input_options, output_option, reading_options
from unpend.cli.stream import complain
from unpend.records import replace
from unpend.report.concise import place

if TYPE_CHECKING:
    from unpend.engine.result import Result
    from unpend.report.options import ReportOptions

_FORMATS = ("text", "json")
_ABOUT_THE_RUN = ("yaml-syntax", "internal-error")


@click.command("explain")
@input_options
@reading_options
@click.option(
    "--workload", "-w", "workloads", metavar="KIND/NS/NAME", multiple=True, help="Only this workload. Repeatable."
)
@output_option("text or json", "text")
@color_option
def command(workloads: tuple[str, ...], outputs: tuple[str, ...], color: str, **given: Any) -> int:
    """Show for each workload who says no in which pool, and what would help.

    What is read counts as the whole capacity. PATH is as in unpend check.

    Exit codes: 0, 2 the run is not trustworthy, 3 no Kubernetes object was met.
    """
    from unpend.cli.session import Request, gather

    targets = chosen_outputs(outputs, _FORMATS)
    gathered = gather(Request.of(given, explain=True))
    refuse_inputs(targets, gathered, (*given["paths"], *given["pools"]))
    result = gathered.run(zone_losses=True)
    gathered.tell(result)
    for finding in result.active:
        if finding.rule in _ABOUT_THE_RUN:  # what could not be read or judged is missing from the verdicts
            complain(f"{place(finding)}: {finding.message}")
    if workloads:
        result = only(result, workloads)
    options = report_options(color, os.environ, category=gathered.category)
    write_outputs(targets, result, options, _render)
    if result.untrustworthy or gathered.untrustworthy:
        return 2
    return 0 if result.object_count else 3


def only(result: Result, wanted: tuple[str, ...]) -> Result:
    """The result for some workloads, each given by its id or a part of it (`Deployment/web`, `web`).

    Raises `click.UsageError` for a name that no workload has.
    """
    kept = meant(wanted, [verdict.workload for verdict in result.workloads])
    return replace(
        result,
        workloads=tuple(v for v in result.workloads if v.workload in kept),
        findings=tuple(f for f in result.findings if f.workload in kept),
        contention=tuple(group for group in result.contention if kept.intersection(group)),
        zone_loss=tuple(row for row in result.zone_loss if row.workload in kept),
    )


def meant(wanted: Sequence[str], ids: Sequence[str]) -> set[str]:
    """The workloads that are meant by names. Raises `click.UsageError` for a name that none has."""
    kept: set[str] = set()
    for name in wanted:
        found = {i for i in ids if _means(name, i)}
        if not found:
            import difflib

            near = difflib.get_close_matches(name, ids, 3, 0.4)
            hint = f" Near: {', '.join(near)}." if near else ""
            raise click.UsageError(f"there is no workload '{name}' among the files.{hint}")
        kept |= found
    return kept


def _means(name: str, workload: str) -> bool:
    """Whether a name is a workload's id, or kind and name of it, or its name; kinds in any case."""
    plain = workload.partition(":")[0]
    kind, _, rest = plain.partition("/")
    short = plain.rpartition("/")[2]
    given_kind, slash, given_rest = name.partition("/")
    if not slash:
        return name in (workload, short)
    return name == workload or (
        given_kind.lower() == kind.lower() and given_rest in (rest, short, workload[len(kind) + 1 :])
    )


def _render(name: str, result: Result, options: ReportOptions) -> str:
    if name == "json":
        from unpend.report.json import render

        return render(result, options)
    from unpend.report.explain import render as render_text

    return render_text(result, options)
