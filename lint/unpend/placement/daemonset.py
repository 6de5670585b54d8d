"""A DaemonSet against every node that its controller chooses for it (S-1621 to S-1625; DESIGN §3)."""

from __future__ import annotations

from typing import NamedTuple

from unpend.placement.fixed import Daemon, FixedNodes
from unpend.placement.pools import ALL_NODES, MOST_SHOWN, facts_of, zones_of
from unpend.placement.scheduler import filters
from unpend.placement.space import Masks
from unpend.placement.verdict import Cause, Obstacle, PoolVerdict, Verdict


class DaemonOutcome(NamedTuple):
    """The verdict of a DaemonSet: `sure` and `possible` count the selected nodes that take it."""

    verdict: Verdict
    cause: Cause | None
    selected: int
    sure: int
    possible: int
    accepted: Masks
    conflict: tuple[Obstacle, ...]
    pools: tuple[PoolVerdict, ...]


def evaluate_daemon(daemon: Daemon, fixed: FixedNodes) -> DaemonOutcome:
    """Over the nodes that it selects and tolerates: none skipped, fits on all fits, on none never, else conditional."""
    possible = daemon.selected & ~daemon.refused
    sure = possible & ~daemon.unsure
    conflict: tuple[Obstacle, ...] = ()
    if daemon.refused:
        number = next(iter(fixed.bare.bits(daemon.refused)))
        conflict = filters.obstacles(daemon.demand, fixed.bare, number)
    verdict: Verdict
    cause: Cause | None = None
    if not daemon.selected:
        verdict = "skipped"
    elif sure == daemon.selected:
        verdict = "fits"
    elif not possible:
        verdict, cause = "never", conflict[0].cause if conflict else "resources"
    else:
        verdict, cause = "conditional", conflict[0].cause if conflict else "unknown-fact"
    return DaemonOutcome(
        verdict,
        cause,
        daemon.selected.bit_count(),
        sure.bit_count(),
        possible.bit_count(),
        Masks(sure, possible),
        conflict,
        _pools(daemon, fixed, verdict, cause, conflict),
    )


def _pools(
    daemon: Daemon, fixed: FixedNodes, verdict: Verdict, cause: Cause | None, conflict: tuple[Obstacle, ...]
) -> tuple[PoolVerdict, ...]:
    space = fixed.bare
    if not space.shapes:
        return ()
    if len(space.shapes) > MOST_SHOWN:
        zones = zones_of(space, daemon.selected)
        return (PoolVerdict(ALL_NODES, verdict, cause, zones=zones, obstacles=conflict),)
    # Nodes of a node group are alike: the first speaks for all.
    shown: dict[str, int] = {}
    for number, shape in enumerate(space.shapes):
        shown.setdefault(shape.source.owner, number)
    return tuple(_single(daemon, fixed, number) for number in shown.values())


def _single(daemon: Daemon, fixed: FixedNodes, number: int) -> PoolVerdict:
    shape = fixed.bare.shapes[number]
    bit = 1 << number
    pool, place, zones = shape.source.owner, fixed.nodes[number].place, zones_of(fixed.bare, bit)
    if not daemon.selected & bit:
        skip = filters.obstacles(daemon.demand, fixed.bare, number)
        return PoolVerdict(pool, "skipped", None, zones=zones, obstacles=skip, place=place)
    if daemon.refused & bit:
        found = filters.obstacles(daemon.demand, fixed.bare, number)
        cause: Cause = found[0].cause if found else "resources"
        return PoolVerdict(pool, "never", cause, zones=zones, scheduler_says="no", obstacles=found, place=place)
    if daemon.unsure & bit:
        facts = facts_of(daemon.demand, fixed.bare, bit, 0)
        return PoolVerdict(pool, "conditional", "unknown-fact", zones=zones, facts=facts, place=place)
    return PoolVerdict(pool, "fits", None, zones=zones, scheduler_says="yes", place=place)
