"""Text: for people. Every finding with its excerpt, the place on the other side beneath, and what would help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from unpend.engine.result import ReportedFinding, Result
from unpend.placement.verdict import ASSUMPTIONS, WorkloadVerdict
from unpend.report.options import ReportOptions
from unpend.report.positions import Lines
from unpend.report.summary import counted, scope, shown, statistics, summary
from unpend.report.terminal import Paint, printable, wrap
from unpend.source.place import Location

_MOST_RELATED = 5
_EMPTY = Lines("")


class Texts:
    """The lines of every source, split on first use."""

    __slots__ = ("_lines", "_texts")

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._lines: dict[str, Lines] = {}

    def lines(self, uri: str) -> Lines:
        """The lines of the source with that uri; no lines when its text is not known."""
        found = self._lines.get(uri)
        if found is None:
            text = self._texts.get(uri)
            found = self._lines[uri] = _EMPTY if text is None else Lines(text)
        return found


class _Page(NamedTuple):
    texts: Texts
    paint: Paint
    options: ReportOptions
    verdicts: Mapping[tuple[str, str], WorkloadVerdict]


def render(result: Result, options: ReportOptions) -> str:
    """The whole report, the summary last."""
    page = _Page(
        Texts(result.texts),
        Paint(options.color),
        options,
        {(w.cluster, w.workload): w for w in result.workloads},
    )
    blocks = [_finding(finding, page) for finding in shown(result, options.show_suppressed)]
    if not options.quiet:
        blocks.append(_ending(result, page))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n" if blocks else ""


def _finding(finding: ReportedFinding, page: _Page) -> list[str]:
    paint, columns = page.paint, page.options.width
    url = page.options.rule_url(finding.rule) if page.options.hyperlinks else None
    rule = paint.link(url, finding.rule)
    lines = wrap(
        printable(f"{finding.severity}[{finding.rule}] {' '.join(finding.message.split())}"),
        columns,
        rest="  ",
    )
    head = f"{finding.severity}[{finding.rule}]"
    lines[0] = paint(finding.severity, f"{finding.severity}[{rule}]") + lines[0][len(head) :]
    gutter = _gutter(finding)
    if finding.location is not None:
        lines += place_lines(finding.location, "-->", "", gutter, finding.severity, page.texts, paint, columns)
    for related in finding.related[:_MOST_RELATED]:
        if related.location is None:
            lines += wrap(printable(related.message), columns, f"{' ' * gutter} = see: ", f"{' ' * gutter}   ")
        else:
            lines += place_lines(related.location, ":::", related.message, gutter, "info", page.texts, paint, columns)
    if len(finding.related) > _MOST_RELATED:
        rest = counted(len(finding.related) - _MOST_RELATED, "more place", "more places")
        lines.append(f"{' ' * gutter} = and {rest}")
    for label, text in _notes(finding, page):
        start = f"{' ' * gutter} = {paint('help', label) if label == 'repair' else label}: "
        plain = f"{' ' * gutter} = {label}: "
        noted = wrap(printable(text), columns, plain, f"{' ' * gutter}   ")
        lines += [start + noted[0][len(plain) :], *noted[1:]]
    return lines


def _notes(finding: ReportedFinding, page: _Page) -> list[tuple[str, str]]:
    notes: list[tuple[str, str]] = []
    if finding.object is not None:
        where = f"{finding.object.id}, {finding.path}" if finding.path else finding.object.id
        among = scope(finding)
        notes.append(("in", f"{where} ({among})" if among else where))
    repair = finding.repair or next((fix.title for fix in finding.fixes), None)
    if repair:
        notes.append(("repair", repair))
    if finding.certainty != "proved":
        notes.append(("certainty", _certainty(finding, page)))
    if finding.suppressed is not None:
        reason = f": {finding.suppressed.reason}" if finding.suppressed.reason else ""
        notes.append(("suppressed", f"by {finding.suppressed.kind}{reason}"))
    return notes


def _certainty(finding: ReportedFinding, page: _Page) -> str:
    if finding.certainty == "catalog":
        return f"as good as the catalogue of {page.options.catalog_date or 'instance types'}"
    if finding.certainty == "heuristic":
        return "a rule of thumb"
    ids: list[str] = []
    for cluster in finding.clusters or ("",):
        verdict = page.verdicts.get((cluster, finding.workload or ""))
        ids.extend(a for a in (verdict.assumptions if verdict else ()) if a not in ids)
    return "assumes " + (
        "; ".join(f"{a} {ASSUMPTIONS.get(a, '')}".strip() for a in ids) or "what the manifests do not say"
    )


def _gutter(finding: ReportedFinding) -> int:
    places = [finding.location, *(r.location for r in finding.related[:_MOST_RELATED])]
    return max((len(str(place.span.start.line + 1)) for place in places if place is not None), default=1)


def place_lines(
    location: Location, arrow: str, message: str, gutter: int, style: str, texts: Texts, paint: Paint, columns: int
) -> list[str]:
    """`--> file:line:col` with the excerpt of the place beneath."""
    from unpend.report.excerpt import excerpt

    start = location.span.start
    where = f"{printable(location.uri)}:{start.line + 1}:{start.column + 1}"
    lines = [f"{' ' * gutter}{paint('dim', arrow)} {paint('place', where)}"]
    if message:
        lines += wrap(printable(" ".join(message.split())), columns, f"{' ' * gutter}     ", f"{' ' * gutter}     ")
    if location.origin is not None:
        origin = printable(location.origin.uri)
        if location.origin.line is not None:
            origin += f":{location.origin.line + 1}" + ("" if location.origin.exact else " (approximate)")
        lines.append(f"{' ' * gutter}     rendered from {origin}")
    shown_lines = excerpt(
        texts.lines(location.uri), location.span, gutter=gutter, columns=columns, style=style, paint=paint
    )
    if shown_lines:
        lines += [f"{' ' * gutter} {paint('dim', '|')}", *shown_lines]
    return lines


def _ending(result: Result, page: _Page) -> list[str]:
    counts = {severity: result.count(severity) for severity in ("error", "warning")}
    style = "error" if counts["error"] else "warning" if counts["warning"] else "good"
    lines: list[str] = []
    if page.options.statistics:
        table = statistics(result.active)
        size = max((len(str(count)) for _, count in table), default=1)
        lines += [f"{count:>{size}}  {rule}" for rule, count in table]
        lines += [f"{'-':>{size}}  {skipped.rule} (not asked: {skipped.reason})" for skipped in result.skipped_rules]
        if lines:
            lines.append("")
    for group in result.contention:
        lines += wrap(printable(f"Cannot all run at once: {', '.join(group)}"), page.options.width, rest="  ")
    lines.append(page.paint(style, summary(result)))
    return lines
