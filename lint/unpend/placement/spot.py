"""How much spot capacity is left to each workload after its own constraints and those of the pools that take it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from unpend.model.inventory import Workload
from unpend.model.karpenter import NodePool
from unpend.model.node_labels import CAPACITY_TYPE, CAPACITY_TYPES
from unpend.placement.demand import demand_of
from unpend.placement.domains import takes
from unpend.placement.facts import managed_pools_of
from unpend.placement.given import FactsLike
from unpend.placement.verdict import WorkloadVerdict
from unpend.records import dataclass, field
from unpend.source.place import Place

if TYPE_CHECKING:
    from unpend.placement.karpenter.decide import Decider, PoolAnswer

SPOT = "spot"


@dataclass(frozen=True, slots=True)
class SpotChoice:
    """A workload whose pods may land on spot nodes.

    `pools` are the pools that make such nodes for it. `zones` has the instance types per zone that Karpenter chooses
    from, by zone name or ID; empty for node groups and Nodes alone. `wide` is the number of spot types that the pools
    have without the constraints of the pod. `on_demand` says that other capacity takes the pods too, `chosen` is where
    the pod itself asks for spot or tolerates a taint of that name.
    """

    workload: Workload
    verdict: WorkloadVerdict
    pools: tuple[str, ...]
    node_pools: tuple[NodePool, ...]
    zones: Mapping[str, frozenset[str]]
    wide: int
    zones_known: bool
    on_demand: bool
    chosen: Place | None = field(compare=False)

    @property
    def types(self) -> frozenset[str]:
        """All instance types."""
        return frozenset().union(*self.zones.values())

    @property
    def families(self) -> frozenset[str]:
        """The families of the types, such as `m5`; empty where names tell none."""
        return frozenset(name.split(".")[0] for name in self.types if "." in name)

    @property
    def fewest(self) -> tuple[str, int] | None:
        """The zone with the fewest types and their number."""
        counts = [(len(types), zone) for zone, types in self.zones.items()]
        return (min(counts)[1], min(counts)[0]) if counts else None


class SpotBook:
    """The spot capacity of all workloads of a run."""

    def __init__(self, facts: FactsLike) -> None:
        self.facts = facts
        self.inventory = facts.inventory
        self.groups = {group.id: group for group in facts.inventory.node_groups}
        self.nodes = {f"Node/{node.name}": node for node in facts.inventory.nodes}
        self.pools = {f"NodePool/{pool.name}": pool for pool in facts.inventory.node_pools}
        self._decider: Decider | None = None
        self._own: dict[str, frozenset[str]] = {}
        self._left: dict[tuple[str, int], tuple[Mapping[str, frozenset[str]], bool]] = {}
        self._joined: dict[tuple[tuple[str, int], ...], Mapping[str, frozenset[str]]] = {}

    def choices(self) -> Iterator[SpotChoice]:
        """The workloads that may land on spot nodes, in reading order."""
        if not any(_may_be_spot(pool) for pool in self.inventory.node_pools) and not any(
            SPOT in group.capacity_types for group in self.inventory.node_groups
        ):
            return
        for workload in self.inventory.workloads:
            verdict = self.facts.verdicts.get(workload.id)
            if workload.kind == "DaemonSet" or verdict is None or verdict.verdict in ("skipped", "never", "loop"):
                continue
            choice = self._choice(workload, verdict)
            if choice is not None:
                yield choice

    def _choice(self, workload: Workload, verdict: WorkloadVerdict) -> SpotChoice | None:
        taking = [pool.pool for pool in verdict.pools if takes(pool)]
        pools: list[str] = []
        on_demand = False
        keys: list[tuple[str, int]] = []
        wide: frozenset[str] = frozenset()
        zones_known = True
        answers = self._answers(workload, taking)
        for name in taking:
            answer = answers.get(name)
            if answer is not None and answer.pool.grid is not None:
                found, other = self._of(name, answer)
                on_demand = on_demand or other
                keys.append((name, answer.taken))
                if found:
                    pools.append(name)
                    if name not in self._own:
                        self._own[name] = frozenset(_own_types(answer))
                    wide |= self._own[name]
                    zones_known = zones_known and not answer.pool.candidates
            elif name in self.groups:
                kinds = self.groups[name].capacity_types
                on_demand = on_demand or any(kind != SPOT for kind in kinds)
                if SPOT in kinds:
                    pools.append(name)
            elif name not in self.pools:
                node = self.nodes.get(name)
                labels = node.labels if node is not None else {}
                is_spot = any(key in labels and labels[key].value.lower() == SPOT for key in CAPACITY_TYPES)
                on_demand = on_demand or not is_spot
            else:
                # A pool of unknown shapes: it may be either.
                on_demand = True
        if not pools:
            return None
        return SpotChoice(
            workload,
            verdict,
            tuple(pools),
            tuple(self.pools[name] for name in pools if name in self.pools),
            self._zones(tuple(keys)),
            len(wide),
            zones_known,
            on_demand,
            self._chosen(workload),
        )

    def _of(self, name: str, answer: PoolAnswer) -> tuple[Mapping[str, frozenset[str]], bool]:
        """The spot types of an answer by zone, and whether it has others; most pods of a run get the same answers."""
        key = (name, answer.taken)
        if key not in self._left:
            types = {zone: frozenset(found) for zone, found in _spot_types(answer).items()}
            self._left[key] = (types, _has_other(answer))
        return self._left[key]

    def _zones(self, keys: tuple[tuple[str, int], ...]) -> Mapping[str, frozenset[str]]:
        """The types of several answers by zone."""
        if keys not in self._joined:
            zones: dict[str, frozenset[str]] = {}
            for key in keys:
                for zone, types in self._left[key][0].items():
                    zones[zone] = zones.get(zone, frozenset()) | types
            self._joined[keys] = dict(sorted(zones.items()))
        return self._joined[keys]

    def _answers(self, workload: Workload, taking: list[str]) -> dict[str, PoolAnswer]:
        """What the NodePools say; asked again, since verdicts keep no instance types."""
        if not any(name in self.pools and _may_be_spot(self.pools[name]) for name in taking):
            return {}
        if self._decider is None:
            from unpend.placement.karpenter.decide import Decider

            pools = managed_pools_of(self.facts)
            self._decider = Decider(pools)
        pod = self.facts.effective(workload)
        found = {answer.pool.name: answer for answer in self._decider.answers(demand_of(pod), pod)}
        return {name: found[name] for name in taking if name in found}

    def _chosen(self, workload: Workload) -> Place | None:
        pod = self.facts.effective(workload)
        alternatives = [a for a in demand_of(pod).alternatives if not a.broken]
        for key in CAPACITY_TYPES:
            if alternatives and all(key in a.folded for a in alternatives):
                values = {v.lower() for a in alternatives for v in a.folded[key].values or ("",)}
                if values == {SPOT}:
                    return workload.template.spec.place
        for toleration in pod.spec.tolerations:
            if SPOT in toleration.key.lower() or SPOT in toleration.value.lower():
                return toleration.place
        return None


def _may_be_spot(pool: NodePool) -> bool:
    if pool.refusals or pool.faults:
        return False
    listed = [r for r in pool.requirements if r.key == CAPACITY_TYPE]
    return all(SPOT in r.values for r in listed if r.operator == "In") and not any(
        SPOT in r.values for r in listed if r.operator == "NotIn"
    )


def _spot_types(answer: PoolAnswer) -> dict[str, tuple[str, ...]]:
    """The types by zone that would be launched as spot nodes and take the pod."""
    grid = answer.pool.grid
    assert grid is not None
    found: dict[str, tuple[str, ...]] = {}
    for group, types in grid.groups_of(answer.taken):
        if group.capacity_type == SPOT:
            zone = group.zone or group.zone_id
            found[zone] = (*found.get(zone, ()), *grid.shapes.named(types))
    return found


def _own_types(answer: PoolAnswer) -> set[str]:
    """The spot types of the pool without the constraints of the pod."""
    grid = answer.pool.grid
    assert grid is not None
    mask = 0
    for group, types in grid.groups_of(answer.pool.base.possible):
        if group.capacity_type == SPOT:
            mask |= types
    return set(grid.shapes.named(mask))


def _has_other(answer: PoolAnswer) -> bool:
    grid = answer.pool.grid
    assert grid is not None
    return any(group.capacity_type != SPOT for group, _ in grid.groups_of(answer.taken))


def spot_choices(facts: FactsLike) -> tuple[SpotChoice, ...]:
    """The workloads that may land on spot nodes, shared by the rules of a run."""
    found: tuple[SpotChoice, ...] = facts.memo("spot-choices", lambda: tuple(SpotBook(facts).choices()))
    return found
