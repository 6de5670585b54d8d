"""Which fixes are offered: those after which the finding is gone and no verdict is worse.

Each one is tried by reading the changed texts again and asking every rule again. Where there are many, they are tried
together first, and in halves where together is not good enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

from unpend.engine.edits import apply, patch_of
from unpend.engine.result import Patch, ReportedFinding, Result, TextEdit
from unpend.engine.run import ClusterInput, RunOptions, run
from unpend.model.reading import read_objects
from unpend.placement.verdict import WorkloadVerdict
from unpend.records import dataclass, replace
from unpend.rule import Safety
from unpend.source.document import Document, Object
from unpend.source.reading import read_text

_ALONE = 8
_MOST_RUNS = 64
_REPORT_BUDGET = 4_000
"""Objects that may be evaluated again, all runs together, for a report that carries fixes."""
_RANK = {"fits": 0, "skipped": 0, "conditional": 1, "partial": 2, "loop": 3, "never": 4}
_REJECTED = 5
Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Offer:
    """A finding with one fix of it, and the changed texts that it was tried with."""

    finding: ReportedFinding
    number: int
    patch: Patch


class Proof:
    """Tries patches on one run: its clusters, its options and what it found. `raw` gives a source as it is on disk."""

    def __init__(
        self,
        clusters: Sequence[ClusterInput],
        options: RunOptions,
        result: Result,
        raw: Callable[[str], str | None],
    ) -> None:
        self._clusters = tuple(clusters)
        self._options = replace(options, select=("*",), report_only=None)
        self._result = result
        self._before: Result | None = None
        self._raw = raw
        self._left = _MOST_RUNS

    def offers(self, safeties: Iterable[Safety], *, together: bool = False) -> tuple[Offer, ...]:
        """The fixes of findings that count, with a proof for each; with `together`, those that can be made at once.

        Without `together` it is for a report, which must not take much longer for it: of large inputs nothing is tried.
        """
        if not together:
            self._left = min(_MOST_RUNS, _REPORT_BUDGET // max(1, sum(len(c.objects) for c in self._clusters)))
        found = self._patches(frozenset(safeties)) if self._left else []
        if not together and len(found) <= min(_ALONE, self._left):
            return tuple(offer for offer in found if self._holds([offer]))
        return self._together(_first_of_each(found))

    def _patches(self, wanted: frozenset[Safety]) -> list[Offer]:
        found: list[Offer] = []
        for finding in self._result.findings:
            if finding.suppressed is None:
                for number, fix in enumerate(finding.fixes):
                    patch = patch_of(fix) if fix.safety in wanted else None
                    if patch is not None:
                        found.append(Offer(finding, number, patch))
        return found

    def _together(self, offers: Sequence[Offer]) -> tuple[Offer, ...]:
        """Those that hold when they are made at once, as far as a bounded number of runs can tell."""
        if not offers or self._left <= 0:
            return ()
        if self._holds(offers):
            return tuple(offers)
        if len(offers) == 1:
            return ()
        half = len(offers) // 2
        left = self._together(offers[:half])
        right = self._together(offers[half:])
        if left and right and not self._holds((*left, *right)):
            return left  # the others are offered when these are made
        return (*left, *right)

    def _holds(self, offers: Sequence[Offer]) -> bool:
        texts = self.texts(offers)
        if not texts:
            return False
        if self._before is None:  # with all rules: what one rule asks for may be what another one complains of
            self._before = run(self._clusters, self._options)
        self._left -= 1
        errors = {f.fingerprint for f in self._before.findings if f.severity == "error"}
        after = run([_changed(cluster, texts) for cluster in self._clusters], self._options)
        left = {finding.fingerprint for finding in after.findings if finding.suppressed is None}
        return (
            not after.untrustworthy
            and not any(offer.finding.fingerprint in left for offer in offers)
            and all(f.fingerprint in errors for f in after.findings if f.severity == "error" and not f.verdict)
            and not any(_is_worse(b, a) for b, a in _pairs(self._before.workloads, after.workloads))
            and len(after.workloads) == len(self._before.workloads)
        )

    def texts(self, offers: Iterable[Offer]) -> dict[str, str]:
        """The changed sources, whole; nothing when a source is not there or two edits touch the same text."""
        edits: dict[str, list[TextEdit]] = {}
        for offer in offers:
            for edit in offer.patch.edits:
                edits.setdefault(edit.uri, []).append(edit)
        out: dict[str, str] = {}
        for uri, listed in edits.items():
            raw = self._raw(uri)
            text = None if raw is None else apply(raw, listed)
            if text is None:
                return {}
            out[uri] = text
        return out


def with_patches(result: Result, offers: Iterable[Offer]) -> Result:
    """The result with the patches that were proved at their findings, and without the fixes that were not."""
    proved: dict[str, dict[int, Patch]] = {}
    for offer in offers:
        proved.setdefault(offer.finding.fingerprint, {})[offer.number] = offer.patch
    findings = []
    for finding in result.findings:
        if finding.fixes:
            patches = proved.get(finding.fingerprint, {})
            fixes = tuple(fix for number, fix in enumerate(finding.fixes) if number in patches)
            finding = replace(finding, fixes=fixes, patches=tuple(patches[number] for number in sorted(patches)))
        findings.append(finding)
    return replace(result, findings=tuple(findings))


def _first_of_each(offers: Iterable[Offer]) -> list[Offer]:
    """One fix a finding, and none that touches the text of one before it."""
    kept: list[Offer] = []
    taken: list[TextEdit] = []
    done: set[str] = set()
    for offer in offers:
        if offer.finding.fingerprint in done or any(_touch(e, t) for e in offer.patch.edits for t in taken):
            continue
        done.add(offer.finding.fingerprint)
        taken.extend(offer.patch.edits)
        kept.append(offer)
    return kept


def _touch(one: TextEdit, other: TextEdit) -> bool:
    return one.uri == other.uri and one.span.start <= other.span.end and other.span.start <= one.span.end


def _changed(cluster: ClusterInput, texts: Texts) -> ClusterInput:
    """The cluster with some sources read again."""
    uris = {document.uri for document in cluster.documents} & texts.keys()
    if not uris:
        return cluster
    readings = {uri: read_text(texts[uri], uri) for uri in uris}
    documents: list[Document] = []
    objects: list[Object] = []
    for uri, there in groupby(cluster.documents, lambda document: document.uri):
        documents.extend(readings[uri].documents if uri in readings else there)
    for uri, held in groupby(cluster.objects, lambda item: item.document.uri):
        objects.extend(readings[uri].objects if uri in readings else held)
    troubles = [t for t in cluster.troubles if t.uri not in uris]
    troubles += [trouble for uri in sorted(uris) for trouble in readings[uri].troubles]
    return replace(
        cluster,
        documents=tuple(documents),
        objects=tuple(objects),
        troubles=tuple(troubles),
        inventory=read_objects(tuple(objects), cluster.settings),
    )


def _pairs(
    before: Iterable[WorkloadVerdict], after: Iterable[WorkloadVerdict]
) -> Iterable[tuple[WorkloadVerdict, WorkloadVerdict]]:
    found = {(verdict.cluster, verdict.workload): verdict for verdict in after}
    for verdict in before:
        other = found.get((verdict.cluster, verdict.workload))
        if other is not None:
            yield verdict, other


def _rank(verdict: WorkloadVerdict) -> int:
    return _REJECTED if verdict.cause == "rejected" else _RANK.get(verdict.verdict, 0)


def _is_worse(before: WorkloadVerdict, after: WorkloadVerdict) -> bool:
    """Whether fewer pods, or less surely, find a place than before."""
    ranks = _rank(before), _rank(after)
    if ranks[0] != ranks[1]:
        return ranks[1] > ranks[0]
    if before.verdict != "partial" or before.replicas is None or after.replicas is None:
        return False
    return after.replicas.at_most < before.replicas.at_most
