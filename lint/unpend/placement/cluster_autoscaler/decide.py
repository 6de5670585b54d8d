"""One pod against one node group: Cluster Autoscaler and kube-scheduler put together (DESIGN table P0 to P12)."""

from __future__ import annotations

from unpend.model.pod import EffectivePod
from unpend.placement.cluster_autoscaler.flags import Flags
from unpend.placement.cluster_autoscaler.groups import Group
from unpend.placement.cluster_autoscaler.words import not_scaled, refused_by_autoscaler
from unpend.placement.conflict import conflict
from unpend.placement.demand import Demand
from unpend.placement.scheduler import filters
from unpend.placement.space import Masks
from unpend.placement.verdict import Answer, Cause, Certainty, Fact, Obstacle, Verdict
from unpend.records import dataclass, replace
from unpend.source.place import Place


@dataclass(frozen=True)
class GroupAnswer:
    """What both sides say of one pod and one group.

    `accepted` are the nodes, of all that the group can have, that kube-scheduler takes. `autoscaler` says whether
    Cluster Autoscaler adds a node for the pod. `standing` is set when nodes that are surely there take it.
    """

    group: Group
    demand: Demand
    verdict: Verdict
    cause: Cause | None
    accepted: Masks = Masks(0, 0)
    autoscaler: Answer | None = None
    scheduler: Answer = "unknown"
    standing: bool = False
    facts: tuple[Fact, ...] = ()
    settled: tuple[Obstacle, ...] = ()
    certainty: Certainty = "catalog"

    @property
    def launches(self) -> bool:
        """Whether Cluster Autoscaler surely adds a node for the pod."""
        return self.autoscaler == "yes"

    def why(self) -> Cause | None:
        """The cause of the verdict; of a refusal it is the last of its reasons, looked for when somebody asks."""
        if self.verdict != "never" or self.cause is not None:
            return self.cause
        reasons = conflict(self.demand, self.group.actual)
        return reasons[-1].cause if reasons else "labels"

    def obstacles(self) -> tuple[Obstacle, ...]:
        """Everything that stands between the pod and the group: the scheduler's reasons, then the autoscaler's."""
        if self.verdict == "fits" or self.settled:
            return self.settled
        found: list[Obstacle] = []
        if not self.accepted.possible:
            found.extend(conflict(self.demand, self.group.actual))
        if self.autoscaler == "no" and self.group.scaler == "cluster-autoscaler":
            found.extend(refused_by_autoscaler(self.demand, self.group))
        return tuple(found)


def answer(group: Group, demand: Demand, pod: EffectivePod, flags: Flags) -> GroupAnswer:
    """One pod against one group."""
    blank = GroupAnswer(group, demand, "never", None)
    if group.unusable is not None:
        return replace(
            blank, cause="pool-unusable", settled=(group.unusable,), scheduler="no", autoscaler="no", certainty="proved"
        )
    space = group.actual
    accepted = filters.ask(demand, space).accepted
    if "taints" in group.group.hidden or group.group.unknown("taints") is not None:
        accepted = Masks(0, accepted.possible)
    blank = replace(blank, accepted=accepted, autoscaler=_autoscaler(group, demand, pod, flags, accepted))
    return _composed(blank, space.everything)


def _composed(found: GroupAnswer, everything: int) -> GroupAnswer:
    group, accepted = found.group, found.accepted
    every = accepted.sure == everything
    found = replace(found, scheduler="yes" if every else "no" if not accepted.possible else "unknown")
    if not accepted.possible:
        if found.launches:
            return replace(found, verdict="loop", cause="scheduler-refuses")
        return found
    standing = group.standing > 0
    if every and standing:
        return replace(found, verdict="fits", standing=True)
    if not group.grows:
        return replace(found, verdict="conditional", cause="unknown-fact", facts=_facts(found, everything))
    if found.autoscaler == "no" and not standing:
        fact = Fact(
            "existing-node",
            f"whether {group.name} has a node: Cluster Autoscaler adds none for this pod",
            group.group.place,
        )
        return replace(found, verdict="conditional", cause="existing-node", facts=(fact,))
    if found.launches and every:
        return replace(found, verdict="fits")
    if found.launches and accepted.possible != everything:
        fact = Fact("launch-choice", f"which node {group.name} gets: {_choice(group)}", _choice_place(group))
        return replace(found, verdict="conditional", cause="launch-choice", facts=(fact,))
    return replace(found, verdict="conditional", cause="unknown-fact", facts=_facts(found, everything))


def _choice(group: Group) -> str:
    parts = []
    if group.types > 1:
        parts.append("AWS chooses among its instance types, Cluster Autoscaler reckons with the first")
    if group.group.several_zones:
        parts.append("the cloud chooses the zone, Cluster Autoscaler reckons with the first")
    return "; ".join(parts) or "its nodes differ"


def _choice_place(group: Group) -> Place:
    return group.source.resource("cpu") if group.types > 1 else group.group.zones_place or group.group.place


def _facts(found: GroupAnswer, everything: int) -> tuple[Fact, ...]:
    group = found.group
    facts: list[Fact] = []
    if group.scaler == "unknown" and not group.standing:
        facts.append(group.scaling_fact())
    if found.accepted.sure != everything:
        facts.extend(group.doubts())
    return tuple(facts) or (Fact("node-labels", f"what the nodes of {group.name} have", group.group.place),)


def _autoscaler(group: Group, demand: Demand, pod: EffectivePod, flags: Flags, accepted: Masks) -> Answer | None:
    """Whether Cluster Autoscaler adds a node of this group for the pod (C-301 to C-303); None when it has no say."""
    if group.scaler == "none" or not group.grows:
        return None
    if not_scaled(demand, pod, flags) is not None:
        return "no"
    if group.group.size.starts_empty and not flags.from_zero:
        return "no"
    surely, possibly = True, False
    for space in group.planned:
        masks = filters.ask(demand, space).accepted
        surely = surely and bool(space.everything) and masks.sure == space.everything
        possibly = possibly or bool(masks.possible)
    if group.scaler == "unknown":
        return "unknown" if possibly or accepted.possible else "no"
    if group.most is None and surely:
        return "unknown"
    return "yes" if surely else "unknown" if possibly else "no"
