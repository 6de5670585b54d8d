"""Which charts a run renders with which values, from the command line and the config."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from unpend.cli.charts import CHART, Chart, chart_folder
from unpend.cli.errors import usage_error
from unpend.cli.helm import Rendered, Rendering, Renderings, template_named, trouble_of
from unpend.cli.sources import Sources
from unpend.config.model import ChartConfig, Config, ValueSet
from unpend.records import dataclass, field
from unpend.source.discovery import as_uri
from unpend.source.document import Trouble

_VERSION = re.compile(r"-\d[^/]*\.tgz\Z|\.tgz\Z")


@dataclass(frozen=True, slots=True)
class HelmRequest:
    """What the command line says about Helm: files of values, settings, and `NAME=FILE,…` sets of values."""

    values: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Planned:
    """One rendering, and the clusters that it is for (none: all). `alone`: the chart has no sets of values."""

    rendering: Rendering
    clusters: tuple[str, ...] = ()
    alone: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """The paths that are no charts, the folders of the charts, and what to render."""

    paths: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    planned: tuple[Planned, ...] = field(default=())

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the sets of values; one empty name when no chart has sets."""
        return tuple(dict.fromkeys(p.rendering.label for p in self.planned if not p.alone)) or ("",)

    def of(self, cluster: str, label: str) -> tuple[Rendering, ...]:
        """What one cluster gets with one set of values."""
        return tuple(
            p.rendering
            for p in self.planned
            if (p.alone or p.rendering.label == label) and (not p.clusters or cluster in p.clusters)
        )


def plan(paths: Sequence[str], request: HelmRequest, config: Config, base: str, namespace: str | None) -> Plan:
    """The plan of a run with `--helm`. Without a path, or with `.`, the charts of the config are rendered.

    Raises `click.UsageError` when there is no chart at all, or a set of values is malformed.
    """
    given = [_set(text) for text in request.sets]
    own = {_folder(chart, base): chart for chart in config.charts}
    others: list[str] = []
    charts: dict[str, tuple[str, ChartConfig]] = {}
    for path in paths:
        folder = chart_folder(path, base) or _archive(path, base)
        if folder is None or path == "-":
            others.append(path)
        else:
            shown = as_uri(os.path.dirname(path) or "." if os.path.basename(path) == CHART else path)
            charts[folder] = (shown, own.get(folder) or ChartConfig(shown))
    if not charts:
        charts = {folder: (_shown(chart, base), chart) for folder, chart in own.items()}
    if not charts:
        raise usage_error("--helm needs a chart: name a folder with a Chart.yaml, or list `charts` in the config.")
    planned: list[Planned] = []
    for folder, (shown, chart) in charts.items():
        planned += _planned(shown, folder, chart, request, given, namespace)
    left = tuple(others) if paths else (".",)
    return Plan(left, tuple(charts), tuple(planned))


def _planned(
    shown: str, folder: str, chart: ChartConfig, request: HelmRequest, given: Sequence[ValueSet], namespace: str | None
) -> list[Planned]:
    release = chart.release or (_VERSION.sub("", Chart(folder).name) if folder.endswith(".tgz") else Chart(folder).name)
    sets = given or chart.sets or (ValueSet(""),)
    return [
        Planned(
            Rendering(
                chart=shown,
                release=release,
                label=one.name,
                namespace=namespace or chart.namespace,
                values=(*chart.values, *one.values, *request.values),
                settings=(*chart.settings, *one.settings, *request.settings),
            ),
            one.clusters,
            not one.name,
        )
        for one in sets
    ]


def _archive(path: str, base: str) -> str | None:
    """The full path of a packed chart, which Helm unpacks itself; None for anything else."""
    full = os.path.normpath(os.path.join(base, path))
    return full if full.endswith(".tgz") and os.path.isfile(full) else None


def touched(plan: Plan, paths: Sequence[str], base: str) -> frozenset[str]:
    """The rendered texts of charts that one of the paths is in: a changed value can change every line."""
    full = [os.path.normpath(os.path.join(base, path)) for path in paths]
    found = set()
    for one in plan.planned:
        folder = os.path.normpath(os.path.join(base, one.rendering.chart))
        if any(path == folder or path.startswith(folder + os.sep) for path in full):
            found.add(one.rendering.uri)
    return frozenset(found)


def _set(text: str) -> ValueSet:
    name, equals, files = text.partition("=")
    listed = tuple(file for file in files.split(",") if file)
    if not name or not equals or not listed:
        raise usage_error(f"--values-set {text}: write it as NAME=FILE, or NAME=FILE,FILE.")
    return ValueSet(name, listed)


def _folder(chart: ChartConfig, base: str) -> str:
    return os.path.normpath(os.path.join(base, chart.path))


def _shown(chart: ChartConfig, base: str) -> str:
    return as_uri(os.path.relpath(os.path.join(base, chart.path), base))


def add_rendered(rendering: Rendering, renderings: Renderings, sources: Sources) -> str:
    """Read what helm made of a chart, and give its uri; a chart that does not render becomes a finding."""
    if not sources.knows(rendering.uri):
        rendered = renderings.finish(rendering)
        sources.add(rendering.uri, rendered.text if rendered.text is not None else _trouble(rendered, sources))
    return rendering.uri


def _trouble(rendered: Rendered, sources: Sources) -> Trouble:
    named = template_named(rendered.complaint)
    template = None if named is None else sources.origins.uri_of(named)
    return trouble_of(rendered, f"{rendered.rendering.chart.rstrip('/')}/Chart.yaml", template)
