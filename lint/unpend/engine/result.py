"""The result of a run: what every report format renders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from unpend.placement.verdict import Certainty, WorkloadVerdict
from unpend.records import dataclass, field
from unpend.rule import Fix, RuleEntry, Safety, Severity
from unpend.source.place import Location, Span

if TYPE_CHECKING:
    from unpend.placement.zone_shift import ZoneRow


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """The object that a finding is about; `template` is the path of its pod template, None when it has none."""

    kind: str
    namespace: str
    name: str
    template: str | None = None

    @property
    def id(self) -> str:
        """`Kind/namespace/name`, without the namespace where there is none."""
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)


@dataclass(frozen=True, slots=True)
class RelatedPlace:
    """A second place of a finding."""

    message: str
    location: Location | None
    object: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Why a finding does not count: by a comment, an annotation, the config or the baseline."""

    kind: Literal["comment", "annotation", "config", "baseline"]
    reason: str = ""


class TextEdit(NamedTuple):
    """New text in place of a span of a source."""

    uri: str
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Patch:
    """A fix as it changes the texts, proved by evaluating them again. The edits do not overlap."""

    title: str
    safety: Safety
    edits: tuple[TextEdit, ...]


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """A finding with everything that reports need. `clusters` is empty when no cluster is named.

    `scope` says in words which of several inputs it is true for, empty for all of them; None leaves that to `clusters`.
    """

    rule: str
    severity: Severity
    certainty: Certainty
    message: str
    fingerprint: str
    object: ObjectRef | None
    path: str
    location: Location | None
    related: tuple[RelatedPlace, ...] = ()
    clusters: tuple[str, ...] = ()
    suppressed: Suppressed | None = None
    fixes: tuple[Fix, ...] = ()
    tags: tuple[Literal["unnecessary", "deprecated"], ...] = ()
    workload: str | None = None
    verdict: str | None = None
    repair: str | None = None
    scope: str | None = None
    patches: tuple[Patch, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedRule:
    """A rule that was not asked, with the need that the input did not meet."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know about the run itself (stderr, or `notices`)."""

    message: str
    uri: str = ""
    severity: Literal["warning", "info"] = "info"


@dataclass(frozen=True, slots=True)
class Result:
    """All that a run gave. `findings` include suppressed ones, ordered by path, line, column, rule.

    `texts` gives for each uri the text that was read, for excerpts; uris of findings are the keys. `checked` lists
    every uri that was read, in order. `rules` are the selected rules, for report formats that list them all.
    `zone_loss` is there when it was asked for.
    """

    findings: tuple[ReportedFinding, ...] = ()
    workloads: tuple[WorkloadVerdict, ...] = ()
    contention: tuple[tuple[str, ...], ...] = ()
    skipped_rules: tuple[SkippedRule, ...] = ()
    notices: tuple[Notice, ...] = ()
    rules: tuple[RuleEntry, ...] = ()
    checked: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    object_count: int = 0
    untrustworthy: bool = False
    zone_loss: tuple[ZoneRow, ...] = ()

    @property
    def active(self) -> tuple[ReportedFinding, ...]:
        """The findings that count."""
        return tuple(f for f in self.findings if f.suppressed is None)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The ids of the standing assumptions that some verdict leans on."""
        return tuple(sorted({a for w in self.workloads for a in w.assumptions}, key=lambda a: int(a[1:])))

    def count(self, severity: Severity) -> int:
        """How many findings of a severity count."""
        return sum(1 for f in self.active if f.severity == severity)
