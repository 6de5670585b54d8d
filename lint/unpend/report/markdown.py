"""Markdown: a summary for a page of a pipeline, such as `$GITHUB_STEP_SUMMARY`, which takes one megabyte."""

from __future__ import annotations

import re
from collections.abc import Sequence

from unpend.engine.result import ReportedFinding, Result
from unpend.report.options import ReportOptions
from unpend.report.places import project_path, shown_place
from unpend.report.summary import SEVERITIES, counted, scope, shown, summary
from unpend.report.terminal import printable

_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~])")
_MOST = 200
_LONGEST = 1000


def render(result: Result, options: ReportOptions) -> str:
    """A heading with the counts, then a table, the most severe first."""
    findings = sorted(shown(result, options.show_suppressed), key=lambda f: SEVERITIES.index(f.severity))
    lines = ["## unpend", "", f"**{_escaped(summary(result))}**"]
    if findings:
        lines += ["", "| | where | what | repair |", "|---|---|---|---|"]
        lines += [_row(finding, options) for finding in findings[:_MOST]]
    if len(findings) > _MOST:
        lines += ["", f"{counted(len(findings) - _MOST, 'more finding is', 'more findings are')} not shown."]
    lines += _verdicts(result)
    return "\n".join(lines) + "\n"


def _row(finding: ReportedFinding, options: ReportOptions) -> str:
    url = options.rule_url(finding.rule)
    rule = f"[{finding.rule}]({url})" if url else f"`{finding.rule}`"
    where = ""
    if finding.location is not None:
        uri, line = shown_place(finding.location, options)
        where = f"{project_path(uri, options)}:{line}"
    among = scope(finding)
    message = f"{finding.message} ({among})" if among else finding.message
    if finding.suppressed is not None:
        message += f" (suppressed by {finding.suppressed.kind})"
    name = f" {_escaped(finding.object.id)}" if finding.object else ""
    cells = (
        f"{finding.severity} {rule}",
        f"{_escaped(where)}{name}",
        _escaped(message),
        _escaped(finding.repair or ""),
    )
    return f"| {' | '.join(cells)} |"


def _verdicts(result: Result) -> Sequence[str]:
    """How many workloads have which verdict."""
    counts: dict[str, int] = {}
    for verdict in result.workloads:
        counts[verdict.verdict] = counts.get(verdict.verdict, 0) + 1
    if not counts:
        return ()
    return ("", "Workloads: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))


def _escaped(text: str) -> str:
    """Plain text: nothing in it is markup, a mention, or another cell."""
    plain = printable(" ".join(text.split()))
    if len(plain) > _LONGEST:
        plain = plain[:_LONGEST] + "…"
    plain = _SPECIAL.sub(r"\\\1", plain.replace("&", "&amp;"))
    return plain.replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
