"""JSON: the versioned envelope with findings, verdicts and everything that they lean on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from unpend.engine.result import Notice, ReportedFinding, Result, SkippedRule
from unpend.placement.verdict import ASSUMPTIONS, WorkloadVerdict, location_to_dict, place_to_dict
from unpend.report.jsontext import dumps
from unpend.report.options import ReportOptions
from unpend.report.summary import shown, statistics
from unpend.rule import Edit, Fix

_LEVELS = 4
"""Down to the values of a finding or of a workload, and to the items of its lists."""


def render(result: Result, options: ReportOptions) -> str:
    """The envelope as a text; its schema is `output.schema.json` of `unpend_schemas`."""
    return dumps(envelope(result, options), _LEVELS)


def envelope(result: Result, options: ReportOptions) -> dict[str, Any]:
    """The envelope as plain data; lines and columns are one-based, columns count code points."""
    data: dict[str, Any] = {
        "version": 1,
        "tool": {
            "name": "unpend",
            "version": options.version,
            "catalog": options.catalog_date,
            "karpenter": options.karpenter_version,
        },
        "findings": [finding_to_dict(f) for f in shown(result, options.show_suppressed)],
        "workloads": [_workload(w) for w in result.workloads],
        "assumptions": [{"id": a, "message": ASSUMPTIONS.get(a, "")} for a in result.assumptions],
        "contention": [list(group) for group in result.contention],
        "skippedRules": _skipped(result.skipped_rules),
        "notices": _notices(result.notices),
    }
    if result.zone_loss:
        data["zoneLoss"] = [row.to_dict() for row in result.zone_loss]
    if options.statistics:
        data["statistics"] = dict(statistics(result.active))
    return data


def finding_to_dict(finding: ReportedFinding) -> dict[str, Any]:
    """The JSON shape of a finding."""
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "certainty": finding.certainty,
        "message": finding.message,
        "clusters": [cluster for cluster in finding.clusters if cluster],
        "fingerprint": finding.fingerprint,
        "suppressed": None
        if finding.suppressed is None
        else {"kind": finding.suppressed.kind, "reason": finding.suppressed.reason},
        "object": None
        if finding.object is None
        else {
            "kind": finding.object.kind,
            "namespace": finding.object.namespace,
            "name": finding.object.name,
            "template": finding.object.template,
        },
        "path": finding.path,
        "location": location_to_dict(finding.location),
        "related": [
            {"message": r.message, "object": r.object, "path": r.path, "location": location_to_dict(r.location)}
            for r in finding.related
        ],
        "workload": finding.workload,
        "verdict": finding.verdict,
        "repair": finding.repair,
        "tags": list(finding.tags),
        "fixes": [_fix(fix) for fix in finding.fixes],
    }


def _workload(verdict: WorkloadVerdict) -> dict[str, Any]:
    """The JSON shape of a verdict. The groups are in `contention` once: large ones would be written for each member."""
    data = verdict.to_dict()
    del data["contention"]
    return data


def _fix(fix: Fix) -> dict[str, Any]:
    return {"title": fix.title, "safety": fix.safety, "edits": [_edit(edit) for edit in fix.edits]}


def _edit(edit: Edit) -> dict[str, Any]:
    return {
        "action": edit.action,
        "path": str(edit.place),
        "at": place_to_dict(edit.place),
        "value": edit.value,
    }


def _skipped(rules: Iterable[SkippedRule]) -> list[dict[str, Any]]:
    return [{"rule": skipped.rule, "reason": skipped.reason} for skipped in rules]


def _notices(notices: Iterable[Notice]) -> list[dict[str, Any]]:
    return [{"message": n.message, "uri": n.uri or None, "severity": n.severity} for n in notices]
