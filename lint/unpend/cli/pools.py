"""`unpend pools`: what every pool is and who reaches it; with `--export` a snapshot of the capacity in one file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from unpend.cli.outputs import Output, chosen_outputs, refuse_inputs, report_options, write_text
from unpend.cli.parameters import color_option, input_options, output_option, reading_options
from unpend.cli.stream import complain

if TYPE_CHECKING:
    from unpend.cli.session import Gathered
    from unpend.engine.run import ClusterInput
    from unpend.report.options import ReportOptions
    from unpend.report.pools import ClusterPools
    from unpend.settings import Settings

_FORMATS = ("text", "json")


class NotWrittenError(click.ClickException):
    """No snapshot can be written, so that the run did not do what it was asked for."""

    exit_code = 2


@click.command("pools")
@input_options
@reading_options
@click.option("--export", "export_file", metavar="FILE", help="Write the capacity as one file to check against.")
@click.option("--today", metavar="DATE", help="The day that the export is dated with (YYYY-MM-DD). Default: today.")
@output_option("text or json", "text")
@color_option
def command(export_file: str | None, today: str | None, outputs: tuple[str, ...], color: str, **given: Any) -> int:
    """Show what every pool is: its instance types, zones, limits, taints, and which workloads reach it.

    PATH is as in unpend check. With --export, everything that makes nodes and decides about them is also written to one
    file, for the repositories of applications: give it as `pools:` in their config, or to --pools.

    Exit codes: 0, 2 the run is not trustworthy, 3 no Kubernetes object was met.
    """
    from unpend.cli.session import Request, gather
    from unpend.records import replace

    targets = chosen_outputs(outputs, _FORMATS)
    gathered = gather(Request.of({**given, "today": today}, explain=True))
    refuse_inputs(targets, gathered, (*given["paths"], *given["pools"]))
    met = any(cluster.objects for cluster in gathered.clusters)
    unread = _tell(gathered)
    if not met:
        complain("no Kubernetes object was met")
    flags = {"pools_given": bool(given["pools"]), "complete": bool(given["complete"])}
    if export_file is not None and met:
        if unread:
            raise NotWrittenError(f"{export_file} is not written: a file that may belong into it could not be read")
        _export(gathered, flags, export_file)
    if export_file != "-":
        options = report_options(color, os.environ, category=gathered.category)
        plain = replace(options, color=False, hyperlinks=False)
        clusters = [_pools(cluster, gathered, flags) for cluster in gathered.clusters]
        for target in targets:
            chosen = options if target.file is None else plain
            write_text(target, _RENDER[target.format](clusters, chosen))
    if gathered.untrustworthy:
        return 2
    return 0 if met else 3


def _text(clusters: Sequence[ClusterPools], options: ReportOptions) -> str:
    from unpend.report.pools import render

    return render(clusters, options)


def _json(clusters: Sequence[ClusterPools], options: ReportOptions) -> str:
    from unpend.report.pools import render_json

    return render_json(clusters, options)


_RENDER = {"text": _text, "json": _json}


def _tell(gathered: Gathered) -> bool:
    """Say on standard error what could not be read; whether that is something."""
    for notice in gathered.notices:
        complain(f"{notice.uri}: {notice.message}" if notice.uri else notice.message)
    broken = {t: None for cluster in gathered.clusters for t in cluster.troubles if t.severity == "error"}
    for trouble in broken:
        line = "" if trouble.span is None else f":{trouble.span.start.line + 1}"
        complain(f"{trouble.uri}{line}: {trouble.message}")
    return bool(broken) or gathered.untrustworthy


def _export(gathered: Gathered, flags: Mapping[str, bool], path: str) -> None:
    """Write the snapshot. Raises `NotWrittenError` where there is nothing to write, or more than one cluster."""
    from unpend.cli.about import catalog_date
    from unpend.cli.snapshot import snapshot_text
    from unpend.model.snapshot import left_out

    if len(gathered.clusters) != 1:
        names = ", ".join(cluster.name for cluster in gathered.clusters)
        raise NotWrittenError(f"a snapshot is of one cluster: choose one with --cluster ({names})")
    cluster = gathered.clusters[0]
    for group in left_out(cluster.inventory):
        complain(
            f"{group} is not in {path}: plans and templates of other tools hold much more; declare it as NodeGroup"
        )
    text = snapshot_text(cluster, _stated(cluster, gathered, flags), gathered.today, catalog_date())
    if text is None:
        raise NotWrittenError(f"{path} is not written: nothing that makes nodes was found")
    write_text(Output("text", None if path == "-" else path), text)
    if path != "-":
        complain(f"wrote {path}")


def _stated(cluster: ClusterInput, gathered: Gathered, flags: Mapping[str, bool]) -> Settings:
    """The settings as config, flags and manifests state them: what is merely found need not be all there is.

    The verdicts of this command take what is found for complete, as `explain` does.
    """
    from unpend.model.found_settings import with_found_settings

    name = cluster.name if cluster.name in gathered.config.clusters else None
    return with_found_settings(gathered.config.settings(name, **flags), cluster.objects, cluster.documents)


def _pools(cluster: ClusterInput, gathered: Gathered, flags: Mapping[str, bool]) -> ClusterPools:
    from unpend.disruption.budgets import budgets_of
    from unpend.model.found_settings import places_of
    from unpend.placement.evaluate import is_open
    from unpend.placement.pool_report import pool_reports
    from unpend.report.pools import ClusterPools
    from unpend.rule import Facts

    facts = Facts(cluster.inventory, cluster.settings, cluster.troubles)
    return ClusterPools(
        cluster.name,
        pool_reports(cluster.inventory, cluster.settings, facts.verdicts.values()),
        not is_open(cluster.inventory, _stated(cluster, gathered, flags)),
        len(facts.verdicts),
        {f"NodePool/{pool.name}": budgets_of(pool) for pool in cluster.inventory.node_pools},
        places_of(cluster.settings),
    )
