"""The domains of a topology key as Karpenter counts them: over all NodePools (`karpenter.md` §5.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unpend.algebra.taints import FILTERING_EFFECTS, untolerated
from unpend.model.inventory import Node
from unpend.model.karpenter_labels import AWS_ZONE_ID, CAPACITY_TYPE, Version
from unpend.model.node_labels import ZONE
from unpend.model.pod import Toleration
from unpend.placement.karpenter.grid import admitted
from unpend.placement.karpenter.managed import ManagedPools
from unpend.placement.karpenter.pool import ManagedPool
from unpend.placement.karpenter.requirement import Requirement
from unpend.records import dataclass, field

FILTERED_RELEASES = frozenset({"1.8.4", "1.11.0", "1.11.2"})
"""Releases of the AWS provider in which only NodePools that the pod is compatible with give domains (`T-2`)."""
_READY_ALL_THE_SAME = ("karpenter:L-4", "karpenter:§7.4", "karpenter:§2.8")
POLICIES_SINCE: Version = (1, 3)


@dataclass(frozen=True, slots=True)
class Giver:
    """A NodePool that gives some domains of a key. `exact`: these are all it gives; `sure`: it surely gives them."""

    pool: ManagedPool
    values: frozenset[str]
    exact: bool
    sure: bool


@dataclass(slots=True)
class Universe:
    """The domains of every key, with the NodePools that give them. Existing nodes are added by who asks."""

    pools: ManagedPools
    nodes: Sequence[Node]
    filtered: bool = field(init=False)
    honours_policies: bool = field(init=False)
    _givers: dict[str, tuple[Giver, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.filtered = self.pools.settings.karpenter.version.lstrip("v") in FILTERED_RELEASES
        self.honours_policies = self.pools.version >= POLICIES_SINCE

    def givers(self, key: str) -> tuple[Giver, ...]:
        """Every NodePool that gives, or perhaps gives, domains of a key."""
        found = self._givers.get(key)
        if found is None:
            found = self._givers[key] = tuple(self._find(key))
        return found

    def _find(self, key: str) -> Iterator[Giver]:
        for pool in self.pools.pools:
            if pool.pool.is_static or not _is_ready(pool):
                continue
            values, exact = _given(pool, key)
            if values or not exact:
                yield Giver(pool, values, exact, not pool.doubts)

    def on_nodes(self, key: str) -> frozenset[str]:
        """The values on existing nodes."""
        return frozenset(node.labels[key].value for node in self.nodes if key in node.labels)

    def known(self, key: str) -> bool:
        """Whether anything at all has, or may have, a domain of the key (`T-5`)."""
        return bool(self.givers(key) or self.on_nodes(key))


def tolerates(
    tolerations: Sequence[Toleration], pool: ManagedPool, effects: tuple[str, ...] = FILTERING_EFFECTS
) -> bool:
    """Whether a pod tolerates the taints of a pool that have one of the effects."""
    return not untolerated(tolerations, pool.taints, effects)


def _is_ready(pool: ManagedPool) -> bool:
    """Whether a pool may be Ready: one that can launch none of its instance types is, and its domains count (`T-1`)."""
    return pool.unusable is None or pool.unusable.semantics in _READY_ALL_THE_SAME


def _given(pool: ManagedPool, key: str) -> tuple[frozenset[str], bool]:
    """The domains of a key that a pool gives, and whether there are no others (`T-1`, `T-4`, `T-7`)."""
    asked = pool.requirements.by_key.get(key)
    if asked is not None and not asked.complement:
        return asked.values, True
    found, exact = _of_types(pool, key)
    if asked is None:
        return found, exact
    left = frozenset(value for value in found if asked.has(value))
    if not found and not (pool.grid is not None and pool.grid.defines(key)):
        # What a custom key must not be becomes a domain all the same (T-4).
        left |= asked.values
    return left, exact


def _of_types(pool: ManagedPool, key: str) -> tuple[frozenset[str], bool]:
    """The values that the instance types of a pool have, whatever it asks for, and sold out or not (`T-8`)."""
    grid = pool.grid
    if grid is None:
        # Of types that nobody knows, only keys that no instance type has are certain.
        return frozenset(), not (key in pool.well_known or pool.catalog is None)
    shapes = grid.shapes
    if key in grid.offered or key in (ZONE, CAPACITY_TYPE):
        values = {v for group in shapes.offerings for k, v in group.values(shapes.region) if k == key and v}
        vague = bool(shapes.unsaid(key)) or (bool(pool.candidates) and key in (ZONE, AWS_ZONE_ID))
        return frozenset(values), not vague
    return frozenset(shapes.values(key)), True


def launched(pool: ManagedPool, key: str, mask: int, universe: frozenset[str]) -> tuple[Mapping[str, int], bool]:
    """Per domain the pairs of a mask whose nodes get it, and whether there are no others.

    A key that the pool mints takes any domain that its requirement admits.
    """
    grid = pool.grid
    assert grid is not None
    asked: Requirement | None = pool.requirements.by_key.get(key)
    if grid.defines(key):
        values = grid.values(key)
        vague = bool(grid.shapes.unsaid(key)) or (bool(pool.candidates) and key in (ZONE, AWS_ZONE_ID))
        found = {v: own for v, m in values.items() if (own := m & mask) and (asked is None or asked.has(v))}
        return found, not vague
    if asked is None:
        return {}, True
    listed = asked.values if not asked.complement else {v for v in universe if admitted(asked).admits(v)}
    return (dict.fromkeys(listed, mask) if mask else {}), True
