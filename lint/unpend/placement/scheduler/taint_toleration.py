"""TaintToleration: every NoSchedule and NoExecute taint needs a toleration (P-401 to P-408)."""

from __future__ import annotations

from unpend.algebra.taints import untolerated
from unpend.model.pod import Taint, Toleration
from unpend.placement.demand import Demand
from unpend.placement.space import Masks, Shape, Space
from unpend.placement.verdict import Against, Obstacle


def accepts(demand: Demand, space: Space) -> Masks:
    """The shapes that the plugin lets pass; possibly also those for which admission adds the toleration (A-233)."""
    sure = space.tolerated(demand.tolerations)
    if not demand.possible_tolerations or sure == space.everything:
        return Masks(sure, sure)
    return Masks(sure, space.tolerated(demand.tolerations + demand.possible_tolerations))


def refused_taints(demand: Demand, shape: Shape) -> tuple[Taint, ...]:
    """The taints of one shape that no toleration covers."""
    return untolerated(demand.tolerations, shape.taints)


def spelled(taint: Taint) -> str:
    """`key=value:Effect`, as kubectl writes it."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def obstacles(demand: Demand, shape: Shape) -> list[Obstacle]:
    """Why it refuses one shape, one obstacle per taint; empty when it does not."""
    return [obstacle(demand, shape, taint) for taint in refused_taints(demand, shape)]


def obstacle(demand: Demand, shape: Shape, taint: Taint) -> Obstacle:
    """The obstacle of one taint; it points at the toleration that comes nearest, where there is one."""
    near = nearest_toleration(demand.tolerations, taint)
    event = f"node(s) had untolerated taint {{{taint.key}: {taint.value}}}"
    owner = shape.source.owner
    if near is None:
        return Obstacle(
            constraint="toleration",
            message=f"{owner} has the taint {spelled(taint)} and no toleration of the pod covers it ({event})",
            semantics="scheduler:P-402",
            place=demand.tolerations_place,
            against=Against(owner, taint.place),
            cause="taint",
            taint=taint,
        )
    toleration, index, semantics, reason = near
    return Obstacle(
        constraint="toleration",
        message=f"{owner} has the taint {spelled(taint)}; toleration {index + 1} of the pod {reason} ({event})",
        semantics=semantics,
        place=toleration.place,
        against=Against(owner, taint.place),
        cause="taint",
        taint=taint,
    )


def nearest_toleration(tolerations: tuple[Toleration, ...], taint: Taint) -> tuple[Toleration, int, str, str] | None:
    """The toleration that is meant for the taint and misses it: with its number, the rule, and what it does instead."""
    found: tuple[Toleration, int, str, str] | None = None
    for index, toleration in enumerate(tolerations):
        if toleration.key != taint.key:
            continue
        same_effect = toleration.effect in ("", taint.effect)
        if same_effect:
            reason = f"tolerates the value {toleration.value!r}, not {taint.value!r}"
            if toleration.operator not in ("", "Equal"):
                reason = f"has the operator {toleration.operator!r}, which covers nothing here"
            return toleration, index, "scheduler:P-407", reason
        if found is None:
            found = toleration, index, "scheduler:P-408", f"covers only the effect {toleration.effect}"
    return found
