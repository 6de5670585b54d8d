"""Catalogue files that a config names: read, parsed, and checked against the published schema."""

from __future__ import annotations

from typing import Any

from unpend.config.errors import ErrorList
from unpend.config.model import ClusterConfig, Config
from unpend.records import replace
from unpend.source.place import Place


class CatalogData(dict[str, Any]):
    """A parsed catalogue that knows the file that it was read from."""

    path = ""


def is_file(entry: object) -> bool:
    """Whether an entry of `catalog` is a file: told from a name by its slash or ending."""
    return isinstance(entry, str) and ("/" in entry or entry.endswith((".json", ".yaml", ".yml")))


def with_catalogs(config: Config) -> Config:
    """The config with its catalogue files read. Raises ConfigError for those that cannot be used."""
    if not any(is_file(one) for entry in config.clusters.values() for one in entry.settings.catalogs):
        return config
    errors = ErrorList(config.path)
    clusters = {name: _with_catalogs(entry, errors) for name, entry in config.clusters.items()}
    errors.raise_if_any()
    return replace(config, clusters=clusters)


def _with_catalogs(entry: ClusterConfig, errors: ErrorList) -> ClusterConfig:
    place = entry.place.at("catalog") if entry.place is not None else None
    catalogs = tuple(
        _read(one, place.at(n) if place else None, errors) if is_file(one) else one
        for n, one in enumerate(entry.settings.catalogs)
    )
    return replace(entry, settings=replace(entry.settings, catalogs=catalogs))


def _read(path: str, place: Place | None, errors: ErrorList) -> CatalogData:
    from unpend.catalog.catalog import CatalogError
    from unpend.catalog.own import own_catalog
    from unpend.source.discovery import read_file
    from unpend.source.reading import read_text

    found = CatalogData()
    found.path = path

    def complain(message: str) -> None:
        if place is not None:
            errors.add(place, f"{path}: {message}")

    try:
        reading = read_text(read_file(path), path)
    except OSError as error:
        complain(f"cannot be read: {error.strerror or error}")
        return found
    wrong = next((t.message for t in reading.troubles if t.severity == "error"), None)
    data = reading.documents[0].data if reading.documents else None
    if wrong is not None or not isinstance(data, dict):
        complain(wrong or "is no catalogue: expected a mapping")
        return found
    try:
        own_catalog(data)
    except CatalogError as error:
        for where, message in error.problems:
            complain(f"{'.'.join(map(str, where))}: {message}" if where else message)
    found.update(data)
    return found
