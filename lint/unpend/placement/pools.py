"""Nodes as pools: one verdict per Node, or one for all of them together where there are many."""

from __future__ import annotations

from collections.abc import Mapping

from unpend.model.node_labels import CAPACITY_TYPES, INSTANCE_TYPE, ZONE
from unpend.placement.demand import Demand
from unpend.placement.fixed import FixedNodes
from unpend.placement.scheduler import filters
from unpend.placement.space import Masks, Shape, Space
from unpend.placement.verdict import Answer, Cause, Fact, Obstacle, PoolVerdict, Verdict, Witness
from unpend.records import dataclass, field

ALL_NODES = "Nodes"
MOST_SHOWN = 20

TOLERATION_FACT = "extended-resource-toleration"
DAEMONSET_FACT = "daemonset-placement"
LEAVING_FACT = "terminating-pods"
PREEMPTION_FACT = "preemption"
CLAIMS_FACT = "resource-claims"

FACTS = {
    TOLERATION_FACT: "whether the control plane adds tolerations for extended resources (ExtendedResourceToleration)",
    DAEMONSET_FACT: "which of the DaemonSets run on nodes that cannot take all of them",
    PREEMPTION_FACT: "whether pods of lower priority may be evicted to make room",
    CLAIMS_FACT: "whether its resource claims can be allocated (dynamic resource allocation)",
}


@dataclass(slots=True)
class NodePools:
    """The Nodes of one inventory as pools; verdicts without anything of the pod in them are made once."""

    fixed: FixedNodes
    _accepting: dict[int, PoolVerdict] = field(default_factory=dict)
    _zones: dict[int, tuple[str, ...]] = field(default_factory=dict)
    _witnesses: dict[int, Witness] = field(default_factory=dict)

    @property
    def grouped(self) -> bool:
        """Whether the Nodes are shown together."""
        return self.fixed.given > MOST_SHOWN

    def zones(self, mask: int) -> tuple[str, ...]:
        """The zones of some Nodes, sorted."""
        if mask not in self._zones:
            self._zones[mask] = zones_of(self.fixed.space, mask)
        return self._zones[mask]

    def witness(self, mask: int) -> Witness | None:
        """The first of some Nodes as a witness; None when there is none."""
        number = (mask & -mask).bit_length() - 1
        if mask and number not in self._witnesses:
            shape = self.fixed.space.shapes[number]
            self._witnesses[number] = witness_of(shape, shape.source.owner)
        return self._witnesses[number] if mask else None

    def verdicts(
        self,
        demand: Demand,
        space: Space,
        accepted: Masks,
        preempting: int,
        conflict: tuple[Obstacle, ...],
        closed: Mapping[int, Obstacle],
    ) -> tuple[PoolVerdict, ...]:
        """Each Node, or all together.

        `preempting` are those that take the pod only after evictions, `closed` those that other pods keep it away from
        (they are not among the accepting ones).
        """
        if not self.fixed.given:
            return ()
        if self.grouped:
            only = (1 << self.fixed.given) - 1
            accepted = Masks(accepted.sure & only, accepted.possible & only)
            preempting &= only
            return (self._together(demand, space, accepted, preempting, conflict),)
        return tuple(
            self._single(demand, space, number, accepted, preempting, closed.get(number))
            for number in range(self.fixed.given)
        )

    def _single(
        self,
        demand: Demand,
        space: Space,
        number: int,
        accepted: Masks,
        preempting: int,
        closed: Obstacle | None,
    ) -> PoolVerdict:
        if accepted.sure >> number & 1:
            known = self._accepting.get(number)
            if known is None:
                known = self._accepting[number] = self._make(number, "fits", None, "yes")
            return known
        if (accepted.possible | preempting) >> number & 1:
            facts = facts_of(demand, space, 1 << number, preempting)
            found = filters.obstacles(demand, space, number)
            return self._make(number, "conditional", "unknown-fact", "unknown", found, facts)
        found = filters.obstacles(demand, space, number)
        if closed is not None:
            found = (*found, closed)
        return self._make(number, "never", found[0].cause if found else "unknown-fact", "no", found)

    def _make(
        self,
        number: int,
        verdict: Verdict,
        cause: Cause | None,
        says: Answer,
        obstacles: tuple[Obstacle, ...] = (),
        facts: tuple[Fact, ...] = (),
    ) -> PoolVerdict:
        space = self.fixed.space
        return PoolVerdict(
            pool=space.shapes[number].source.owner,
            verdict=verdict,
            cause=cause,
            zones=self.zones(1 << number),
            scheduler_says=says,
            obstacles=obstacles,
            facts=facts,
            place=self.fixed.nodes[number].place,
        )

    def _together(
        self, demand: Demand, space: Space, accepted: Masks, preempting: int, conflict: tuple[Obstacle, ...]
    ) -> PoolVerdict:
        if accepted.sure:
            zones = zones_of(space, accepted.sure)
            return PoolVerdict(ALL_NODES, "fits", None, zones=zones, scheduler_says="yes")
        possible = accepted.possible | preempting
        if possible:
            return PoolVerdict(
                ALL_NODES,
                "conditional",
                "unknown-fact",
                zones=zones_of(space, possible),
                scheduler_says="unknown",
                facts=facts_of(demand, space, possible, preempting),
            )
        cause = conflict[-1].cause if conflict else "unknown-fact"
        return PoolVerdict(ALL_NODES, "never", cause, scheduler_says="no", obstacles=conflict)


def facts_of(demand: Demand, space: Space, mask: int, preempting: int) -> tuple[Fact, ...]:
    """What decides on shapes that possibly, but not surely take the pod."""
    if demand.claims:
        return (Fact(CLAIMS_FACT, FACTS[CLAIMS_FACT], demand.spec_place.at("resourceClaims")),)
    if demand.volumes.facts:
        return demand.volumes.facts
    names = []
    certain = mask & ~preempting
    if demand.possible_tolerations and certain & ~space.tolerated(demand.tolerations):
        names.append(TOLERATION_FACT)
    tolerated = certain & space.tolerated(demand.tolerations)
    left = leaving_fact(demand, space, tolerated)
    if tolerated and (left is None or any(not space.shapes[number].leaving for number in space.bits(tolerated))):
        names.append(DAEMONSET_FACT)
    if mask & preempting:
        names.append(PREEMPTION_FACT)
    facts = tuple(Fact(name, FACTS[name], demand.spec_place) for name in names)
    return facts if left is None else (left, *facts)


def leaving_fact(demand: Demand, space: Space, mask: int) -> Fact | None:
    """That the pod waits for pods to be gone which are terminating on some shapes; None where there are none."""
    owners = [owner for number in space.bits(mask) for owner in space.shapes[number].leaving]
    if not owners:
        return None
    more = f" and {len(owners) - 3} more" if len(owners) > 3 else ""
    message = f"when the terminating pods are gone that still hold room ({', '.join(owners[:3])}{more})"
    return Fact(LEAVING_FACT, message, demand.spec_place)


def zones_of(space: Space, mask: int) -> tuple[str, ...]:
    """The zones of some shapes, sorted."""
    return tuple(sorted(zone for zone, bits in space.labels.values(ZONE).items() if bits & mask))


def witness_of(shape: Shape, pool: str) -> Witness:
    """A node that takes the pod."""

    def label(*keys: str) -> str | None:
        return next((v for key in keys if isinstance(v := shape.labels.get(key), str)), None)

    return Witness(pool, label(INSTANCE_TYPE), label(ZONE), label(*CAPACITY_TYPES), node=shape.name)
