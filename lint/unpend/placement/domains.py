"""Which values of a topology key a workload can reach, and which ones are counted against it although it cannot.

What rules about topology spread and anti-affinity say of zones, racks and hosts: zones as the verdict of each pool
has them, other keys as the pools give them.
"""

from __future__ import annotations

from collections.abc import Sequence

from unpend.algebra.taints import FILTERING_EFFECTS, untolerated
from unpend.algebra.values import ValueSet
from unpend.model.inventory import Inventory, Workload
from unpend.model.karpenter_labels import HOSTNAME, ZONE
from unpend.model.pod import Taint
from unpend.placement.demand import demand_of
from unpend.placement.facts import label_supply_of, managed_pools_of
from unpend.placement.given import FactsLike
from unpend.placement.label_supply import LabelSupply, PoolLabels
from unpend.placement.pools import ALL_NODES
from unpend.placement.verdict import Cause, PoolVerdict, WorkloadVerdict
from unpend.records import dataclass, field
from unpend.source.place import Place

TAKES = frozenset({"fits", "conditional", "partial"})
"""The answers of a pool that can take some pods of a workload."""

_AMONG_PODS = frozenset({"topologySpread", "podAffinity", "podAntiAffinity"})
_NODE_LABELS = frozenset({"nodeSelector", "nodeAffinity"})


def shortfall(verdict: WorkloadVerdict | None) -> Cause | None:
    """Why some replicas of a workload surely find no place in the pools that are given; None when they may.

    Where further pools may exist the verdict is `conditional` for that reason alone: then it is what the given pools
    say, and a rule says with `assumes_closed` that its word is a hint.
    """
    if verdict is None or verdict.cause == "rejected":
        return None
    if verdict.verdict in ("never", "partial", "loop"):
        return verdict.cause
    only_others = verdict.facts and all(fact.name == "other-pools" for fact in verdict.facts)
    if verdict.verdict == "conditional" and only_others and verdict.replicas.at_most < verdict.replicas.needed:
        return verdict.conflict[-1].cause if verdict.conflict else None
    return None


def takes(pool: PoolVerdict) -> bool:
    """Whether a pool takes a pod, or would if other pods were elsewhere."""
    if pool.verdict in TAKES:
        return True
    return bool(pool.obstacles) and all(o.constraint in _AMONG_PODS for o in pool.obstacles)


@dataclass(frozen=True, slots=True)
class Domain:
    """One value of a topology key in one pool."""

    value: str
    pool: str
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Domains:
    """The domains of one key for one workload.

    `reachable` are values where a pod can land, `exact` whether there are surely no others. `dead` are values of pools
    that count although no pod lands there. `lacking` are pools that would take the pod and surely lack the key.
    """

    key: str
    reachable: tuple[str, ...]
    exact: bool
    dead: tuple[Domain, ...] = ()
    lacking: tuple[PoolLabels, ...] = ()


