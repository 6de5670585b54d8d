"""One run from the outside: config, files and standard input in, one input per cluster out.

What is read, for which cluster it counts and how complete it is: all of that is decided here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any, overload

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
from unpend.records import dataclass, field, replace

if TYPE_CHECKING:
    from unpend.cli.helm import Rendering, Renderings
    from unpend.cli.renderings import Plan

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
    helm: bool = False
    values: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    values_sets: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any], *, explain: bool = False) -> Request:
        """The request in the parameters of a command; parameters that are about something else are left alone.

        Raises `click.UsageError` for parameters that do not go together.
        """
        known = {name: given[name] for name in cls.__match_args__ if name in given and name != "today"}
        for option, values in (("PATH", known.get("paths", ())), ("--pools", known.get("pools", ()))):
            if "" in values:
                raise usage_error(f"{option} is an empty text (an unset variable?); write . for the current folder.")
        request = cls(**known, explain=explain, today=_day(given.get("today")))
        if request.stdin_filename is not None and "-" not in request.paths:
            raise usage_error("--stdin-filename names the text of the path -, which is not among the paths.")
        if request.config_file is not None and request.isolated:
            raise usage_error("give either --config or --isolated.")
        for option, value in (
            ("--values", request.values),
            ("--set", request.settings),
            ("--values-set", request.values_sets),
        ):
            if value and not request.helm:
                raise usage_error(f"{option} is for --helm.")
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
    """Everything that a run needs, read. `clusters` may still wait for helm, and then read when they are asked for."""

    config: Config
    clusters: Sequence[ClusterInput]
    texts: Mapping[str, str]
    today: date
    base: str
    sources: Sources
    extra_notices: tuple[Notice, ...] = ()
    report_only: frozenset[str] | None = None
    variants: tuple[_Variant, ...] = ()
    pool_files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    explain: bool = False

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What should be said of what was read, and of what was not."""
        return (*self.sources.notices, *self.extra_notices)

    @property
    def untrustworthy(self) -> bool:
        """Whether something that was named could not be read."""
        return self.sources.untrustworthy

    def options(
        self,
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        profile: Any = None,
        *,
        zone_losses: bool = False,
        baseline: frozenset[str] = frozenset(),
    ) -> RunOptions:
        """What the rules are asked, from the config and the command line."""
        return RunOptions.from_config(
            self.config,
            select=_names(select),
            ignore=_names(ignore),
            profile=profile,
            today=self.today,
            cwd=self.base,
            zone_losses=zone_losses,
            baseline=baseline,
        )

    def run(
        self,
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        profile: Any = None,
        *,
        zone_losses: bool = False,
        baseline: frozenset[str] = frozenset(),
    ) -> Result:
        """The result of asking the rules; `report_only` is applied. `zone_losses`: also each zone lost.

        `baseline` holds the fingerprints of findings that do not count.
        """
        options = self.options(select, ignore, profile, zone_losses=zone_losses, baseline=baseline)
        result = run(self.clusters, options)
        findings = result.findings
        if self.report_only is not None:
            findings = tuple(f for f in findings if _concerns(f, self.report_only))
        if any(variant.label for variant in self.variants):
            findings = tuple(_scoped(f, self.variants) for f in findings)
        return replace(
            result,
            findings=findings,
            notices=tuple(dict.fromkeys((*self.notices, *self.without_capacity(), *result.notices))),
            texts=self.texts,
            untrustworthy=result.untrustworthy or self.untrustworthy,
        )

    def without_capacity(self) -> tuple[Notice, ...]:
        """What is said where nothing that makes nodes was given, or what was named for it has nothing of the kind."""
        from unpend.cli.capacity import capacity_notice

        found = (
            capacity_notice(cluster, self.pool_files.get(variant.entry.name, ()), explain=self.explain)
            for cluster, variant in zip(self.clusters, self.variants, strict=True)
        )
        return tuple(notice for notice in found if notice is not None)

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
    plan = _plan(request, config, base)
    sources = Sources(
        base=base,
        exclude=config.exclude,
        exclude_base=config.directory or None,
        force_exclude=request.force_exclude,
        stdin_filename=request.stdin_filename,
        progress=not request.quiet,
        charts=plan.folders if plan else (),
    )
    named = sources.find(plan.paths if plan else request.paths or (".",))
    variants = _variants(plan, entries)
    context = named
    if request.report_only_paths:
        context = tuple(dict.fromkeys((*named, *sources.find((config.directory or ".",)))))
    given = sources.find(request.pools)
    pools = {entry.name: given or _configured_pools(entry, config, sources) for entry in entries}
    others = {name: _pools_of_others(name, config, context, base) for name in pools}
    today = request.today or date.today()
    renderings = _started(variants, request.quiet)

    def cluster(variant: _Variant) -> ClusterInput:
        entry = variant.entry
        uris = _files(entry, context, pools[entry.name], others[entry.name], base)
        if renderings is not None:
            from unpend.cli.renderings import add_rendered

            uris = (*uris, *(add_rendered(one, renderings, sources) for one in variant.rendered))
        return _cluster(request, config, variant, uris, sources, today)

    return Gathered(
        config=config,
        clusters=tuple(map(cluster, variants)) if renderings is None else _Later(variants, cluster),
        texts=sources.texts,
        today=today,
        base=base,
        sources=sources,
        extra_notices=_charts_left_out(request, config),
        report_only=_reported(request, named, plan, base) if request.report_only_paths else None,
        variants=variants,
        pool_files=pools,
        explain=request.explain,
    )


