"""JUnit XML as Jenkins and others read it: a suite for each file, and the same bytes for the same input (no clock).

A finding is a case that fails (errors and warnings), or is passed with a note (hints), or is skipped (suppressed). A
workload whose placement is not decided is a skipped case, not a passed one. What could not be read or asked is an
`error`. A file without any of that is one case that passed, so that a clean run has cases too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from unpend.engine.result import ReportedFinding, Result
from unpend.placement.verdict import WorkloadVerdict
from unpend.records import dataclass, field
from unpend.report.options import ReportOptions
from unpend.report.places import project_path, shown_place
from unpend.report.summary import scope

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BROKEN = frozenset({"yaml-syntax", "internal-error", "chart-not-rendered"})
_DECIDED = frozenset({"fits", "skipped"})


@dataclass(slots=True)
class _Suite:
    name: str
    cases: list[str] = field(default_factory=list)
    names: set[tuple[str, str]] = field(default_factory=set)
    failures: int = 0
    errors: int = 0
    skipped: int = 0

    def add(self, group: str, name: str, outcome: str = "", kind: str = "") -> None:
        """One case; a name that the suite has already gets a number."""
        number, unique = 1, name
        while (group, unique) in self.names:
            number += 1
            unique = f"{name} ({number})"
        self.names.add((group, unique))
        head = f"    <testcase classname={_attribute(group)} name={_attribute(unique)}"
        self.cases.append(f"{head}>\n{outcome}    </testcase>\n" if outcome else f"{head}/>\n")
        self.failures += kind == "failure"
        self.errors += kind == "error"
        self.skipped += kind == "skipped"

    def text(self) -> str:
        """The suite as XML."""
        counts = f'tests="{len(self.cases)}" failures="{self.failures}" errors="{self.errors}" skipped="{self.skipped}"'
        return f"  <testsuite name={_attribute(self.name)} {counts}>\n{''.join(self.cases)}  </testsuite>\n"


def render(result: Result, options: ReportOptions) -> str:
    """The document as a text."""
    suites: dict[str, _Suite] = {}

    def suite(uri: str) -> _Suite:
        name = project_path(uri, options) if uri else "unpend"
        return suites.setdefault(name, _Suite(name))

    for uri in result.checked:
        suite(uri)
    for finding in result.findings:
        place = shown_place(finding.location, options) if finding.location is not None else ("", 0)
        _add_finding(suite(place[0]), finding, place[1], options)
    for verdict in result.workloads:
        location = verdict.place.location() if verdict.place is not None else None
        _add_verdict(suite(shown_place(location, options)[0] if location is not None else ""), verdict)
    for notice in result.notices:
        if notice.severity == "warning":
            kind = "error" if result.untrustworthy else "skipped"
            suite(notice.uri).add("unpend", "reading", _outcome(kind, "notice", notice.message, ""), kind)
    if not suites:
        suite("").add("unpend", "nothing to check")
    for one in suites.values():
        if not one.cases:
            one.add("unpend", "no findings")
    return _document(suites.values())


def _document(suites: Iterable[_Suite]) -> str:
    listed = list(suites)
    total = sum(len(one.cases) for one in listed)
    failures, errors = sum(one.failures for one in listed), sum(one.errors for one in listed)
    head = f'<testsuites name="unpend" tests="{total}" failures="{failures}" errors="{errors}">'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}\n{"".join(one.text() for one in listed)}</testsuites>\n'


def _add_finding(suite: _Suite, finding: ReportedFinding, line: int, options: ReportOptions) -> None:
    group = finding.object.id if finding.object else "unpend"
    name = f"{finding.rule} {finding.path}".strip()
    among = scope(finding)
    message = f"{finding.message} ({among})" if among else finding.message
    body = [f"{suite.name}:{line}: {finding.severity} {finding.rule}" if line else finding.rule, message]
    for related in finding.related:
        if related.location is not None:
            uri, other = shown_place(related.location, options)
            body.append(f"{project_path(uri, options)}:{other}: {related.message}")
    if finding.repair:
        body.append(f"Repair: {finding.repair}")
    if finding.suppressed is not None:
        reason = f": {finding.suppressed.reason}" if finding.suppressed.reason else ""
        text = f"suppressed by {finding.suppressed.kind}{reason}"
        suite.add(group, name, _outcome("skipped", finding.rule, text, ""), "skipped")
    elif finding.rule in _BROKEN:
        suite.add(group, name, _outcome("error", finding.rule, message, "\n".join(body)), "error")
    elif finding.severity == "info":
        suite.add(group, name, f"      <system-out>{_text(chr(10).join(body))}</system-out>\n")
    else:
        suite.add(group, name, _outcome("failure", finding.rule, message, "\n".join(body)), "failure")


def _add_verdict(suite: _Suite, verdict: WorkloadVerdict) -> None:
    """The case of a placement; one that fails has findings, and those are its cases."""
    name = f"placement ({verdict.cluster})" if verdict.cluster else "placement"
    if verdict.verdict in _DECIDED:
        suite.add(verdict.workload, name)
    elif verdict.verdict == "conditional":
        facts = "; ".join(fact.message for fact in verdict.facts) or (verdict.cause or "a fact is not known")
        suite.add(verdict.workload, name, _outcome("skipped", "conditional", f"cannot tell: {facts}", ""), "skipped")


def _outcome(element: str, kind: str, message: str, body: str) -> str:
    shown = " ".join(message.split())
    head = f"      <{element} type={_attribute(kind)} message={_attribute(shown)}"
    return f"{head}>{_text(body)}</{element}>\n" if body else f"{head}/>\n"


def _text(value: str) -> str:
    return escape(_ILLEGAL.sub("\ufffd", value))


def _attribute(value: str) -> str:
    return quoteattr(_ILLEGAL.sub("\ufffd", value))
