"""SARIF 2.1.0 as code scanning services read it: one run, all selected rules, places relative to the repository."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unpend.engine.result import Notice, Patch, ReportedFinding, Result
from unpend.report.jsontext import dumps
from unpend.report.options import ReportOptions
from unpend.report.pages import page_section, page_summary, plain
from unpend.report.summary import SEVERITIES, counted, shown
from unpend.report.uris import file_uri, percent_encode, repository_path
from unpend.rule import Severity
from unpend.source.place import Location

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
INFORMATION = "https://github.com/unpend/unpend"
MOST_RESULTS = 25_000
MOST_LOCATIONS = 1_000
MOST_TAGS = 20

_LEVEL: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_PROBLEM: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "recommendation"}
_PRECISION = {"proved": "very-high", "assumed": "high", "catalog": "high", "heuristic": "medium"}
_IN_SOURCE = {"comment", "annotation"}


def render(result: Result, options: ReportOptions) -> str:
    """The log as a text."""
    return dumps(log(result, options), 4)


def log(result: Result, options: ReportOptions) -> dict[str, Any]:
    """The SARIF log; columns count code points, lines and columns are one-based, ends exclusive."""
    findings = shown(result, options.show_suppressed)
    kept = _most_severe(findings)
    rules = _rules(result, options)
    index = {rule["id"]: number for number, rule in enumerate(rules)}
    notices = list(result.notices)
    if len(kept) < len(findings):
        lost = counted(len(findings) - len(kept), "finding is", "findings are")
        notices.append(Notice(f"{lost} left out: a run holds {MOST_RESULTS}; the least severe go first", "", "warning"))
    root = file_uri(options.repository or options.base, "/")
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "unpend",
                "version": options.version,
                "semanticVersion": options.version,
                "informationUri": options.docs_url or INFORMATION,
                "rules": rules,
            }
        },
        "automationDetails": {"id": f"unpend/{percent_encode(options.category)}/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"uri": root if root.endswith("/") else root + "/"}},
        "invocations": [
            {
                "executionSuccessful": not result.untrustworthy,
                "toolExecutionNotifications": [_notification(notice, options) for notice in notices],
            }
        ],
        "results": [_result(finding, index[finding.rule], options) for finding in kept],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _most_severe(findings: Sequence[ReportedFinding]) -> Sequence[ReportedFinding]:
    """At most as many findings as a run may hold, the most severe of them, in report order."""
    if len(findings) <= MOST_RESULTS:
        return findings
    ranked = sorted(range(len(findings)), key=lambda i: (SEVERITIES.index(findings[i].severity), i))
    return [findings[i] for i in sorted(ranked[:MOST_RESULTS])]


def _rules(result: Result, options: ReportOptions) -> list[dict[str, Any]]:
    severities: dict[str, tuple[str, Severity]] = {entry.name: (entry.topic, entry.severity) for entry in result.rules}
    for finding in result.findings:  # such as an internal error: reported by the engine, selected by nobody
        severities.setdefault(finding.rule, ("run", finding.severity))
    least: dict[str, str] = {}
    for finding in result.findings:
        precision = _PRECISION[finding.certainty]
        if precision != "very-high":
            least[finding.rule] = "medium" if "medium" in (precision, least.get(finding.rule)) else precision
    return [
        _rule(name, topic, severity, least.get(name, "very-high"), options)
        for name, (topic, severity) in sorted(severities.items())
    ]


def _rule(name: str, topic: str, severity: Severity, precision: str, options: ReportOptions) -> dict[str, Any]:
    page = options.page(name).strip()
    words = name.replace("-", " ")
    summary = plain(page_summary(page)) or words[:1].upper() + words[1:]
    rule: dict[str, Any] = {
        "id": name,
        "name": "".join(word.capitalize() for word in name.split("-")),
        "shortDescription": {"text": summary},
        "fullDescription": {"text": plain(page_section(page, "What it checks")) or summary},
        "help": {"text": page or summary, "markdown": page or summary},
        "defaultConfiguration": {"level": _LEVEL[severity]},
        "properties": {
            "tags": ["kubernetes", "scheduling", topic][:MOST_TAGS],
            "precision": precision,
            "problem.severity": _PROBLEM[severity],
        },
    }
    url = options.rule_url(name)
    if url is not None:
        rule["helpUri"] = url
    return rule


def _result(finding: ReportedFinding, index: int, options: ReportOptions) -> dict[str, Any]:
    related = _related(finding, options)
    text = f"{finding.message} ({finding.scope})" if finding.scope else finding.message
    message = _literal(text + (f"\nRepair: {finding.repair}" if finding.repair else ""))
    if related:
        links = "; ".join(f"[{_link(r['message']['text'])}]({r['id']})" for r in related[:3])
        message += f"\nSee {links}."
    data: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": _LEVEL[finding.severity],
        "message": {"text": message},
        "locations": [_primary(finding, options)] if finding.location is not None else [],
        "partialFingerprints": {"primaryLocationLineHash": finding.fingerprint},
        "properties": {
            "certainty": finding.certainty,
            "clusters": [c for c in finding.clusters if c],
            "verdict": finding.verdict,
        },
    }
    if related:
        data["relatedLocations"] = related
    if finding.patches:
        data["fixes"] = [_fix(patch, options) for patch in finding.patches]
    if options.show_suppressed:
        data["suppressions"] = _suppressions(finding)
    return data


def _fix(patch: Patch, options: ReportOptions) -> dict[str, Any]:
    changes: dict[str, list[dict[str, Any]]] = {}
    for edit in patch.edits:
        region = _region(Location(edit.uri, 0, edit.span))
        changes.setdefault(edit.uri, []).append({"deletedRegion": region, "insertedContent": {"text": edit.text}})
    return {
        "description": {"text": patch.title},
        "artifactChanges": [
            {"artifactLocation": _artifact(uri, options), "replacements": listed} for uri, listed in changes.items()
        ],
    }


def _primary(finding: ReportedFinding, options: ReportOptions) -> dict[str, Any]:
    assert finding.location is not None
    location: dict[str, Any] = {"physicalLocation": _physical(finding.location, options)}
    if finding.object is not None:
        name = finding.object.id
        logical = [{"fullyQualifiedName": name, "kind": "resource"}]
        if finding.path:
            logical.append({"fullyQualifiedName": f"{name}:{finding.path}", "kind": "member"})
        location["logicalLocations"] = logical
    return location


def _related(finding: ReportedFinding, options: ReportOptions) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for related in finding.related[: MOST_LOCATIONS - 2]:
        if related.location is not None:
            found.append(
                {
                    "id": len(found) + 1,
                    "message": {"text": related.message or related.object or "the other side"},
                    "physicalLocation": _physical(related.location, options),
                }
            )
    location = finding.location
    if location is not None and location.origin is not None and options.is_file(location.origin.uri):
        found.append(
            {
                "id": len(found) + 1,
                "message": {"text": "the rendered text"},
                "physicalLocation": {"artifactLocation": _artifact(location.uri, options), "region": _region(location)},
            }
        )
    return found


def _physical(location: Location, options: ReportOptions) -> dict[str, Any]:
    """The place; a rendered text is shown at its template when that is a file."""
    origin = location.origin
    if origin is not None and options.is_file(origin.uri):
        line = 1 if origin.line is None else origin.line + 1
        return {
            "artifactLocation": _artifact(origin.uri, options),
            "region": {"startLine": line, "startColumn": 1, "endLine": line},
        }
    return {"artifactLocation": _artifact(location.uri, options), "region": _region(location)}


def _region(location: Location) -> dict[str, int]:
    start, end = location.span
    return {
        "startLine": start.line + 1,
        "startColumn": start.column + 1,
        "endLine": end.line + 1,
        "endColumn": end.column + 1,
    }


def _artifact(name: str, options: ReportOptions) -> dict[str, str]:
    path = repository_path(name, options.base, options.repository)
    if path is None:
        return {"uri": file_uri(name, options.base)}
    return {"uri": percent_encode(path), "uriBaseId": "%SRCROOT%"}


def _suppressions(finding: ReportedFinding) -> list[dict[str, str]]:
    if finding.suppressed is None:
        return []
    kind = "inSource" if finding.suppressed.kind in _IN_SOURCE else "external"
    data = {"kind": kind}
    if finding.suppressed.reason:
        data["justification"] = finding.suppressed.reason
    return [data]


def _notification(notice: Notice, options: ReportOptions) -> dict[str, Any]:
    data: dict[str, Any] = {
        "level": "warning" if notice.severity == "warning" else "note",
        "message": {"text": notice.message},
    }
    if notice.uri:
        data["locations"] = [{"physicalLocation": {"artifactLocation": _artifact(notice.uri, options)}}]
    return data


def _literal(text: str) -> str:
    """A message whose brackets no reader takes for a link."""
    return text.replace("](", "\\](") if "](" in text else text


def _link(text: str) -> str:
    """Text inside `[…](id)`: brackets and backslashes are escaped as SARIF asks for (§3.11.6)."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
