"""The last lines of a report: how many findings of which kind, and the counts per rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from unpend.engine.result import ReportedFinding, Result
from unpend.rule import Severity

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
_NOUNS: dict[Severity, tuple[str, str]] = {
    "error": ("error", "errors"),
    "warning": ("warning", "warnings"),
    "info": ("hint", "hints"),
}


def counted(number: int, singular: str, plural: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {singular if number == 1 else plural}"


def shown(result: Result, show_suppressed: bool) -> tuple[ReportedFinding, ...]:
    """The findings that a report shows."""
    return result.findings if show_suppressed else result.active


def summary(result: Result) -> str:
    """One sentence: what was found in how many objects of how many files."""
    counts = Counter(finding.severity for finding in result.active)
    found = [counted(counts[s], *_NOUNS[s]) for s in SEVERITIES if counts[s]]
    hidden = len(result.findings) - len(result.active)
    where = (
        f"{counted(result.object_count, 'object', 'objects')} of {counted(len(result.checked), 'source', 'sources')}"
    )
    text = f"Found {_and(found)} in {where}." if found else f"No findings in {where}."
    return text + (f" {hidden} suppressed." if hidden else "")


def statistics(findings: Iterable[ReportedFinding]) -> tuple[tuple[str, int], ...]:
    """How many findings each rule gave, the most frequent first."""
    counts = Counter(finding.rule for finding in findings)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def scope(finding: ReportedFinding) -> str:
    """Which inputs of the run a finding is true for, in words; empty when there is one, or it is true for all sets."""
    if finding.scope is not None:
        return finding.scope
    return f"cluster {', '.join(finding.clusters)}" if any(finding.clusters) else ""
