"""Pod affinity and anti-affinity of all workloads over Nodes and NodePools together (§5.4, §5.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from unpend.model.inventory import Inventory
from unpend.model.karpenter_labels import HOSTNAME
from unpend.placement.fixed import FixedNodes
from unpend.placement.karpenter.cells import (
    ONE_NODE,
    Cell,
    TooManyCellsError,
    cells_of,
    for_cells,
    spots,
    takes,
    topology_keys,
)
from unpend.placement.karpenter.decide import PoolAnswer
from unpend.placement.karpenter.universe import Universe
from unpend.placement.replicas.build import Candidate, Spot, build
from unpend.placement.replicas.fixed import Census
from unpend.placement.replicas.scenes import Scene, Stage, Wanted, spots_of
from unpend.placement.replicas.world import World
from unpend.placement.verdict import Obstacle
from unpend.records import replace
from unpend.settings import Settings

MOST_PAIRS = 400_000
"""Workloads × nodes and classes of nodes up to which they are counted together."""

Answers = Mapping[str, Sequence[PoolAnswer]]


class PoolCensus(Census):
    """One count of workloads on the Nodes, and on nodes that the NodePools could make."""

    def __init__(
        self,
        wanted: Sequence[Wanted],
        fixed: FixedNodes,
        inventory: Inventory,
        settings: Settings,
        answers: Answers,
        universe: Universe,
    ) -> None:
        """`answers` has those of all pools by workload id."""
        super().__init__(tuple(replace(want, pod=for_cells(want.pod)) for want in wanted), fixed, inventory, settings)
        self.answers = [{a.pool.number: a for a in answers[want.workload.id]} for want in wanted]
        self.universe = universe

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The classes of nodes of all pools over all keys in play."""
        keys = {key for want in self.wanted for key in topology_keys(want.pod) if key != ONE_NODE}
        for held in self.fixed.bound:
            keys.update(
                term.topology_key
                for occupant in held
                if occupant.pod is not None
                for term in occupant.pod.template.spec.affinity.anti_required
            )
        ordered = sorted(keys - {HOSTNAME})
        found: dict[int, tuple[Cell, ...]] = {}
        for own in self.answers:
            for answer in own.values():
                if answer.pool.number not in found and answer.verdict in ("fits", "conditional"):
                    found[answer.pool.number] = tuple(cells_of(answer, ordered, self.universe))
        return tuple(cell for number in sorted(found) for cell in found[number])

    @cached_property
    def vague(self) -> frozenset[int]:
        """The workloads that nodes with an unknown label may take."""
        return frozenset(
            index
            for index, (want, own) in enumerate(zip(self.wanted, self.answers, strict=True))
            if any(c.vague and c.pool in own and takes(c, own[c.pool], want.demand, surely=False) for c in self.cells)
        )

    def stage(self, scene: Scene) -> Stage:
        """The Nodes of a scene with all cells behind them."""
        found = self._stages.get(scene)
        if found is None:
            space = self._space(scene)
            volumes = [want.demand for want in self.wanted if want.demand.volumes]
            nodes = [_on_its_own(spot) for spot in spots_of(space, scene.optimistic, volumes)]
            takers = [
                tuple(
                    cell.pool in own and takes(cell, own[cell.pool], want.demand, surely=not scene.optimistic)
                    for want, own in zip(self.wanted, self.answers, strict=True)
                )
                for cell in self.cells
            ]
            new, accepted = spots(self.cells, takers)
            if (len(nodes) + len(new)) * len(self.wanted) > MOST_PAIRS:
                raise TooManyCellsError
            candidates = tuple(
                _with_cells(self._candidate(want, space, scene.optimistic), tuple(taken[index] for taken in accepted))
                for index, want in enumerate(self.wanted)
            )
            sitting = self._sitting(scene)
            world = build((*nodes, *new), candidates, sitting, self.namespaces)
            found = self._stages[scene] = Stage(space, (*nodes, *new), sitting, candidates, world)
        return found

    def _closed(self, index: int, world: World) -> Mapping[int, Obstacle]:
        """Not asked: that is about single Nodes."""
        return {}


def _on_its_own(spot: Spot) -> Spot:
    return replace(spot, labels={**spot.labels, ONE_NODE: spot.name})


def _with_cells(candidate: Candidate, taken: tuple[bool, ...]) -> Candidate:
    return Candidate(
        name=candidate.name,
        pod=candidate.pod,
        labels=candidate.labels,
        limit=candidate.limit,
        requests=candidate.requests,
        accepts=candidate.accepts + taken,
        affinity_accepts=candidate.affinity_accepts + taken,
        taints_accept=candidate.taints_accept + taken,
        claims=candidate.claims,
    )
