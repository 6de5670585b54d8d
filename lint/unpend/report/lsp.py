"""LSP: an array of `PublishDiagnosticsParams`, so that an editor or a bridge can show and clear diagnostics.

Every checked or related file has an entry: an empty array is what clears the diagnostics of a file.
"""

from __future__ import annotations

from typing import Any

from unpend.engine.result import Patch, ReportedFinding, Result
from unpend.report.jsontext import dumps
from unpend.report.options import ReportOptions
from unpend.report.positions import Lines
from unpend.report.summary import shown
from unpend.report.uris import file_uri
from unpend.source.place import Location

_SEVERITY = {"error": 1, "warning": 2, "info": 3}
_TAGS = {"unnecessary": 1, "deprecated": 2}
_EMPTY = Lines("")


def render(result: Result, options: ReportOptions) -> str:
    """The array as a text."""
    return dumps(publications(result, options), 4)


def publications(result: Result, options: ReportOptions) -> list[dict[str, Any]]:
    """One entry for every checked or related file, in the order of checking; its diagnostics in report order."""
    writer = _Writer(result, options)
    findings = shown(result, options.show_suppressed)
    files: dict[str, list[dict[str, Any]]] = {writer.uri(name): [] for name in result.checked}
    for finding in findings:
        if finding.location is not None:
            diagnostics = files.setdefault(writer.uri(finding.location.uri), [])
            diagnostics.append(writer.diagnostic(finding, finding.location))
            origin = finding.location.origin
            if origin is not None and options.is_file(origin.uri):
                files.setdefault(writer.uri(origin.uri), [])
        for related in finding.related:
            if related.location is not None:
                files.setdefault(writer.uri(related.location.uri), [])
    return [{"uri": uri, "diagnostics": diagnostics} for uri, diagnostics in files.items()]


def _message(finding: ReportedFinding) -> str:
    """One paragraph of plain text."""
    message = " ".join(finding.message.split())
    if finding.scope:
        message += f" ({finding.scope})"
    return message if finding.repair is None else f"{message.rstrip('.')}. Repair: {finding.repair}"


class _Writer:
    def __init__(self, result: Result, options: ReportOptions) -> None:
        self._texts = result.texts
        self._options = options
        self._lines: dict[str, Lines] = {}
        self._uris: dict[str, str] = {}

    def uri(self, name: str) -> str:
        found = self._uris.get(name)
        if found is None:
            found = self._uris[name] = file_uri(name, self._options.base)
        return found

    def range(self, location: Location) -> dict[str, Any]:
        lines = self._lines.get(location.uri)
        if lines is None:
            lines = self._lines[location.uri] = Lines(self._texts.get(location.uri, ""))
        return {"start": lines.utf16(location.span.start), "end": lines.utf16(location.span.end)}

    def diagnostic(self, finding: ReportedFinding, location: Location) -> dict[str, Any]:
        data: dict[str, Any] = {
            "range": self.range(location),
            "severity": _SEVERITY[finding.severity],
            "code": finding.rule,
            "source": "unpend",
            "message": _message(finding),
        }
        url = self._options.rule_url(finding.rule)
        if url is not None:
            data["codeDescription"] = {"href": url}
        if finding.tags:
            data["tags"] = [_TAGS[tag] for tag in finding.tags]
        related = self._related(finding, location)
        if related:
            data["relatedInformation"] = related
        data["data"] = {
            "fingerprint": finding.fingerprint,
            "verdict": finding.verdict,
            "certainty": finding.certainty,
            "cluster": ", ".join(c for c in finding.clusters if c) or None,
            "workload": finding.workload,
            "fixes": [self._fix(patch) for patch in finding.patches],
        }
        return data

    def _fix(self, patch: Patch) -> dict[str, Any]:
        """The patch as text edits, all of which belong together."""
        edits = [
            {
                "uri": self.uri(edit.uri),
                "range": self.range(Location(edit.uri, 0, edit.span)),
                "newText": edit.text,
            }
            for edit in patch.edits
        ]
        return {"title": patch.title, "safety": patch.safety, "edits": edits}

    def _related(self, finding: ReportedFinding, location: Location) -> list[dict[str, Any]]:
        related = [
            {
                "location": {"uri": self.uri(r.location.uri), "range": self.range(r.location)},
                "message": r.message,
            }
            for r in finding.related
            if r.location is not None
        ]
        origin = location.origin
        if origin is not None:
            line = 0 if origin.line is None else origin.line
            point = {"line": line, "character": 0}
            exact = "rendered from this template" if origin.exact else "rendered from this template (place approximate)"
            related.append(
                {"location": {"uri": self.uri(origin.uri), "range": {"start": point, "end": point}}, "message": exact}
            )
        return related
