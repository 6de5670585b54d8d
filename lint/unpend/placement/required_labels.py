"""The node labels that a pod cannot do without: what label rules look up among the pools."""

from __future__ import annotations

from collections.abc import Iterator

from unpend.model.pod import PodSpec
from unpend.records import dataclass, field
from unpend.source.place import Place

POSITIVE = ("In", "Exists", "Gt", "Lt")
"""Operators that a node without the label never satisfies (P-507)."""


@dataclass(frozen=True, slots=True)
class NeededLabel:
    """A label that some alternative needs; `place` is where its key stands, `value_place` its only value."""

    key: str
    values: tuple[str, ...]
    in_every_term: bool
    place: Place = field(compare=False)
    value_place: Place | None = field(default=None, compare=False)


def required_labels(spec: PodSpec) -> Iterator[NeededLabel]:
    """nodeSelector entries, and the positive expressions of required node affinity terms, in the order of the text."""
    for label in spec.node_selector:
        yield NeededLabel(label.key, (label.value,), True, label.place, label.place)
    terms = spec.affinity.required or ()
    for term in terms:
        for expression in term.expressions:
            if expression.operator not in POSITIVE:
                continue
            everywhere = all(
                any(e.key == expression.key and e.operator in POSITIVE for e in other.expressions) for other in terms
            )
            values = expression.values if expression.operator == "In" else ()
            only = expression.place.at("values", 0) if len(values) == 1 else None
            yield NeededLabel(expression.key, values, everywhere, expression.place.at("key"), only)
