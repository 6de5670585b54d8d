"""Suppressions: comments, annotations and config entries, and which of them suppress nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Literal

from unpend.config.model import Ignore
from unpend.engine.drafts import Draft, digest, plain_reference
from unpend.engine.options import RunOptions
from unpend.engine.registry import Registry
from unpend.engine.result import ObjectRef, Suppressed
from unpend.model.inventory import Inventory
from unpend.records import dataclass, field
from unpend.rule import Severity
from unpend.source.document import Document, Object
from unpend.source.place import Location, Place, Step

ANNOTATION = "unpend.dev/ignore"
RULE = "unused-suppression"
_UNTIL = re.compile(r"until=(\S+)")


@dataclass(slots=True)
class Site:
    """One suppression as written somewhere, with what it was good for."""

    kind: Literal["comment", "annotation", "config"]
    patterns: tuple[str, ...]
    reason: str = ""
    until: date | None = None
    complaint: str = ""
    location: Location | None = None
    place: Place | None = None
    lines: tuple[int, int] = (0, 0)
    object: ObjectRef | None = None
    template: str | None = None
    ignore: Ignore | None = None
    clusters: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    def expired(self, today: date | None) -> bool:
        """Whether its last day has passed; never when no date is known."""
        return self.until is not None and today is not None and today > self.until


class Suppressions:
    """All suppressions of a run."""

    def __init__(self, options: RunOptions, registry: Registry) -> None:
        self._options = options
        self._registry = registry
        self._comments: dict[str, dict[tuple[int, int, int], Site]] = {}
        self._annotations: dict[tuple[object, ...], list[Site]] = {}
        self._config = [Site("config", i.rules, i.reason, i.until, place=i.place, ignore=i) for i in options.ignores]

    def add_cluster(
        self, name: str, documents: Iterable[Document], objects: Sequence[Object], inventory: Inventory
    ) -> None:
        """Collect what the documents, objects and pod templates of a cluster say."""
        commented = [d for d in documents if d.suppressions]
        if commented:
            judged = {id(o.document) for o in objects}
            for document in commented:
                if id(document) in judged:
                    self._add_comments(name, document)
        for item in objects:
            metadata = item.data.get("metadata")
            if isinstance(metadata, dict):
                annotations = metadata.get("annotations")
                # What is no text is refused already: one message is enough.
                if isinstance(annotations, dict) and isinstance(annotations.get(ANNOTATION), str):
                    self._add_annotation(name, item, None, ("metadata",), annotations[ANNOTATION])
        for workload in inventory.workloads:
            label = workload.template.annotations.get(ANNOTATION) if workload.template_path else None
            if label is not None:
                steps = workload.template.place.path
                self._add_annotation(name, workload.object, workload.template_path, (*steps, "metadata"), label.value)

    def _add_comments(self, cluster: str, document: Document) -> None:
        sites = self._comments.setdefault(document.uri, {})
        for comment in document.suppressions:
            key = (document.index, *comment.span.start)
            site = sites.get(key)
            if site is None:
                until, complaint = _date(comment.until)
                origin = document.origin_at(comment.span.start.line)
                location = Location(document.uri, document.index, comment.span, origin)
                site = sites[key] = Site(
                    "comment", comment.rules, comment.reason, until, complaint, location,
                    lines=(comment.first_line, comment.last_line),
                )  # fmt: skip
            site.clusters.add(cluster)

    def _add_annotation(
        self, cluster: str, holder: Object, template: str | None, metadata: tuple[Step, ...], text: object
    ) -> None:
        sites = self._annotations.setdefault(_key(holder), [])
        for site in sites:
            if site.template == template:
                site.clusters.add(cluster)
                return
        patterns, reason, until, complaint = parse_annotation(str(text))
        place = holder.root.at(*metadata, "annotations", ANNOTATION)
        reference = plain_reference(holder, template)
        site = Site("annotation", patterns, reason, until, complaint, place=place, object=reference, template=template)
        site.clusters.add(cluster)
        sites.append(site)

    def judge(self, draft: Draft) -> Suppressed | None:
        """Why a finding does not count, None when it does. Every suppression that takes it counts as used."""
        if draft.rule == "internal-error":
            return None
        entry = self._registry.entries.get(draft.rule)
        patterns = {draft.rule, "*", f"{entry.topic}/*"} if entry else {draft.rule, "*"}
        found: Suppressed | None = None
        for site in self._sites(draft):
            taken = patterns.intersection(site.patterns)
            if taken and not site.complaint and not site.expired(self._options.today):
                site.used.update(taken)
                found = found or Suppressed(site.kind, site.reason)
        return found

    def _sites(self, draft: Draft) -> Iterable[Site]:
        location = draft.location
        if location is not None:
            lines = (location.span.start.line, draft.key_line)
            for site in self._comments.get(location.uri, {}).values():
                first, last = site.lines
                if any(line is not None and first <= line <= last for line in lines):
                    yield site
        for holder, template in draft.holders:
            for site in self._annotations.get(_key(holder), ()):
                if site.template is None or site.template == template:
                    yield site
        for site in self._config:
            if site.ignore is not None and self._in_scope(site.ignore, draft):
                yield site

    def _in_scope(self, ignore: Ignore, draft: Draft) -> bool:
        if ignore.objects and not (
            any(ignore.takes_object(name) for name in (draft.object.id if draft.object else "", draft.workload or ""))
        ):
            return False
        if not ignore.paths:
            return True
        if draft.location is None:
            return False
        uris = [draft.location.uri]
        if draft.location.origin is not None:
            uris.append(draft.location.origin.uri)
        return any(ignore.takes_path(uri, self._options.cwd) for uri in uris)

    def unused(self, ran: Mapping[str, frozenset[str]], checked: Mapping[str, Sequence[str]]) -> list[Draft]:
        """Suppressions that are good for nothing. `ran`: the rules that were asked, by cluster; `checked`: its uris."""
        drafts: list[Draft] = []
        for sites in self._comments.values():
            for site in sites.values():
                drafts.extend(self._complaints(site, ran))
        for annotated in self._annotations.values():
            for site in annotated:
                drafts.extend(self._complaints(site, ran))
        for site in self._config:
            ignore = site.ignore
            assert ignore is not None
            site.clusters = {
                name
                for name, uris in checked.items()
                if not ignore.paths or any(ignore.takes_path(uri, self._options.cwd) for uri in uris)
            }
            drafts.extend(self._complaints(site, ran))
        return drafts

    def _complaints(self, site: Site, ran: Mapping[str, frozenset[str]]) -> Iterable[Draft]:
        if site.complaint:
            yield _draft(site, "", site.complaint, "warning")
            return
        if not site.patterns:
            yield _draft(site, "", "this suppression names no rule", "warning")
            return
        for index, pattern in enumerate(site.patterns):
            if pattern == RULE or pattern in site.used:
                continue
            rules = self._registry.expand(pattern)
            if not rules:
                yield _draft(
                    site, pattern, f"nothing is suppressed: {self._registry.complaint(pattern)}", "warning", index
                )
            elif site.expired(self._options.today):
                yield _draft(
                    site, pattern, f"this suppression of '{pattern}' expired on {site.until}", "warning", index
                )
            elif site.clusters and self._asked(rules, site, ran):
                what = "reports nothing" if pattern in rules else "report nothing"
                yield _draft(site, pattern, f"'{pattern}' {what} here: remove this suppression", "info", index)

    def _asked(self, rules: Sequence[str], site: Site, ran: Mapping[str, frozenset[str]]) -> bool:
        """Whether the rules (of a group: those that are on by default) were asked wherever the suppression stands."""
        entries = self._registry.entries
        needed = rules if len(rules) == 1 else [r for r in rules if entries[r].enabled and r != "internal-error"]
        return bool(needed) and all(ran.get(cluster, frozenset()).issuperset(needed) for cluster in site.clusters)


def parse_annotation(text: str) -> tuple[tuple[str, ...], str, date | None, str]:
    """Rules, reason, last day and complaint of `rule-a, topic/* until=2027-01-31 -- reason`."""
    listed, _, reason = text.partition("--")
    match = _UNTIL.search(listed)
    until, complaint = _date(match[1] if match else None)
    patterns = tuple(word for word in re.split(r"[,\s]+", _UNTIL.sub("", listed)) if word)
    return patterns, reason.strip(), until, complaint


def _date(text: str | None) -> tuple[date | None, str]:
    if text is None:
        return None, ""
    try:
        return date.fromisoformat(text), ""
    except ValueError:
        return None, f"until={text} is not a date such as 2027-01-31; nothing is suppressed"


def _key(holder: Object) -> tuple[object, ...]:
    """The same for the same object of the same file, also when it was read once per cluster."""
    if holder.document.uri:
        return (holder.document.uri, holder.document.index, holder.prefix)
    return (id(holder),)


def _draft(site: Site, pattern: str, message: str, severity: Severity, index: int = 0) -> Draft:
    location, place = site.location, site.place
    path = ""
    if place is not None:
        if site.kind == "config" and pattern and "rules" in (place.value or {}):
            place = place.at("rules", index)
        location, path = place.location(), str(place)
    identity = site.object.id if site.object else location.uri if location else ""
    return Draft(
        rule=RULE,
        severity=severity,
        message=message,
        location=location,
        object=site.object,
        path=path,
        tags=("unnecessary",),
        fingerprint=digest(RULE, site.kind, identity, path, pattern),
        clusters=tuple(sorted(c for c in site.clusters if c)),
    )
