"""The baseline: findings that an old repository has already, so that only new ones count.

Entries are found again by their fingerprints, which hold rule, object, path and value and no line. Everything else in
an entry is for people; what they add (comments, `reason`) is kept when the file is written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from unpend.engine.result import ReportedFinding
from unpend.records import dataclass

VERSION = 1
_HEAD = """\
# Findings that are known: `unpend check --baseline` does not count them.
# Written by `unpend baseline write`; `unpend baseline prune` takes out what is gone. Comments and `reason` are kept.
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One known finding."""

    fingerprint: str
    rule: str = ""
    object: str = ""
    path: str = ""
    file: str = ""
    reason: str = ""

    @classmethod
    def of(cls, finding: ReportedFinding) -> Entry:
        """The entry of a finding; a rendered text is named by its template."""
        place = finding.location
        file = "" if place is None else place.origin.uri if place.origin is not None else place.uri
        return cls(finding.fingerprint, finding.rule, finding.object.id if finding.object else "", finding.path, file)

    @property
    def order(self) -> tuple[str, ...]:
        """The order in the file: no line, so that a moved line changes nothing."""
        return (self.file, self.object, self.rule, self.path, self.fingerprint)

    def to_dict(self) -> dict[str, Any]:
        """The entry as it is written."""
        listed = (("rule", self.rule), ("object", self.object), ("path", self.path), ("file", self.file))
        return {**{key: value for key, value in listed if value}, "fingerprint": self.fingerprint}


class BaselineError(ValueError):
    """The text is no baseline; the message says where and why."""


def parse(text: str, uri: str) -> tuple[Entry, ...]:
    """The entries of a baseline file. Raises `BaselineError`."""
    from unpend.source.reading import read_text

    reading = read_text(text, uri)
    for trouble in reading.troubles:
        if trouble.severity == "error":
            line = "" if trouble.span is None else f":{trouble.span.start.line + 1}"
            raise BaselineError(f"{uri}{line}: {trouble.message}")
    data = reading.documents[0].data if reading.documents else {}
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise BaselineError(
            f"{uri}: this is no baseline: expected version: {VERSION}, as `unpend baseline write` writes"
        )
    listed = data.get("findings") or []
    if not isinstance(listed, list):
        raise BaselineError(f"{uri}: findings: expected a list")
    entries = []
    for index, item in enumerate(listed):
        if not isinstance(item, dict) or not isinstance(item.get("fingerprint"), str):
            raise BaselineError(f"{uri}: findings[{index}]: an entry needs its fingerprint")
        words = {key: str(item.get(key) or "") for key in ("rule", "object", "path", "file", "reason")}
        entries.append(Entry(item["fingerprint"], **words))
    return tuple(entries)


def known(findings: Iterable[ReportedFinding]) -> tuple[Entry, ...]:
    """Entries for all findings that count, or are in a baseline already."""
    kept = (f for f in findings if f.suppressed is None or f.suppressed.kind == "baseline")
    return tuple(sorted({Entry.of(f) for f in kept if f.rule != "internal-error"}, key=lambda entry: entry.order))


def written(entries: Sequence[Entry], before: str | None = None) -> str:
    """The text of a baseline; what stands in `before` keeps its comments and its order, new entries follow.

    Raises `BaselineError` when `before` is no baseline.
    """
    from io import StringIO

    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedSeq

    yaml = YAML()
    yaml.width = 4096
    yaml.allow_unicode = True
    wanted = {entry.fingerprint: entry for entry in entries}
    if before is None:
        if not entries:
            return f"{_HEAD}version: {VERSION}\nfindings: []\n"
        data: Any = {"version": VERSION, "findings": [entry.to_dict() for entry in entries]}
    else:
        parse(before, "the baseline")
        data = yaml.load(before)
        listed = data.get("findings")
        if not isinstance(listed, list):
            listed = data["findings"] = CommentedSeq()
        listed.fa.set_block_style()
        for index in reversed(range(len(listed))):
            if wanted.pop(listed[index]["fingerprint"], None) is None:
                del listed[index]
        listed.extend(entry.to_dict() for entry in wanted.values())
        if not listed:
            listed.fa.set_flow_style()
    out = StringIO()
    yaml.dump(data, out)
    return (_HEAD if before is None else "") + out.getvalue()
