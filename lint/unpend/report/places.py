"""Where a finding is shown by formats that know one place: a rendered text at its template, where that is a file."""

from __future__ import annotations

from unpend.report.options import ReportOptions
from unpend.report.uris import repository_path
from unpend.source.place import Location


def shown_place(location: Location, options: ReportOptions) -> tuple[str, int]:
    """The uri, and the one-based line."""
    origin = location.origin
    if origin is not None and options.is_file(origin.uri):
        return origin.uri, 1 if origin.line is None else origin.line + 1
    return location.uri, location.span.start.line + 1


def project_path(uri: str, options: ReportOptions) -> str:
    """The path relative to the repository with forward slashes and without `./`; outside of it the uri as it is."""
    return repository_path(uri, options.base, options.repository) or uri
