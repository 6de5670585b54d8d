"""Reading `.unpend.yaml`: text in, `Config` out, all errors of the text at once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from unpend.algebra.duration import parse_duration
from unpend.config.catalogs import is_file, with_catalogs
from unpend.config.document import ROOT, SEVERITIES
from unpend.config.errors import ConfigError, ErrorList
from unpend.config.model import ChartConfig, ClusterConfig, ClusterFiles, Config, Ignore, RuleSetting, ValueSet
from unpend.config.shape import Text, describe
from unpend.config.startup import is_builtin, with_startup
from unpend.settings import (
    CLUSTER_AUTOSCALER_KEYS,
    KARPENTER_KEYS,
    ClusterAutoscalerSettings,
    KarpenterSettings,
    Settings,
)
from unpend.source.document import Document
from unpend.source.place import Place

_SEVERITY = Text((*SEVERITIES, "off"))


def load_config(path: str) -> Config:
    """The config in a file. Raises ConfigError with every error, also when the file cannot be read."""
    from unpend.source.discovery import read_file

    try:
        content = read_file(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    return with_startup(with_catalogs(read_config(content, path)))


def read_config(text: str | bytes, uri: str = ".unpend.yaml") -> Config:
    """The config in a text; patterns in it are relative to the folder of `uri`. Raises ConfigError."""
    from unpend.source.reading import read_text

    errors = ErrorList(uri)
    reading = read_text(text, uri)
    for trouble in reading.troubles:
        if trouble.severity == "error":
            start = trouble.span.start if trouble.span else (0, 0)
            errors.add_text(trouble.message, *start)
    documents = [d for d in reading.documents if d.data is not None]
    for document in documents:
        for path, span in document.duplicate_keys:
            errors.add_text(f"{'.'.join(map(str, path))}: the key is written twice", *span.start)
    for extra in documents[1:]:
        errors.add_text("a config is one YAML document; this is another one", extra.first_line)
    errors.raise_if_any()
    document = documents[0] if documents else Document(uri=uri, index=0, data={})
    return config_of(document)


def config_of(document: Document) -> Config:
    """The config in a document that was read. Raises ConfigError."""
    uri = document.uri
    errors = ErrorList(uri)
    root = Place(document)
    data = ROOT.read({} if document.data is None else document.data, root, errors) or {}
    directory = uri.replace("\\", "/").rpartition("/")[0]
    if uri.startswith("/") and not directory:
        directory = "/"
    images = tuple(data.get("images", ()))
    startup = _startup(data.get("startup", {}), directory)
    clusters = {
        name: _cluster(name, entry, root.at("clusters", name), directory, images, startup)
        for name, entry in data.get("clusters", {}).items()
    }
    config = Config(
        path=uri,
        directory=directory,
        clusters=clusters,
        rules=_rules(data.get("rules", {}), root.at("rules"), errors),
        ignores=_ignores(data.get("ignore", ()), document.data, root.at("ignore"), directory, errors),
        exclude=data.get("exclude", ()),
        charts=_charts(data, root.at("charts"), directory, errors),
        startup=startup,
        profile=data.get("profile", "default"),
        select=data.get("select", ()),
        ignore_rules=data.get("ignoreRules", ()),
        fail_on=data.get("failOn", "error"),
        plugins=data.get("plugins", ()),
        images=images,
        docs_url=data.get("docsUrl"),
        baseline=_inside(directory, data["baseline"]) if data.get("baseline") else None,
        root=root,
    )
    errors.raise_if_any()
    return config


def _charts(data: Mapping[str, Any], place: Place, directory: str, errors: ErrorList) -> tuple[ChartConfig, ...]:
    found = []
    for index, entry in enumerate(data.get("charts", ())):
        here = place.at(index)
        if not entry.get("path"):
            errors.add(here, "a chart needs its path")
            continue
        sets = []
        for name, one in entry.get("sets", {}).items():
            for number, cluster in enumerate(one.get("clusters", ())):
                if cluster not in data.get("clusters", {}):
                    errors.add(here.at("sets", name, "clusters", number), f"there is no cluster {cluster}")
            values = tuple(_inside(directory, path) for path in one.get("values", ()))
            sets.append(ValueSet(name, values, one.get("set", ()), one.get("clusters", ())))
        found.append(
            ChartConfig(
                path=_inside(directory, entry["path"]),
                release=entry.get("release"),
                namespace=entry.get("namespace"),
                values=tuple(_inside(directory, path) for path in entry.get("values", ())),
                settings=entry.get("set", ()),
                sets=tuple(sets),
            )
        )
    return tuple(found)


def _startup(data: Mapping[str, Any], directory: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if "profile" in data:
        named = data["profile"]
        out["profile"] = named if is_builtin(named) else _inside(directory, named)
    if "budget" in data:
        out["budget"] = {key: parse_duration(value) for key, value in data["budget"].items()}
    return out


def _inside(directory: str, path: str) -> str:
    if not directory or path.startswith("/"):
        return path
    return f"{directory.rstrip('/')}/{path}"


def _cluster(
    name: str,
    data: Mapping[str, Any],
    place: Place,
    directory: str,
    images: tuple[str, ...],
    startup: Mapping[str, Any],
) -> ClusterConfig:
    given: dict[str, Any] = {"cluster": name, "images": images, "startup": startup}
    for key, field in (("region", "region"), ("zones", "zones"), ("zoneIds", "zone_ids")):
        if key in data:
            given[field] = data[key]
    if "nodeClasses" in data:
        given["node_classes"] = data["nodeClasses"]
    if "kubernetes" in data:
        major, minor = data["kubernetes"].split(".")[:2]
        given["kubernetes"] = (int(major), int(minor))
    stated = {key for key in ("kubernetes",) if key in data} | {f"world.{kind}" for kind in data.get("world", {})}
    given["given"] = frozenset(stated)
    if "karpenter" in data:
        given["karpenter"] = _karpenter(data["karpenter"])
    if "clusterAutoscaler" in data:
        given["cluster_autoscaler"] = _cluster_autoscaler(data["clusterAutoscaler"])
    if "autoscaler" in data.get("nodeGroups", {}):
        given["node_group_autoscaler"] = data["nodeGroups"]["autoscaler"]
    if "catalog" in data:
        given["catalogs"] = tuple(_catalog(entry, directory) for entry in data["catalog"])
    if "injectedTolerations" in data:
        given["injected_tolerations"] = data["injectedTolerations"]
    if "knownLabels" in data:
        given["known_labels"] = data["knownLabels"]
    files = ClusterFiles(data.get("pools", ()), data.get("workloads", ()), directory)
    return ClusterConfig(name, files, Settings(**given), data.get("world", {}), place)


def _catalog(entry: str, directory: str) -> str:
    return _inside(directory, entry) if is_file(entry) else entry


def _karpenter(data: Mapping[str, Any]) -> KarpenterSettings:
    found = {KARPENTER_KEYS[key]: value for key, value in data.items()}
    return KarpenterSettings(**found, given=frozenset(found))


def _cluster_autoscaler(data: Mapping[str, Any]) -> ClusterAutoscalerSettings:
    return ClusterAutoscalerSettings(**{CLUSTER_AUTOSCALER_KEYS[key]: value for key, value in data.items()})


def _rules(data: Mapping[str, Any], place: Place, errors: ErrorList) -> tuple[RuleSetting, ...]:
    found = []
    for name, values in data.items():
        here = place.at(name)
        if not isinstance(values, Mapping):
            errors.add(here, _instead_of(values))
            continue
        for key, value in values.items():
            if key == "severity":
                # `off` without quotes is a boolean in YAML 1.1.
                _SEVERITY.read("off" if value is False else value, here.at(key), errors)
            elif value is None or isinstance(value, Mapping):
                errors.add(here.at(key), f"expected a value or a list, found {describe(value)}")
        found.append(RuleSetting(name, values, here))
    return tuple(found)


def _instead_of(written: Any) -> str:
    """What to write instead of a rule's value that is no mapping; `off` without quotes is false in YAML."""
    if written is False or written == "off":
        return "expected a mapping; a rule is turned off with {severity: off}"
    if written in SEVERITIES:
        return f"expected a mapping; a severity is given as {{severity: {written}}}"
    return f"expected a mapping such as {{severity: warning}}, found {describe(written)}"


def _ignores(
    entries: tuple[Mapping[str, Any], ...], raw: Any, place: Place, directory: str, errors: ErrorList
) -> tuple[Ignore, ...]:
    found = []
    for index, data in enumerate(entries):
        here = place.at(index)
        if not data.get("path") and not data.get("objects") and not data.get("rules"):
            errors.add(here, "an entry needs at least one of path, objects and rules")
        until = None
        if "until" in data:
            try:
                until = date.fromisoformat(data["until"])
            except ValueError:
                errors.add(here.at("until"), f"there is no day {data['until']}")
        found.append(
            Ignore(
                paths=data.get("path", ()),
                objects=data.get("objects", ()),
                rules=data.get("rules", ("*",)),
                reason=data.get("reason", ""),
                until=until,
                directory=directory,
                place=here,
            )
        )
    return tuple(found)
