"""What a config says of cold starts: the profile file and the files with image sizes, read and checked."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from unpend.config.errors import ErrorList
from unpend.config.model import Config
from unpend.records import replace
from unpend.source.place import Place

_DIGEST = re.compile(r"([a-z0-9]+):([0-9a-f]{32,128})\Z")
_MOST_BLOB = 4 * 1024 * 1024


def is_builtin(name: str) -> bool:
    """Whether a profile is one that unpend ships, and no file."""
    from unpend.startup.profile import BUILTIN

    return name in BUILTIN


def with_startup(config: Config) -> Config:
    """The config with the files read that its `startup` and `images` name.

    `Settings.startup` then has `data` (the profile) and `sizes` (bytes by image). Raises ConfigError for files that
    cannot be used.
    """
    named = config.startup.get("profile")
    own = isinstance(named, str) and not is_builtin(named)
    if not own and not config.images:
        return config
    errors = ErrorList(config.path)
    root = config.root
    startup: dict[str, Any] = dict(config.startup)
    if own and root is not None:
        startup["data"] = read_profile(str(named), root.at("startup", "profile"), errors)
    if config.images and root is not None:
        startup["sizes"] = _sizes(config, root.at("images"), errors)
    errors.raise_if_any()
    clusters = {
        name: replace(entry, settings=replace(entry.settings, startup=startup))
        for name, entry in config.clusters.items()
    }
    return replace(config, startup=startup, clusters=clusters)


def read_profile(path: str, place: Place, errors: ErrorList) -> Mapping[str, Any]:
    """The data of a profile file; what is wrong with it goes to `errors`."""
    from unpend.startup.profile import problems_of

    data = _read(path, place, errors)
    if data is None:
        return {}
    problems = problems_of(data)
    for where, message in problems:
        errors.add(place, f"{path}: {where + ': ' if where else ''}{message}")
    return {} if problems else data


def _read(path: str, place: Place, errors: ErrorList) -> Any:
    from unpend.source.discovery import read_file
    from unpend.source.reading import read_text

    try:
        reading = read_text(read_file(path), path)
    except OSError as error:
        errors.add(place, f"{path}: cannot be read: {error.strerror or error}")
        return None
    wrong = next((t.message for t in reading.troubles if t.severity == "error"), None)
    data = reading.documents[0].data if reading.documents else None
    if wrong is not None or data is None:
        errors.add(place, f"{path}: {wrong or 'is empty'}")
        return None
    return data


def _sizes(config: Config, place: Place, errors: ErrorList) -> dict[str, Any]:
    from unpend.startup.images import sizes_in

    found: dict[str, Any] = {}
    for index, pattern in enumerate(config.images):
        here = place.at(index) if isinstance(place.value, list) else place
        paths = list(_files(pattern, config.directory))
        if not paths:
            errors.add(here, f"no file matches {pattern}")
        for path in paths:
            data = _read(path, here, errors)
            if data is None:
                continue
            folder = os.path.dirname(path)
            name = os.path.splitext(os.path.basename(path))[0]
            if name == "index":  # an OCI layout is a folder
                name = os.path.basename(folder)
            try:
                found |= sizes_in(data, f"*/{name}:*", partial(_blob, folder))
            except ValueError as error:
                errors.add(here, f"{path}: {error}")
    return found


def _files(pattern: str, directory: str) -> Iterator[str]:
    from unpend.source.discovery import discover

    path = os.path.join(directory, pattern) if directory else pattern
    for file in discover((path,)).files:
        yield file.path


def _blob(folder: str, digest: str) -> Any:
    """A small blob of an OCI layout as data, None for one that is not there or is no JSON."""
    import json

    from unpend.source.discovery import read_file

    match = _DIGEST.match(digest)
    if match is None:
        return None
    try:
        return json.loads(read_file(os.path.join(folder, "blobs", match[1], match[2]), _MOST_BLOB))
    except (OSError, ValueError):
        return None
