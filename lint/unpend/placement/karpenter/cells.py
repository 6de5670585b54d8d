"""Classes of nodes that NodePools could make, over the topology keys in play: spots without bound beside the Nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from unpend.model.karpenter_labels import HOSTNAME
from unpend.model.pod import Affinity, EffectivePod, PodAffinityTerm, changed
from unpend.placement.demand import Demand
from unpend.placement.karpenter.decide import PoolAnswer
from unpend.placement.karpenter.universe import Universe, launched
from unpend.placement.replicas.build import Spot
from unpend.records import dataclass, replace

ONE_NODE = "unpend.dev/node"
"""Stands for the name of the node in required pod affinity: pods of one cell are on one node there, elsewhere not."""
SOMEWHERE = "(somewhere)"
MOST_CELLS = 256


class TooManyCellsError(Exception):
    """There are more classes of nodes than are looked at."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Nodes of one pool with the same labels for the keys in play. `vague`: some label is there, but not known."""

    pool: int
    labels: Mapping[str, str]
    mask: int
    vague: bool


def topology_keys(pod: EffectivePod) -> tuple[str, ...]:
    """The topology keys of required pod affinity and anti-affinity, other than the name of the host."""
    affinity = pod.spec.affinity
    terms = (*affinity.pod_required, *affinity.anti_required)
    return tuple(dict.fromkeys(t.topology_key for t in terms if t.topology_key != HOSTNAME))


def for_cells(pod: EffectivePod) -> EffectivePod:
    """The pod as it is counted over cells: spread is looked at apart, and affinity by host is by node.

    A cell is as many nodes as are needed: host ports do not count there.
    """
    affinity = pod.spec.affinity
    required = tuple(_by_node(term) for term in affinity.pod_required)
    changes: Affinity = replace(affinity, pod_required=required)
    return replace(pod, spec=changed(pod.spec, spread=(), affinity=changes), host_ports=())


def _by_node(term: PodAffinityTerm) -> PodAffinityTerm:
    return replace(term, topology_key=ONE_NODE) if term.topology_key == HOSTNAME else term


def cells_of(answer: PoolAnswer, keys: Sequence[str], universe: Universe) -> Iterator[Cell]:
    """The classes of nodes of one pool. A pool of which nobody knows the nodes is one class with unknown labels."""
    pool = answer.pool
    grid = pool.grid
    if grid is None:
        yield Cell(pool.number, dict.fromkeys(keys, SOMEWHERE), 0, True)
        return
    within = pool.base.possible | pool.before_limits
    axes: list[list[tuple[str | None, int, bool]]] = []
    size = 1
    for key in keys:
        known = frozenset(v for giver in universe.givers(key) for v in giver.values) | universe.on_nodes(key)
        values, exact = launched(pool, key, within, known)
        axis: list[tuple[str | None, int, bool]] = [(value, mask, False) for value, mask in sorted(values.items())]
        if not exact:
            axis.append((SOMEWHERE, within, True))
        elif not axis:
            axis.append((None, within, False))
        axes.append(axis)
        size *= len(axis)
        if size > MOST_CELLS:
            raise TooManyCellsError
    for several in product(*axes):
        mask = within
        for _, own, _ in several:
            mask &= own
        if mask:
            labels = {key: value for key, (value, _, _) in zip(keys, several, strict=True) if value is not None}
            yield Cell(pool.number, labels, mask, any(vague for _, _, vague in several))


def takes(cell: Cell, answer: PoolAnswer, demand: Demand, *, surely: bool) -> bool:
    """Whether nodes of a cell take the pod: possibly any, or surely those that are launched for it."""
    if answer.verdict != "fits" and (surely or answer.verdict != "conditional"):
        return False
    if answer.pool.grid is None:
        return not surely
    mask = answer.taken if surely else answer.accepted.possible | answer.taken
    if not mask & cell.mask:
        return False
    for key, value in cell.labels.items():
        if value == SOMEWHERE or answer.pool.grid.defines(key):
            continue
        wanted = [a.folded.get(key) for a in demand.alternatives if not a.broken]
        if wanted and not any(values is None or values.admits(value) for values in wanted):
            return False
    return True


def spots(cells: Sequence[Cell], takers: Sequence[tuple[bool, ...]]) -> tuple[list[Spot], list[tuple[bool, ...]]]:
    """Cells as spots, those that nothing tells apart as one, each with who is taken by it."""
    seen: dict[tuple[tuple[tuple[str, str], ...], tuple[bool, ...]], None] = {}
    for cell, taken in zip(cells, takers, strict=True):
        if any(taken):
            seen.setdefault((tuple(sorted(cell.labels.items())), taken))
    found, accepted = [], []
    for number, (labels, taken) in enumerate(seen):
        name = f"(cell {number})"
        found.append(Spot(name, {**dict(labels), ONE_NODE: name}, None))
        accepted.append(taken)
    return found, accepted
