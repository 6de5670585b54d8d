"""GitHub: workflow commands that GitHub Actions shows as annotations in the code.

About ten annotations of each level are shown per step, so the most severe come first; a plain summary ends the report.
"""

from __future__ import annotations

from unpend.engine.result import ReportedFinding, Result
from unpend.report.options import ReportOptions
from unpend.report.summary import SEVERITIES, shown, summary
from unpend.report.terminal import printable
from unpend.report.uris import repository_path
from unpend.source.place import Location

_COMMAND = {"error": "error", "warning": "warning", "info": "notice"}


def render(result: Result, options: ReportOptions) -> str:
    """The annotations, then the summary."""
    findings = sorted(shown(result, options.show_suppressed), key=lambda f: SEVERITIES.index(f.severity))
    lines = [_annotation(finding, options) for finding in findings]
    if not options.quiet:
        lines.append(f"unpend: {summary(result)}")
    return "".join(line + "\n" for line in lines)


def _annotation(finding: ReportedFinding, options: ReportOptions) -> str:
    properties: dict[str, str] = {}
    if finding.location is not None:
        properties = _place(finding.location, options)
    properties["title"] = f"unpend: {finding.rule}"
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    message = f"{finding.message} ({finding.scope})" if finding.scope else finding.message
    for related in finding.related:
        if related.location is not None:
            start = related.location.span.start
            where = f"{printable(related.location.uri)}:{start.line + 1}:{start.column + 1}"
            message += f"\n{where}: {related.message}"
    if finding.repair:
        message += f"\nRepair: {finding.repair}"
    return f"::{_COMMAND[finding.severity]} {listed}::{_data(message)}"


def _place(location: Location, options: ReportOptions) -> dict[str, str]:
    """The properties of the place; a rendered text is shown at its template when that is a file."""
    origin = location.origin
    if origin is not None and options.is_file(origin.uri):
        line = str(1 if origin.line is None else origin.line + 1)
        return {"file": _path(origin.uri, options), "line": line}
    start, end = location.span
    properties = {"file": _path(location.uri, options), "line": str(start.line + 1)}
    if end.line > start.line:
        properties["endLine"] = str(end.line + 1)
    else:  # GitHub takes columns only for ranges inside one line
        properties["col"] = str(start.column + 1)
        if end.column > start.column:
            properties["endColumn"] = str(end.column + 1)
    return properties


def _path(uri: str, options: ReportOptions) -> str:
    return repository_path(uri, options.base, options.repository) or uri


def _data(text: str) -> str:
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
