"""GitLab: the code quality report, an array that is empty on a clean run.

GitLab drops all but one of the issues with the same fingerprint, so repeated ones get another; the same input gives the
same fingerprints.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from unpend.engine.result import ReportedFinding, Result
from unpend.report.jsontext import dumps
from unpend.report.options import ReportOptions
from unpend.report.places import project_path, shown_place
from unpend.report.summary import shown

_SEVERITY = {"error": "major", "warning": "minor", "info": "info"}


def render(result: Result, options: ReportOptions) -> str:
    """The array as a text."""
    seen: set[str] = set()
    return dumps([_issue(finding, options, seen) for finding in shown(result, False)], 2)


def _issue(finding: ReportedFinding, options: ReportOptions, seen: set[str]) -> dict[str, Any]:
    path, line = "", 1
    if finding.location is not None:
        uri, line = shown_place(finding.location, options)
        path = project_path(uri, options)
    message = " ".join(finding.message.split())
    if finding.scope:
        message += f" ({finding.scope})"
    if finding.repair:
        message = f"{message.rstrip('.')}. Repair: {finding.repair}"
    return {
        "description": message,
        "check_name": finding.rule,
        "fingerprint": _unique(finding.fingerprint, seen),
        "severity": _SEVERITY[finding.severity],
        "location": {"path": path or ".", "lines": {"begin": line}},
    }


def _unique(fingerprint: str, seen: set[str]) -> str:
    salt, found = 0, fingerprint
    while found in seen:
        salt += 1
        found = sha256(f"{fingerprint}\x1f{salt}".encode()).hexdigest()[:32]
    seen.add(found)
    return found
