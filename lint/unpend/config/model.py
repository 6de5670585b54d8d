"""The config as frozen values. `Settings` of a cluster come from here; command-line flags are laid over them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, Literal

from unpend.config.errors import ConfigError, did_you_mean
from unpend.config.globs import matches_any, relative_to
from unpend.records import dataclass, field, replace
from unpend.settings import Openness, Settings, World
from unpend.source.place import Place

FailOn = Literal["error", "warning", "info", "none"]
Profile = Literal["default", "strict", "cost", "reliability"]

# Only the capacity kinds: what `--pools` hands over.
_POOL_KINDS = ("pools", "nodes")
_EXPLAIN_KINDS = (*_POOL_KINDS, "classes", "claims", "daemonsets")


@dataclass(frozen=True, slots=True)
class RuleSetting:
    """What the config says of a rule or of `topic/*`: raw, since options are checked against the packs (engine)."""

    name: str
    values: Mapping[str, Any]
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ignore:
    """One entry of `ignore`: all given conditions must hold. Empty `paths` or `objects` mean any."""

    paths: tuple[str, ...]
    objects: tuple[str, ...]
    rules: tuple[str, ...]
    reason: str
    until: date | None
    directory: str
    place: Place = field(compare=False, repr=False)

    def takes_path(self, uri: str, cwd: str = "") -> bool:
        """Whether a file is within the scope of the entry; `uri` and the config folder may be relative to `cwd`."""
        return not self.paths or matches_any(relative_to(uri, self.directory, cwd), self.paths)

    def takes_object(self, object_id: str) -> bool:
        """Whether an object, as `Kind/namespace/name`, is within the scope of the entry."""
        if not self.objects:
            return True
        from fnmatch import fnmatchcase

        return any(fnmatchcase(object_id, pattern) for pattern in self.objects)

    def expired(self, today: date | None) -> bool:
        """Whether the last day of the entry has passed; never when no date is known."""
        return self.until is not None and today is not None and today > self.until


@dataclass(frozen=True, slots=True)
class ValueSet:
    """One way to install a chart: files of values, `KEY=VALUE` settings, and the clusters it is meant for (none: all).

    Paths are relative to the current folder, as the path of the config is.
    """

    name: str
    values: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChartConfig:
    """A Helm chart to render: `values` and `settings` hold for each of its `sets`."""

    path: str
    release: str | None = None
    namespace: str | None = None
    values: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    sets: tuple[ValueSet, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterFiles:
    """Which files belong to a cluster: patterns relative to `directory`, the folder of the config file.

    `pools` empty means that the pools are those found among the checked files; `workloads` empty means every file.
    """

    pools: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    directory: str = ""

    def takes(self, uri: str, cwd: str = "") -> bool:
        """Whether a checked file belongs to the cluster."""
        return not self.workloads or matches_any(relative_to(uri, self.directory, cwd), self.workloads)


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """One cluster entry. `settings` has every key of it; `world` only what was written."""

    name: str
    files: ClusterFiles
    settings: Settings
    world: Mapping[str, Openness]
    place: Place | None = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Config:
    """A whole `.unpend.yaml`; the defaults are those of a repository without one."""

    path: str = ""
    directory: str = ""
    clusters: Mapping[str, ClusterConfig] = field(default_factory=dict)
    rules: tuple[RuleSetting, ...] = ()
    ignores: tuple[Ignore, ...] = ()
    exclude: tuple[str, ...] = ()
    charts: tuple[ChartConfig, ...] = ()
    startup: Mapping[str, Any] = field(default_factory=dict)
    profile: Profile = "default"
    select: tuple[str, ...] = ()
    ignore_rules: tuple[str, ...] = ()
    fail_on: FailOn = "error"
    plugins: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    docs_url: str | None = None
    baseline: str | None = None
    root: Place | None = field(default=None, compare=False, repr=False)

    def chosen(self, cluster: str | None = None) -> tuple[ClusterConfig, ...]:
        """The clusters of a run: the named one; without a name all of them; one nameless cluster if there is no entry.

        Raises ConfigError when the name is not in the config.
        """
        if cluster is None:
            return tuple(self.clusters.values()) or (self._nameless(),)
        if cluster not in self.clusters:
            known = ", ".join(self.clusters) or "none"
            hint = did_you_mean(cluster, self.clusters) or f"; the clusters of {self.path or 'the config'} are: {known}"
            raise ConfigError(f"no cluster '{cluster}'{hint}")
        return (self.clusters[cluster],)

    def _nameless(self) -> ClusterConfig:
        settings = Settings(images=self.images, startup=self.startup)
        return ClusterConfig("", ClusterFiles(directory=self.directory), settings, {}, None)

    def files_of(self, cluster: str | None = None) -> ClusterFiles:
        """The file patterns of a cluster (of the only one, without a name). Raises ConfigError as `settings` does."""
        return self._one(cluster).files

    def settings(
        self,
        cluster: str | None = None,
        *,
        pools_given: bool = False,
        complete: bool = False,
        explain: bool = False,
    ) -> Settings:
        """The settings of a cluster, with its world decided.

        Pools (and Nodes) are closed when the entry names `pools`, when they were given by `--pools` (`pools_given`) or
        with `--complete`; `explain` closes classes, claims and DaemonSets as well. What the entry says under `world`
        wins, except over a flag. Raises ConfigError when the name is unknown, or missing among several entries.
        """
        entry = self._one(cluster)
        forced = set(_POOL_KINDS) if pools_given or complete else set()
        closed = set(forced)
        if entry.files.pools:
            closed.update(_POOL_KINDS)
        if explain:
            closed.update(_EXPLAIN_KINDS)
        world: dict[str, Openness] = dict.fromkeys(closed, "closed")
        world.update({kind: value for kind, value in entry.world.items() if kind not in forced})
        return replace(entry.settings, world=replace(World(), **world))

    def _one(self, cluster: str | None) -> ClusterConfig:
        chosen = self.chosen(cluster)
        if len(chosen) > 1:
            names = ", ".join(entry.name for entry in chosen)
            raise ConfigError(f"{self.path or 'the config'} has several clusters: name one of {names}")
        return chosen[0]
