"""Constraints of one pod that exclude each other, whatever the nodes look like (P-505, P-506, P-510, P-514)."""

from __future__ import annotations

from collections.abc import Iterator

from unpend.algebra.values import anything
from unpend.placement.demand import Alternative, Demand, NameField, Written
from unpend.records import dataclass
from unpend.source.place import Place


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Why an alternative can match no node: a sentence, the place to point at, and the places that take part."""

    message: str
    place: Place
    others: tuple[tuple[str, Place], ...] = ()


def of_alternative(alternative: Alternative) -> Contradiction | None:
    """Why no node whatever can match this alternative, None when some node could."""
    if alternative.broken and alternative.term is not None:
        return Contradiction(f"{alternative.broken}, so it matches no node", alternative.term)
    for key, values in alternative.folded.items():
        if values.is_impossible:
            clash = _smallest_clash([w for w in alternative.written if w.key == key])
            last = clash[-1]
            if len(clash) == 1:
                return Contradiction(f"no label value satisfies {last.text}", last.place)
            texts = " and ".join(w.text for w in clash)
            others = tuple((f"{w.text} is asked for here", w.place) for w in clash[:-1])
            return Contradiction(f"{texts} exclude each other", last.place, others)
    clashing = _clashing_names(alternative.names)
    if clashing is not None:
        first, second = clashing
        return Contradiction(
            f"no node is named {first.name!r} and "
            + (f"{second.name!r}" if second.equal else f"not {second.name!r}")
            + " at once",
            second.place,
            (("the other name is asked for here", first.place),),
        )
    return None


def dead_alternatives(demand: Demand) -> Iterator[tuple[Alternative, Contradiction]]:
    """The alternatives of a pod that can match no node whatever, each with the reason."""
    for alternative in demand.alternatives:
        found = of_alternative(alternative)
        if found is not None:
            yield alternative, found


def _smallest_clash(written: list[Written]) -> list[Written]:
    """A minimal part of the constraints that is already impossible: deletion from the front, so later text is kept."""
    kept = list(written)
    for candidate in written:
        rest = [w for w in kept if w is not candidate]
        together = anything()
        for constraint in rest:
            together = together.meet(constraint.values)
        if rest and together.is_impossible:
            kept = rest
    return kept


def _clashing_names(names: tuple[NameField, ...]) -> tuple[NameField, NameField] | None:
    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            if first.equal and not second.admits(first.name):
                return first, second
            if second.equal and not first.admits(second.name):
                return second, first
    return None