class Topology:
    """The domains of all workloads of a run."""

    def __init__(self, facts: FactsLike) -> None:
        self.facts = facts
        self.inventory = facts.inventory
        self.supply: LabelSupply = label_supply_of(facts)
        self.taints = _taints_by_pool(facts.inventory)
        self._found: dict[tuple[str, str, str, str], Domains] = {}

    def of(self, workload: Workload, key: str, affinity: str | None = None, taints: str | None = None) -> Domains:
        """The domains of a key; `affinity` and `taints` are the inclusion policies of a spread constraint (S-804)."""
        token = (workload.id, key, affinity or "Honor", taints or "Ignore")
        found = self._found.get(token)
        if found is None:
            found = self._found[token] = self._find(workload, key, token[2], token[3])
        return found

    def _find(self, workload: Workload, key: str, affinity: str, taints: str) -> Domains:
        verdict = self.facts.verdicts.get(workload.id)
        if verdict is None:
            return Domains(key, (), False)
        said = {pool.pool: pool for pool in verdict.pools}
        reachable: set[str] = set()
        exact = not self.supply.opaque
        refusing: list[PoolLabels] = []
        lacking: list[PoolLabels] = []
        for labels in self.supply.pools:
            pool = said.get(labels.pool)
            if pool is None:
                if ALL_NODES in said and labels.pool.startswith("Node/"):
                    exact = exact and key == ZONE
                    continue
                refusing.append(labels)
                continue
            if not takes(pool):
                refusing.append(labels)
                continue
            values, known = self._values(labels, pool, key)
            reachable |= values
            exact = exact and known
            if known and not values and not labels.of(key).admits_present:
                lacking.append(labels)
        if ALL_NODES in said and key == ZONE:
            reachable.update(said[ALL_NODES].zones)
        dead = self._dead(workload, key, refusing, reachable, affinity == "Honor", taints == "Honor")
        return Domains(key, tuple(sorted(reachable)), exact, dead, tuple(lacking))

    def _values(self, labels: PoolLabels, pool: PoolVerdict, key: str) -> tuple[set[str], bool]:
        """The values of a key in a pool that takes the pod, and whether these are all."""
        values = labels.of(key)
        if key == HOSTNAME and not labels.pool.startswith("Node/"):
            return set(), False
        if key == ZONE and pool.zones:
            known = values.values is not None or self.zones_known(pool.pool)
            return set(pool.zones), known
        listed = values.values
        if listed is not None:
            return set(listed), True
        return set(), not values.admits_present

    def zones_known(self, pool: str) -> bool:
        """Whether the zones of a NodePool or node group are known, not only possible."""
        return pool not in self._vague

    def beyond(self, workload: Workload, key: str, honours_taints: bool) -> tuple[Domain, ...]:
        """Values that Karpenter counts for the pod although no pod of the workload can be there (T-1 to T-3, T-15).

        Zones of all NodePools count, whatever their labels; those of pools with foreign taints unless
        `honours_taints`. What the pod itself asks for on this key leaves the others out.
        """
        mine = self.of(workload, key)
        if not mine.exact or not mine.reachable:
            return ()
        pod = self.facts.effective(workload)
        alternatives = demand_of(pod).alternatives
        tolerations = (*pod.spec.tolerations, *pod.possible_tolerations)
        usable = {
            f"NodePool/{pool.name}"
            for pool in self.inventory.node_pools
            if not (pool.refusals or pool.faults or pool.is_static or pool.terminating or pool.ready is False)
        }
        found: dict[str, Domain] = {}
        for labels in self.supply.pools:
            if labels.pool not in usable:
                continue
            if honours_taints and untolerated(tolerations, self.taints.get(labels.pool, ()), FILTERING_EFFECTS):
                continue
            for value in sorted((labels.of(key).values or frozenset()) - set(mine.reachable)):
                wanted = [a.folded.get(key) for a in alternatives if not a.broken]
                if any(values is None or values.admits(value) for values in wanted):
                    found.setdefault(value, Domain(value, labels.pool, labels.places.get(key, labels.place)))
        return tuple(found[value] for value in sorted(found))

    @property
    def _vague(self) -> frozenset[str]:
        found: frozenset[str] = self.facts.memo("vague-zones", self._find_vague)
        return found

    def _find_vague(self) -> frozenset[str]:
        """The pools of which nobody knows in which zones their nodes are."""
        vague = {
            labels.pool
            for labels in self.supply.pools
            if labels.pool.startswith("NodeGroup/") and not _is_finite(labels.of(ZONE))
        }
        if self.inventory.node_pools:
            pools = managed_pools_of(self.facts)
            vague.update(found.name for found in pools.pools if found.grid is None or found.candidates)
        return frozenset(vague)

    def _dead(
        self,
        workload: Workload,
        key: str,
        refusing: Sequence[PoolLabels],
        reachable: set[str],
        honours_affinity: bool,
        honours_taints: bool,
    ) -> tuple[Domain, ...]:
        """Values of pools that take no pod of the workload, as far as the inclusion policies leave them in."""
        pod = self.facts.effective(workload)
        alternatives = demand_of(pod).alternatives
        tolerations = (*pod.spec.tolerations, *pod.possible_tolerations)
        found: dict[str, Domain] = {}
        for labels in refusing:
            values = labels.of(key).values
            if not values or (key == HOSTNAME and not labels.pool.startswith("Node/")):
                continue
            if honours_affinity and not any(labels.could_match(a) for a in alternatives):
                continue
            if honours_taints and untolerated(tolerations, self.taints.get(labels.pool, ()), FILTERING_EFFECTS):
                continue
            for value in sorted(values - reachable):
                found.setdefault(value, Domain(value, labels.pool, labels.places.get(key, labels.place)))
        return tuple(found[value] for value in sorted(found))


def topology_of(facts: FactsLike) -> Topology:
    """The domains of all workloads, shared by the rules of a run."""
    found: Topology = facts.memo("topology", lambda: Topology(facts))
    return found


def _is_finite(values: ValueSet) -> bool:
    return values.values is not None


def _taints_by_pool(inventory: Inventory) -> dict[str, tuple[Taint, ...]]:
    found = {f"Node/{node.name}": node.taints for node in inventory.nodes}
    found.update((f"NodePool/{pool.name}", pool.taints) for pool in inventory.node_pools)
    found.update((group.id, group.all_taints) for group in inventory.node_groups)
    return found


def shown(values: Sequence[str], most: int = 3) -> str:
    """Some values as a message names them: `a`, `a and b`, `a, b and 4 more`."""
    if len(values) <= 1:
        return "".join(values)
    if len(values) <= most:
        return f"{', '.join(values[:-1])} and {values[-1]}"
    return f"{', '.join(values[: most - 1])} and {len(values) - most + 1} more"