@dataclass(frozen=True, slots=True)
class _Variant:
    """One input of a run: a cluster, with one set of values where charts are rendered."""

    entry: ClusterConfig
    label: str = ""
    rendered: tuple[Rendering, ...] = ()
    namespace: str | None = None

    @property
    def name(self) -> str:
        """What the reports call it."""
        return "/".join(part for part in (self.entry.name, self.label) if part)


def _scoped(finding: ReportedFinding, variants: Sequence[_Variant]) -> ReportedFinding:
    names = tuple(variant.name for variant in variants if variant.name in finding.clusters)
    return replace(finding, clusters=names or finding.clusters, scope=_scope(names, variants))


def _scope(names: Sequence[str], variants: Sequence[_Variant]) -> str:
    """The clusters and sets of values of a finding in words; empty when it is true for all of them."""
    held = [variant for variant in variants if variant.name in names]
    if not held or len(held) == len(variants):
        return ""
    words: list[str] = []
    several = len({variant.entry.name for variant in variants}) > 1
    for name in dict.fromkeys(variant.entry.name for variant in held):
        labels = [variant.label for variant in held if variant.entry.name == name]
        whole = len(labels) == sum(1 for variant in variants if variant.entry.name == name)
        if several and whole:
            words.append(f"cluster {name}")
        else:
            words.append(
                f"cluster {name} with values {', '.join(labels)}" if several else f"values {', '.join(labels)}"
            )
    return "; ".join(words)


def _plan(request: Request, config: Config, base: str) -> Plan | None:
    if not request.helm:
        return None
    from unpend.cli.renderings import HelmRequest, plan

    helm = HelmRequest(request.values, request.settings, request.values_sets)
    return plan(request.paths, helm, config, base, request.namespace)


def _reported(request: Request, named: Sequence[str], plan: Plan | None, base: str) -> frozenset[str]:
    """The uris that `--report-only-paths` means: the paths, and what charts around them render to."""
    if plan is None:
        return frozenset(named)
    from unpend.cli.renderings import touched

    return frozenset(named) | touched(plan, request.paths, base)


def _variants(plan: Plan | None, entries: Sequence[ClusterConfig]) -> tuple[_Variant, ...]:
    """The clusters, each once for every set of values that it gets."""
    if plan is None:
        return tuple(_Variant(entry) for entry in entries)
    found: list[_Variant] = []
    for entry in entries:
        for label in plan.labels:
            renderings = plan.of(entry.name, label)
            if label and not any(one.label == label for one in renderings):
                continue
            namespaces = {one.namespace for one in renderings}
            namespace = namespaces.pop() if len(namespaces) == 1 else None
            found.append(_Variant(entry, label, renderings, namespace))
    return tuple(found)


def _started(variants: Sequence[_Variant], quiet: bool) -> Renderings | None:
    """The renderings, at work already; None when there are none. Raises `Failure` without a helm."""
    chosen = tuple(dict.fromkeys(rendering for variant in variants for rendering in variant.rendered))
    if not chosen:
        return None
    from unpend.cli.helm import Renderings

    if not quiet:
        for rendering in chosen:
            complain(f"running {rendering.shown()}")
    return Renderings(chosen)


class _Later(Sequence[ClusterInput]):
    """The clusters of a run, each read when it is asked for the first time, while helm works on the next one."""

    def __init__(self, variants: Sequence[_Variant], read: Callable[[_Variant], ClusterInput]) -> None:
        self._variants = variants
        self._read = read
        self._done: dict[int, ClusterInput] = {}

    def __len__(self) -> int:
        return len(self._variants)

    @overload
    def __getitem__(self, index: int) -> ClusterInput: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[ClusterInput]: ...

    def __getitem__(self, index: int | slice) -> ClusterInput | Sequence[ClusterInput]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        if number not in self._done:
            self._done[number] = self._read(self._variants[number])
        return self._done[number]


def _charts_left_out(request: Request, config: Config) -> tuple[Notice, ...]:
    if request.helm or not config.charts or request.paths:
        return ()
    count = "1 chart" if len(config.charts) == 1 else f"{len(config.charts)} charts"
    return (Notice(f"{count} of the config not rendered: give --helm to check what Helm makes of them", config.path),)


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
    request: Request, config: Config, variant: _Variant, uris: Sequence[str], sources: Sources, today: date
) -> ClusterInput:
    entry = variant.entry
    name = entry.name if entry.name in config.clusters else None
    settings = config.settings(
        name, pools_given=bool(request.pools), complete=request.complete, explain=request.explain
    )
    settings = replace(
        settings,
        namespace=request.namespace or variant.namespace or settings.namespace,
        zone_shift=tuple(dict.fromkeys((*settings.zone_shift, *request.zone_shift))),
        cluster=variant.name if variant.label else settings.cluster,
        now=datetime(today.year, today.month, today.day, tzinfo=timezone.utc),
    )
    reading = sources.reading(uris)
    settings = with_found_settings(settings, reading.objects, reading.documents)
    return ClusterInput(
        name=variant.name,
        inventory=read_objects(reading.objects, settings),
        settings=settings,
        troubles=reading.troubles,
        checked=tuple(uris),
        documents=reading.documents,
        objects=reading.objects,
    )
