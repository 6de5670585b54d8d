"""From the drafts of all clusters to the findings of the result: folded, told apart, in order."""

from __future__ import annotations

from collections.abc import Iterable

from unpend.engine.drafts import Draft, digest
from unpend.engine.result import ReportedFinding, Suppressed
from unpend.source.place import Location


def reported(drafts: list[Draft], report_only: Iterable[str] | None) -> list[Draft]:
    """The drafts that are placed in one of the uris (or made from one of them); those without a place stay."""
    if report_only is None:
        return drafts
    uris = frozenset(report_only)
    return [
        d
        for d in drafts
        if d.location is None or d.location.uri in uris or (d.location.origin and d.location.origin.uri in uris)
    ]


def finish(drafts: list[Draft], baseline: frozenset[str]) -> tuple[ReportedFinding, ...]:
    """Fold what clusters share, tell repeated fingerprints apart, order everything."""
    folded: dict[object, Draft] = {}
    for draft in sorted(drafts, key=lambda d: d.order):
        place = _identity(draft.location) or (draft.object, draft.path)
        related = tuple((r.message, r.object, r.path, _identity(r.location)) for r in draft.related)
        key = (draft.fingerprint, place, draft.message, draft.severity, related, draft.suppressed)
        first = folded.get(key)
        if first is None:
            folded[key] = draft
        elif set(draft.clusters).isdisjoint(first.clusters) and draft.clusters:
            first.clusters = (*first.clusters, *draft.clusters)
    seen: dict[str, int] = {}
    findings = []
    for draft in sorted(folded.values(), key=lambda d: d.order):
        count = seen[draft.fingerprint] = seen.get(draft.fingerprint, 0) + 1
        fingerprint = draft.fingerprint if count == 1 else digest(draft.fingerprint, str(count))
        suppressed = draft.suppressed
        if suppressed is None and fingerprint in baseline and draft.rule != "internal-error":
            suppressed = Suppressed("baseline")
        findings.append(_report(draft, fingerprint, suppressed))
    return tuple(findings)


def _identity(location: Location | None) -> Location | str | None:
    """The same for one place, wherever several renderings of one template have put it."""
    return location if location is None or location.origin is None else location.origin.uri


def _report(draft: Draft, fingerprint: str, suppressed: Suppressed | None) -> ReportedFinding:
    return ReportedFinding(
        rule=draft.rule,
        severity=draft.severity,
        certainty=draft.certainty,
        message=draft.message,
        fingerprint=fingerprint,
        object=draft.object,
        path=draft.path,
        location=draft.location,
        related=draft.related,
        clusters=draft.clusters,
        suppressed=suppressed,
        fixes=draft.fixes,
        tags=draft.tags,
        workload=draft.workload,
        verdict=draft.verdict,
        repair=draft.repair,
    )
