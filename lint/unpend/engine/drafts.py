"""From findings to drafts: places become locations, objects become names, and every finding gets its fingerprint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from unpend.engine.result import ObjectRef, RelatedPlace, Suppressed
from unpend.model.inventory import Inventory, Workload
from unpend.placement.verdict import Certainty, WorkloadVerdict
from unpend.records import dataclass, field
from unpend.rule import Finding, Fix, Severity
from unpend.source.document import Document, Object
from unpend.source.place import Location, Place, render_path


@dataclass(slots=True)
class Draft:
    """A finding of one cluster on its way into the result. `key_line` is the line of the key, for suppressions."""

    rule: str
    severity: Severity
    message: str
    location: Location | None
    certainty: Certainty = "proved"
    object: ObjectRef | None = None
    path: str = ""
    related: tuple[RelatedPlace, ...] = ()
    fixes: tuple[Fix, ...] = ()
    tags: tuple[Literal["unnecessary", "deprecated"], ...] = ()
    workload: str | None = None
    verdict: str | None = None
    repair: str | None = None
    key_line: int | None = None
    holders: tuple[tuple[Object, str | None], ...] = ()
    fingerprint: str = ""
    clusters: tuple[str, ...] = ()
    suppressed: Suppressed | None = field(default=None)

    @property
    def order(self) -> tuple[Any, ...]:
        """The order of reports: path, line, column, rule, then what else tells findings apart."""
        where = ("", 0, 0) if self.location is None else (self.location.uri, *self.location.span.start)
        return (*where, self.rule, self.object.id if self.object else "", self.path, self.message)


Places = dict[tuple[str, str], tuple[Document, "Draft"]]
"""Drafts on rendered texts by fingerprint and message, with the document that they are about."""


class Resolver:
    """Turns the findings of one cluster into drafts.

    `places` holds those of the clusters before: a chart that is rendered with several sets of values gives most
    findings again, and those will be folded into the first one. Looking them up would be half of the work.
    """

    def __init__(self, inventory: Inventory, places: Places | None = None) -> None:
        self._inventory = inventory
        self._places: Places = {} if places is None else places
        self.new: Places = {}
        self._seen: set[tuple[str, str]] = set()
        self._by_object: dict[int, list[Workload]] | None = None
        self._by_id: dict[str, Workload] | None = None

    def workloads_of(self, holder: Object) -> list[Workload]:
        """The workloads that an object makes (several for kinds with several pod templates)."""
        if self._by_object is None:
            self._by_object = {}
            for workload in self._inventory.workloads:
                self._by_object.setdefault(id(workload.object), []).append(workload)
        return self._by_object.get(id(holder), [])

    def _workload(self, name: str) -> Workload | None:
        if self._by_id is None:
            self._by_id = {w.id: w for w in self._inventory.workloads}
        return self._by_id.get(name)

    def reference(self, place: Place, workload: str | None = None) -> ObjectRef | None:
        """The object of a place, None when the place belongs to no object."""
        holder = place.object
        if not isinstance(holder, Object):
            return None
        owner = self._owner(holder, place, workload)
        if owner is not None:
            return ObjectRef(owner.kind, owner.namespace, owner.name, owner.template_path or None)
        return plain_reference(holder)

    def _owner(self, holder: Object, place: Place, workload: str | None) -> Workload | None:
        candidates = self.workloads_of(holder)
        if len(candidates) <= 1:
            return candidates[0] if candidates else None
        path = str(place)
        for candidate in candidates:
            if candidate.id == workload or path.startswith(candidate.template_path):
                return candidate
        return candidates[0]

    def draft(self, finding: Finding, rule: str, verdict: WorkloadVerdict | None) -> Draft:
        """The finding with its locations looked up; its severity is settled by the run."""
        place = finding.place
        reference = self.reference(place, finding.workload)
        fingerprint = fingerprint_of(rule, reference, finding)
        document = _rendered(place)
        before = self._before(document, fingerprint, finding)
        if before is None:
            location = place.location(finding.part)
            key = place.location("key") if place.step is not None else None
            key_line = key.span.start.line if key else None
            related = tuple(self._related(r.message, r.place) for r in finding.related)
        else:
            location, key_line, related = before.location, before.key_line, before.related
        repair = finding.repair
        if repair is None and verdict is not None and verdict.nearest and finding.subject[:1] == ("placement",):
            repair = "; ".join(change.message for change in verdict.nearest.changes)
        draft = Draft(
            rule=rule,
            severity=finding.severity or "info",
            message=finding.message,
            location=location,
            certainty=finding.certainty,
            object=reference,
            path=str(place),
            related=related,
            fixes=finding.fixes,
            tags=finding.tags,
            workload=finding.workload,
            verdict=finding.verdict or (verdict.verdict if verdict else None),
            repair=repair,
            key_line=key_line,
            holders=self._holders(finding),
            fingerprint=fingerprint,
        )
        if document is not None:
            self._remember(document, draft, finding.message)
        return draft

    def _remember(self, document: Document, draft: Draft, message: str) -> None:
        """Keep a draft for the clusters after this one; of two that say the same none is kept."""
        key = (draft.fingerprint, message)
        if key in self._seen:
            self.new.pop(key, None)
        elif key not in self._places:
            self.new[key] = (document, draft)
        self._seen.add(key)

    def _before(self, document: Document | None, fingerprint: str, finding: Finding) -> Draft | None:
        """The draft of another rendering of the same template that says the same; None where a comment may differ."""
        key = (fingerprint, finding.message)
        if document is None or document.suppressions or key in self._seen:
            return None
        there, draft = self._places.get(key, (None, None))
        if there is None or draft is None or there is document or there.suppressions or there.origin != document.origin:
            return None
        told = [(r.message, r.object, r.path) for r in draft.related]
        return draft if told == [self._named(r.message, r.place) for r in finding.related] else None

    def _named(self, message: str, place: Place) -> tuple[str, str, str]:
        reference = self.reference(place)
        return message, reference.id if reference else "", str(place)

    def _related(self, message: str, place: Place) -> RelatedPlace:
        reference = self.reference(place)
        return RelatedPlace(message, place.location(), reference.id if reference else "", str(place))

    def _holders(self, finding: Finding) -> tuple[tuple[Object, str | None], ...]:
        """The objects whose annotations speak for the finding, with the path of the pod template in question."""
        found: list[tuple[Object, str | None]] = []
        holder = finding.place.object
        if isinstance(holder, Object):
            owner = self._owner(holder, finding.place, finding.workload)
            found.append((holder, owner.template_path if owner else None))
        if finding.workload is not None:
            workload = self._workload(finding.workload)
            if workload is not None and workload.object is not holder:
                found.append((workload.object, workload.template_path))
        return tuple(found)


def _rendered(place: Place) -> Document | None:
    """The document of a place where it was rendered from a template, else None."""
    holder = place.object
    document = holder.document if isinstance(holder, Object) else None
    return document if document is not None and document.origin is not None else None


def plain_reference(holder: Object, template: str | None = None) -> ObjectRef:
    """The name of an object as its metadata gives it."""
    metadata = holder.data.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = metadata.get("name") or metadata.get("generateName") or ""
    return ObjectRef(holder.kind, str(metadata.get("namespace") or ""), str(name), template)


def fingerprint_of(rule: str, reference: ObjectRef | None, finding: Finding) -> str:
    """Rule, object, path and salient value: it survives moved lines, moved files and reordered lists of named items."""
    value = finding.salient
    if not value:
        data = finding.place.value
        value = "" if isinstance(data, dict | list) or data is None else str(data)
    parts = [rule, "", "", stable_path(finding.place), value]
    if reference is not None:
        parts[1:3] = [reference.id, reference.template or ""]
    else:
        location = finding.place.location()
        parts[1] = location.uri if location else ""
    return digest(*parts)


def digest(*parts: str) -> str:
    """A fingerprint of texts: 32 hexadecimal digits."""
    from hashlib import sha256

    return sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def stable_path(place: Place) -> str:
    """The path with list items by `name`, `key` or `topologyKey` where they have one, else by position."""
    data = place.object.data
    parts: list[str] = []
    for step in place.path:
        if isinstance(step, int):
            item = data[step] if isinstance(data, list) and step < len(data) else None
            label = _label(item)
            parts.append(f"[{label}]" if label else f"[{step}]")
            data = item
        else:
            parts.append(render_path((step,)))
            data = data.get(step) if isinstance(data, Mapping) else None
    return "/".join(parts)


def _label(item: Any) -> str:
    if isinstance(item, Mapping):
        for key in ("name", "key", "topologyKey"):
            if isinstance(item.get(key), str):
                return f"{key}={item[key]}"
    return ""
