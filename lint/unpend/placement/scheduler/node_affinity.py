"""NodeAffinity: nodeSelector and required node affinity (P-501 to P-512)."""

from __future__ import annotations

from unpend.algebra.values import ValueSet
from unpend.placement.demand import Alternative, Demand, NameField, Written, is_integer
from unpend.placement.space import Masks, Shape, Space
from unpend.placement.verdict import Against, Obstacle

EVENT = "node(s) didn't match Pod's node affinity/selector"


def accepts(demand: Demand, space: Space) -> Masks:
    """The shapes that the plugin lets pass: those that some alternative takes."""
    total = Masks(0, 0)
    for alternative in demand.alternatives:
        total = total.either(accepts_alternative(alternative, space))
    return total


def accepts_alternative(alternative: Alternative, space: Space) -> Masks:
    """The shapes that meet everything that one alternative asks."""
    memo = space.memo.get(alternative.key)
    if memo is not None:
        return memo
    masks = Masks(0, 0) if alternative.broken else _accepts(alternative, space)
    space.memo[alternative.key] = masks
    return masks


def _accepts(alternative: Alternative, space: Space) -> Masks:
    masks = Masks(space.everything, space.everything)
    for key, wanted in alternative.folded.items():
        answer = space.labels.ask(key, wanted)
        for value, bits in space.labels.odd(key).items():
            take = bits if all(admits_text(w, value) for w in alternative.written if w.key == key) else 0
            answer = Masks(answer.sure & ~bits | take, answer.possible & ~bits | take)
        masks = masks.both(answer)
    for name in alternative.names:
        mask = accepts_name(name, space)
        masks = masks.both(Masks(mask, mask))
    return masks


def accepts_name(name: NameField, space: Space) -> int:
    """The shapes that meet one requirement on the name of the node (P-510)."""
    named = space.named(name.name)
    return named if name.equal else space.everything & ~named


def admits_text(written: Written, value: str) -> bool:
    """Whether one constraint admits a node label that is no legal label value, read as Go reads it (P-507)."""
    if written.operator not in ("Gt", "Lt"):
        return written.values.admits(value)
    if not (written.texts and is_integer(written.texts[0]) and is_integer(value)):
        return False
    number, bound = int(value), int(written.texts[0])
    return number > bound if written.operator == "Gt" else number < bound


def refusals(alternative: Alternative, shape: Shape) -> list[Written | NameField]:
    """The constraints of one alternative that surely refuse a shape, as written; empty for an accepted one.

    When only several together refuse it (the label is not known exactly), all on that key are given.
    """
    refused: list[Written | NameField] = [w for w in alternative.written if not _admits(w, shape.labels.get(w.key))]
    seen = {w.key for w in refused if isinstance(w, Written)}
    for key, wanted in alternative.folded.items():
        known = shape.labels.get(key)
        if key not in seen and isinstance(known, ValueSet) and known.relation(wanted) == "never":
            refused.extend(w for w in alternative.written if w.key == key)
    refused.extend(name for name in alternative.names if not name.admits(shape.name))
    return refused


def _admits(written: Written, known: str | ValueSet | None) -> bool:
    if isinstance(known, ValueSet):
        return known.relation(written.values) != "never"
    return admits_text(written, known) if known is not None else written.values.admits(None)


def obstacles(demand: Demand, shape: Shape) -> list[Obstacle]:
    """Why it refuses one shape; empty when it does not.

    With several terms the pod needs only one of them: then the first refusing constraint of each term is given.
    """
    if not demand.alternatives:
        return [_no_terms(demand, shape)]
    found: list[Obstacle] = []
    for alternative in demand.alternatives:
        refused = refusals(alternative, shape)
        if alternative.broken:
            # nodeSelector is checked on its own: what it refuses is named even when the term can match nothing.
            refused = [r for r in refused if isinstance(r, Written) and r.kind == "nodeSelector"]
            found.extend(obstacle(r, shape) for r in refused)
            found.append(_broken(alternative, shape))
            continue
        if not refused:
            return []
        single = len(demand.alternatives) == 1
        found.extend(obstacle(r, shape) for r in (refused if single else refused[:1]))
    return found if len(demand.alternatives) == 1 else list(dict.fromkeys(found))


def obstacle(refused: Written | NameField, shape: Shape) -> Obstacle:
    """The obstacle of one constraint against one shape."""
    owner = shape.source.owner
    if isinstance(refused, NameField):
        words = "is" if refused.equal else "is not"
        return Obstacle(
            constraint="nodeAffinity",
            message=f"the pod only runs where the name of the node {words} {refused.name!r}; this is {owner} ({EVENT})",
            semantics="scheduler:P-510",
            place=refused.place,
            against=Against(owner, shape.source.name()),
            cause="labels",
        )
    known = shape.labels.get(refused.key)
    if known is None:
        has = f"{owner} has no label {refused.key}"
    elif isinstance(known, str):
        has = f"{owner} has {refused.key}={known}"
    else:
        has = f"{owner} has for {refused.key} {known}"
    return Obstacle(
        constraint=refused.kind,
        message=f"{refused.kind} wants {refused.text}; {has} ({EVENT})",
        semantics=_semantics(refused),
        place=refused.place,
        against=Against(owner, shape.source.label(refused.key)),
        cause="labels",
    )


def _semantics(written: Written) -> str:
    if written.kind == "nodeSelector":
        return "scheduler:P-502"
    return "scheduler:P-508" if written.operator in ("Gt", "Lt") else "scheduler:P-507"


def _broken(alternative: Alternative, shape: Shape) -> Obstacle:
    empty = not alternative.names and all(w.kind == "nodeSelector" for w in alternative.written)
    return Obstacle(
        constraint="nodeAffinity",
        message=f"a required node affinity term matches no node: {alternative.broken} ({EVENT})",
        semantics="scheduler:P-505" if empty else "scheduler:P-506",
        place=alternative.term,
        against=Against(shape.source.owner, shape.source.label("")),
        cause="labels",
    )


def _no_terms(demand: Demand, shape: Shape) -> Obstacle:
    return Obstacle(
        constraint="nodeAffinity",
        message=f"required node affinity has no terms, so that it matches no node ({EVENT})",
        semantics="scheduler:P-505",
        place=demand.affinity,
        against=Against(shape.source.owner, shape.source.label("")),
        cause="labels",
    )
