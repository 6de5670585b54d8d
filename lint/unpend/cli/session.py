"""One run from the outside: config, files and standard input in, one input per cluster out.

What is read, for which cluster it counts and how complete it is: all of that is decided here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timezone
from typing import Any

from unpend.cli.errors import usage_error
from unpend.cli.sources import Sources
from unpend.cli.stream import complain
from unpend.config.errors import ErrorList
from unpend.config.globs import matches_any, relative_to
from unpend.config.model import ClusterConfig, Config
from unpend.engine.result import Notice, ReportedFinding, Result
from unpend.engine.run import ClusterInput, RunOptions, run
from unpend.model.found_settings import with_found_settings
from unpend.model.reading import read_objects
from unpend.records import dataclass, replace

_SHOWN_NOTICES = 20


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asks for, as far as it is about reading."""

    paths: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    cluster: str | None = None
    complete: bool = False
    namespace: str | None = None
    zone_shift: tuple[str, ...] = ()
    stdin_filename: str | None = None
    config_file: str | None = None
    isolated: bool = False
    force_exclude: bool = False
    report_only_paths: bool = False
    today: date | None = None
    explain: bool = False
    quiet: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any], *, explain: bool = False) -> Request:
        """The request in the parameters of a command; parameters that are about something else are left alone.

        Raises `click.UsageError` for parameters that do not go together.
        """
        known = {name: given[name] for name in cls.__match_args__ if name in given and name != "today"}
        request = cls(**known, explain=explain, today=_day(given.get("today")))
        if request.stdin_filename is not None and "-" not in request.paths:
            raise usage_error("--stdin-filename names the text of the path -, which is not among the paths.")
        if request.config_file is not None and request.isolated:
            raise usage_error("give either --config or --isolated.")
        return request


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise usage_error(f"'{text}' is no day; write it as 2026-12-31.", "--today") from None


@dataclass(slots=True)
class Gathered:
    """Everything that a run needs, read. `untrustworthy` is set when something that was named could not be read."""

    config: Config
    clusters: tuple[ClusterInput, ...]
    texts: Mapping[str, str]
    today: date
    base: str
    notices: tuple[Notice, ...] = ()
    report_only: frozenset[str] | None = None
    untrustworthy: bool = False

    def run(
        self, select: Sequence[str] = (), ignore: Sequence[str] = (), profile: Any = None, *, zone_losses: bool = False
    ) -> Result:
        """The result of asking the rules; `report_only` is applied. `zone_losses`: also each zone lost."""
        options = RunOptions.from_config(
            self.config,
            select=_names(select),
            ignore=_names(ignore),
            profile=profile,
            today=self.today,
            cwd=self.base,
            zone_losses=zone_losses,
        )
        result = run(self.clusters, options)
        findings = result.findings
        if self.report_only is not None:
            findings = tuple(f for f in findings if _concerns(f, self.report_only))
        return replace(
            result,
            findings=findings,
            notices=tuple(dict.fromkeys((*self.notices, *result.notices))),
            texts=self.texts,
            untrustworthy=result.untrustworthy or self.untrustworthy,
        )

    def tell(self, result: Result) -> None:
        """Say on standard error what the user should know of the run itself."""
        for notice in result.notices[:_SHOWN_NOTICES]:
            complain(f"{notice.uri}: {notice.message}" if notice.uri else notice.message)
        if len(result.notices) > _SHOWN_NOTICES:
            complain(f"{len(result.notices) - _SHOWN_NOTICES} more notices: --output json lists them all")
        if result.object_count == 0:
            complain("no Kubernetes object was met")

    @property
    def category(self) -> str:
        """What tells this run from those of other clusters."""
        return "+".join(cluster.name for cluster in self.clusters if cluster.name) or "default"

    def page(self, rule: str) -> str:
        """The page of a rule, empty for one that no pack has or that does not load (the run has said so already)."""
        from unpend.engine.registry import load_registry

        registry = load_registry(self.config.plugins)
        if rule not in registry.entries:
            return ""
        try:
            return registry.load(rule).doc
        except Exception:
            return ""


def _names(given: Iterable[str]) -> tuple[str, ...]:
    """Rule names, one by one or with commas between."""
    return tuple(name.strip() for part in given for name in part.split(",") if name.strip())


def _concerns(finding: ReportedFinding, uris: frozenset[str]) -> bool:
    """Whether a finding stands in one of the files, or has its other side there."""
    places = [finding.location, *(related.location for related in finding.related)]
    known = [place for place in places if place is not None]
    return not known or any(p.uri in uris or (p.origin is not None and p.origin.uri in uris) for p in known)


