"""What is wrong with the texts themselves, as drafts: broken YAML, duplicate keys, malformed suppressions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unpend.engine.drafts import Draft, digest, plain_reference
from unpend.engine.result import Notice
from unpend.source.document import Document, Object, Trouble
from unpend.source.place import Location, Position, Span, Step, render_path

_RULES = {
    "yaml-syntax": "yaml-syntax",
    "unreadable": "yaml-syntax",
    "suppression": "unused-suppression",
    "chart": "chart-not-rendered",
}
_TOP = Span(Position(0, 0), Position(0, 0))


def trouble_drafts(troubles: Iterable[Trouble]) -> list[Draft]:
    """A draft for every trouble that is more than a notice."""
    drafts = []
    for trouble in troubles:
        if trouble.kind == "notice":
            continue
        rule = _RULES[trouble.kind]
        drafts.append(
            Draft(
                rule=rule,
                severity=trouble.severity,
                message=trouble.message,
                location=Location(trouble.uri, trouble.document, trouble.span or _TOP),
                fingerprint=digest(rule, trouble.uri, trouble.message),
            )
        )
    return drafts


def notices(troubles: Iterable[Trouble]) -> list[Notice]:
    """The troubles that are notices only."""
    return [
        Notice(t.message, t.uri, "info" if t.severity == "info" else "warning") for t in troubles if t.kind == "notice"
    ]


def duplicate_key_drafts(documents: Iterable[Document], objects: Sequence[Object]) -> list[Draft]:
    """A draft for every key that is written twice in an object; documents that are no objects are not ours to judge."""
    doubled = [d for d in documents if d.duplicate_keys]
    if not doubled:
        return []
    by_document: dict[int, list[Object]] = {}
    for item in objects:
        by_document.setdefault(id(item.document), []).append(item)
    drafts = []
    for document in doubled:
        inside = by_document.get(id(document))
        if not inside:
            continue
        for path, span in document.duplicate_keys:
            holder = next((o for o in inside if path[: len(o.prefix)] == o.prefix), None)
            inner: tuple[Step, ...] = path[len(holder.prefix) :] if holder else path
            reference = plain_reference(holder) if holder else None
            drafts.append(
                Draft(
                    rule="yaml-syntax",
                    severity="error",
                    message=f"the key '{path[-1]}' is written twice in one mapping: kubectl refuses that, other tools "
                    "take the last one without a word; keep one of them",
                    location=Location(document.uri, document.index, span, document.origin_at(span.start.line)),
                    object=reference,
                    path=render_path(inner),
                    holders=((holder, None),) if holder else (),
                    fingerprint=digest("yaml-syntax", reference.id if reference else "", render_path(inner)),
                )
            )
    return drafts
