"""A DaemonSet against the nodes of groups that may be empty; it never brings a node itself (C-105)."""

from __future__ import annotations

from collections.abc import Sequence

from unpend.placement.cluster_autoscaler.groups import Group
from unpend.placement.conflict import conflict
from unpend.placement.demand import Demand
from unpend.placement.scheduler import filters, node_affinity
from unpend.placement.space import Space
from unpend.placement.verdict import Cause, Fact, Obstacle, PoolVerdict, Verdict, WorkloadVerdict, worst_certainty
from unpend.records import replace


def daemon_on_group(group: Group, demand: Demand) -> PoolVerdict | None:
    """What becomes of a DaemonSet pod on nodes of a group; None when it does not select them.

    Groups of which nodes are there already are counted among the nodes.
    """
    if group.standing or group.unusable is not None:
        return None
    space = Space(group.views.actual(group.group))
    selected = node_affinity.accepts(demand, space).possible & space.tolerated(demand.tolerations)
    if not selected:
        return None
    accepted = filters.ask(demand, space).accepted
    sure = "taints" not in group.group.hidden and selected == space.everything == accepted.sure
    verdict: Verdict = "fits" if sure else "conditional" if accepted.possible else "never"
    cause: Cause | None = None
    obstacles: tuple[Obstacle, ...] = ()
    facts: tuple[Fact, ...] = ()
    if verdict == "never":
        # It is put on every node that it selects and tolerates, so only room can be missing.
        obstacles = conflict(demand, space)
        cause = obstacles[-1].cause if obstacles else "resources"
    elif verdict == "conditional":
        cause, facts = "unknown-fact", group.doubts() or (_differs(group),)
    return PoolVerdict(
        pool=group.name,
        verdict=verdict,
        cause=cause,
        types=group.types,
        scheduler_says="yes" if sure else "no" if verdict == "never" else "unknown",
        obstacles=obstacles,
        facts=facts,
        certainty="catalog",
        place=group.group.place,
    )


def _differs(group: Group) -> Fact:
    return Fact("launch-choice", f"which node {group.name} gets: its nodes differ", group.group.place)


def with_groups(verdict: WorkloadVerdict, demand: Demand, groups: Sequence[Group]) -> WorkloadVerdict:
    """The verdict of a DaemonSet on nodes and pools, with the groups whose nodes it selects."""
    found = tuple(v for group in groups if (v := daemon_on_group(group, demand)) is not None)
    if not found or verdict.cause in ("rejected", "not-looked-at"):
        return verdict
    asked = {one.verdict for one in found} | ({verdict.verdict} - {"skipped"})
    joined: Verdict = next(iter(asked)) if len(asked) == 1 else "conditional"
    causes = [cause for cause in (verdict.cause, *(one.cause for one in found)) if cause is not None]
    facts = tuple(dict.fromkeys((*verdict.facts, *(fact for one in found for fact in one.facts))))
    return replace(
        verdict,
        verdict=joined,
        cause=None if joined == "fits" else causes[0] if causes else "unknown-fact",
        certainty=worst_certainty((verdict.certainty, *(one.certainty for one in found))),
        pools=(*verdict.pools, *found),
        conflict=verdict.conflict or tuple(dict.fromkeys(o for one in found for o in one.obstacles)),
        facts=facts if joined == "conditional" else (),
    )