def read_config(config_file: str | None, isolated: bool, start: str = ".") -> Config:
    """The config of a run: the file that was named, none when isolated, else the nearest one upwards from `start`.

    Raises `ConfigError` with all that is wrong with it.
    """
    if isolated:
        return Config()
    path = config_file
    if path is None:
        from unpend.config.find import find_config

        found = find_config(start)
        if found is None:
            return Config()
        path = os.path.relpath(found)
    from unpend.config.load import load_config

    return load_config(path)


def gather(request: Request) -> Gathered:
    """Read the config, the files and standard input. Raises `ConfigError`."""
    base = os.getcwd()
    config = read_config(request.config_file, request.isolated)
    entries = config.chosen(request.cluster)
    sources = Sources(
        base=base,
        exclude=config.exclude,
        exclude_base=config.directory or None,
        force_exclude=request.force_exclude,
        stdin_filename=request.stdin_filename,
        progress=not request.quiet,
    )
    named = sources.find(request.paths or (".",))
    context = named
    if request.report_only_paths:
        context = tuple(dict.fromkeys((*named, *sources.find((config.directory or ".",)))))
    given = sources.find(request.pools)
    pools = {entry.name: given or _configured_pools(entry, config, sources) for entry in entries}
    others = {name: _pools_of_others(name, config, context, base) for name in pools}
    today = request.today or date.today()
    clusters = tuple(
        _cluster(
            request, config, entry, _files(entry, context, pools[entry.name], others[entry.name], base), sources, today
        )
        for entry in entries
    )
    return Gathered(
        config=config,
        clusters=clusters,
        texts=sources.texts,
        today=today,
        base=base,
        notices=sources.notices,
        report_only=frozenset(named) if request.report_only_paths else None,
        untrustworthy=sources.untrustworthy,
    )


def _configured_pools(entry: ClusterConfig, config: Config, sources: Sources) -> tuple[str, ...]:
    """The pool files of a cluster entry. Raises `ConfigError` for a pattern that means no file."""
    directory = entry.files.directory
    found: list[str] = []
    wrong = ErrorList(config.path)
    for index, pattern in enumerate(entry.files.pools):
        path = os.path.join(directory, pattern) if directory else pattern
        uris = sources.find_pattern(path)
        if not uris and entry.place is not None:
            wrong.add(entry.place.at("pools", index), f"no file matches {pattern}")
        found.extend(uris)
    wrong.raise_if_any()
    return tuple(dict.fromkeys(found))


def _pools_of_others(name: str, config: Config, context: Sequence[str], base: str) -> frozenset[str]:
    """The checked files that are the pools of other clusters, by the config."""
    patterns = [
        (entry.files.directory, entry.files.pools)
        for other, entry in config.clusters.items()
        if other != name and entry.files.pools
    ]
    if not patterns:
        return frozenset()
    return frozenset(
        uri
        for uri in context
        if any(matches_any(relative_to(uri, directory, base), pools) for directory, pools in patterns)
    )


def _files(
    entry: ClusterConfig, context: Sequence[str], pools: Sequence[str], others: frozenset[str], base: str
) -> tuple[str, ...]:
    """The sources of a cluster: the checked files that belong to it, and its pools."""
    own = [uri for uri in context if uri not in others and (uri.startswith("<") or entry.files.takes(uri, base))]
    return tuple(dict.fromkeys((*own, *pools)))


def _cluster(
    request: Request, config: Config, entry: ClusterConfig, uris: Sequence[str], sources: Sources, today: date
) -> ClusterInput:
    name = entry.name if entry.name in config.clusters else None
    settings = config.settings(
        name, pools_given=bool(request.pools), complete=request.complete, explain=request.explain
    )
    settings = replace(
        settings,
        namespace=request.namespace or settings.namespace,
        zone_shift=tuple(dict.fromkeys((*settings.zone_shift, *request.zone_shift))),
        now=datetime(today.year, today.month, today.day, tzinfo=timezone.utc),
    )
    reading = sources.reading(uris)
    settings = with_found_settings(settings, reading.objects, reading.documents)
    return ClusterInput(
        name=entry.name,
        inventory=read_objects(reading.objects, settings),
        settings=settings,
        troubles=reading.troubles,
        checked=tuple(uris),
        documents=reading.documents,
        objects=reading.objects,
    )
