"""Concise: one line for each finding, `path:line:col: level rule message`, as editors and problem matchers read it."""

from __future__ import annotations

from unpend.engine.result import ReportedFinding, Result
from unpend.report.options import ReportOptions
from unpend.report.summary import shown, statistics
from unpend.report.terminal import Paint, printable


def render(result: Result, options: ReportOptions) -> str:
    """The findings, one a line; nothing at all when there are none."""
    paint = Paint(options.color)
    lines = [_line(finding, paint) for finding in shown(result, options.show_suppressed)]
    if options.statistics:
        lines.extend(f"{count}\t{rule}" for rule, count in statistics(result.active))
    return "".join(line + "\n" for line in lines)


def _line(finding: ReportedFinding, paint: Paint) -> str:
    message = printable(" ".join(finding.message.split()))
    if finding.scope:
        message += f" ({printable(finding.scope)})"
    if finding.suppressed is not None:
        message += f" (suppressed by {finding.suppressed.kind})"
    level = paint(finding.severity, finding.severity)
    return f"{place(finding)}: {level} {finding.rule} {message}"


def place(finding: ReportedFinding) -> str:
    """`path:line:col`, one-based; the object in place of the path when it came without a text."""
    location = finding.location
    if location is None:
        return f"{printable(finding.object.id) if finding.object else '<input>'}:1:1"
    start = location.span.start
    return f"{printable(location.uri)}:{start.line + 1}:{start.column + 1}"
