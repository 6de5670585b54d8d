"""File names as the formats want them: absolute `file:` URIs, paths relative to a repository, and printable text."""

from __future__ import annotations

import os
import posixpath
import re
from urllib.parse import quote

_SCHEME = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]+://|untitled:)")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_UNRESERVED = "/-._~"


def percent_encode(path: str) -> str:
    """A path with forward slashes, percent-encoded; bytes of a file name that are no UTF-8 come through unchanged."""
    return quote(os.fsencode(path), safe=_UNRESERVED)


def file_uri(name: str, base: str) -> str:
    """The absolute `file:` URI of a source; names that are URIs already are kept.

    `base` is the absolute directory that relative names stand against. A source without a file (`<stdin>`) becomes an
    `untitled:` URI, as editors call a text that has not been saved.
    """
    if _SCHEME.match(name):
        return name
    if _is_no_file(name):
        return "untitled:" + percent_encode(name.strip("<>") or "objects")
    path = _absolute(name, base)
    if _DRIVE.match(path):
        return "file:///" + path[0].lower() + "%3A" + percent_encode(path[2:].replace("\\", "/"))
    return "file://" + percent_encode(path)


def repository_path(name: str, base: str, repository: str | None) -> str | None:
    """The path of a source relative to the repository root, with forward slashes; None when it lies outside of it."""
    if _SCHEME.match(name):
        return None
    if _is_no_file(name):
        return name or "<objects>"
    root = (repository or base).replace("\\", "/")
    path = _absolute(name, base).replace("\\", "/")
    relative = posixpath.relpath(path, root)
    return None if relative == ".." or relative.startswith("../") else relative


def _is_no_file(name: str) -> bool:
    return not name or (name.startswith("<") and name.endswith(">"))


def _absolute(name: str, base: str) -> str:
    if name.startswith("/") or _DRIVE.match(name):
        return posixpath.normpath(name) if name.startswith("/") else name
    return posixpath.normpath(posixpath.join(base.replace("\\", "/"), name.replace(os.sep, "/")))
