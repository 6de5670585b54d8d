"""`unpend startup`: how long until a pod serves, and what would shorten it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from unpend.cli.errors import usage_error
from unpend.cli.outputs import chosen_outputs, refuse_inputs, report_options, write_text
from unpend.cli.parameters import color_option, input_options, output_option, reading_options
from unpend.cli.stream import complain

if TYPE_CHECKING:
    from unpend.engine.run import ClusterInput
    from unpend.startup.analysis import ColdStart

_FORMATS = ("text", "json")


@click.command("startup")
@input_options
@reading_options
@click.option(
    "--workload", "-w", "workloads", metavar="KIND/NS/NAME", multiple=True, help="Only this workload. Repeatable."
)
@click.option("--budget", metavar="DURATION", help="How long a start may take where nothing nearer says it, as 90s.")
@output_option("text or json", "text")
@color_option
def command(workloads: tuple[str, ...], budget: str | None, outputs: tuple[str, ...], color: str, **given: Any) -> int:
    """Show how long it takes until a pod serves, and what would shorten it.

    Each workload is followed along three paths on every pool that takes it: a warm node with the image on it, a warm
    node that pulls it, a new node. What is read counts as the whole capacity. PATH is as in unpend check.

    Exit codes: 0, 2 the run is not trustworthy, 3 no Kubernetes object was met.
    """
    from unpend.cli.session import Request, gather
    from unpend.records import replace
    from unpend.report.startup import render, render_json

    targets = chosen_outputs(outputs, _FORMATS)
    seconds = _seconds(budget)
    gathered = gather(Request.of(given, explain=True))
    refuse_inputs(targets, gathered, (*given["paths"], *given["pools"]))
    for notice in (*gathered.notices, *gathered.without_capacity()):
        complain(f"{notice.uri}: {notice.message}" if notice.uri else notice.message)
    broken = {t: None for cluster in gathered.clusters for t in cluster.troubles if t.severity == "error"}
    for trouble in broken:
        line = "" if trouble.span is None else f":{trouble.span.start.line + 1}"
        complain(f"{trouble.uri}{line}: {trouble.message}")
    met = any(cluster.objects for cluster in gathered.clusters)
    if not met:
        complain("no Kubernetes object was met")
    starts = [start for cluster in gathered.clusters for start in _starts(cluster, seconds)]
    starts = chosen(starts, workloads)
    options = report_options(color, os.environ, category=gathered.category)
    for target in targets:
        shown = options if target.file is None else replace(options, color=False, hyperlinks=False)
        if target.format == "json":
            write_text(target, render_json(starts, shown))
        else:
            write_text(target, render(starts, shown, detailed=bool(workloads)))
    if gathered.untrustworthy:
        return 2
    return 0 if met else 3


def _seconds(budget: str | None) -> float | None:
    if budget is None:
        return None
    from unpend.algebra.duration import parse_duration

    try:
        return parse_duration(budget)
    except ValueError as error:
        raise usage_error(f"{error}.", "--budget") from None


def _starts(cluster: ClusterInput, budget: float | None) -> tuple[ColdStart, ...]:
    from unpend.records import replace
    from unpend.rule import Facts
    from unpend.startup.analysis import starts_of

    settings = cluster.settings
    if budget is not None:
        budgets = {**(settings.startup.get("budget") or {}), "default": budget}
        settings = replace(settings, startup={**settings.startup, "budget": budgets})
    facts = Facts(cluster.inventory, settings, cluster.troubles)
    return starts_of(cluster.inventory, settings, facts.verdicts, facts.effective).all()


def chosen(starts: Sequence[ColdStart], wanted: Sequence[str]) -> list[ColdStart]:
    """The starts of some workloads, each named as for `unpend explain`; all when none is named.

    Raises `click.UsageError` for a name that no workload has.
    """
    from unpend.cli.explain import meant

    if not wanted:
        return list(starts)
    kept = meant(wanted, [start.workload for start in starts])
    return [start for start in starts if start.workload in kept]
