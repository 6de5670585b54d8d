"""A DaemonSet against every NodePool whose nodes it selects and tolerates (`I-2`; it never brings a node itself)."""

from __future__ import annotations

from unpend.algebra.taints import untolerated
from unpend.placement.conflict import conflict
from unpend.placement.demand import Demand
from unpend.placement.karpenter.pool import ManagedPool
from unpend.placement.karpenter.space import PoolSpace
from unpend.placement.scheduler import node_affinity
from unpend.placement.verdict import Answer, Cause, Obstacle, PoolVerdict, Verdict


def daemon_on_pool(pool: ManagedPool, demand: Demand) -> PoolVerdict | None:
    """What becomes of a DaemonSet pod on nodes of a pool; None when it does not select them, or they cannot be told.

    Types on which the pod does not fit are never launched where Karpenter counts it, so that one type that takes it is
    enough.
    """
    space = pool.space
    if space is None or pool.grid is None or pool.unusable is not None:
        return None
    if untolerated(demand.tolerations + demand.possible_tolerations, pool.staying_taints, ("NoSchedule", "NoExecute")):
        return None
    alone = PoolSpace(
        pool.grid,
        pool.base.possible,
        space.labels.over(pool.base.possible),
        space.pool_taints,
        (space.total, space.total, space.total),
        (),
        pool.source,
    )
    selected = node_affinity.accepts(demand, alone)
    if not selected.possible:
        return None
    room = selected.both(alone.room(demand.requests))
    verdict: Verdict = "fits"
    cause: Cause | None = None
    obstacles: tuple[Obstacle, ...] = ()
    says: Answer = "yes"
    if not room.possible:
        obstacles = conflict(demand, alone)
        verdict, cause, says = "never", "resources", "no"
    elif not selected.sure:
        verdict, cause, says = "conditional", "unknown-fact", "unknown"
    mask = room.possible
    return PoolVerdict(
        pool=pool.name,
        verdict=verdict,
        cause=cause,
        types=pool.grid.collapse(mask).bit_count(),
        zones=tuple(sorted({z for g, _ in pool.grid.groups_of(mask) if (z := g.zone or g.zone_id)})),
        scheduler_says=says,
        obstacles=obstacles,
        certainty="catalog",
        place=pool.pool.place,
    )


def together(verdicts: tuple[Verdict, ...]) -> Verdict:
    """The verdict over Nodes and pools: none selected is skipped, all alike that one, else conditional."""
    asked = [verdict for verdict in verdicts if verdict != "skipped"]
    if not asked:
        return "skipped"
    return asked[0] if len(set(asked)) == 1 else "conditional"
