"""What is on the nodes of a NodePool before any pod: DaemonSets in both views, NodeOverlays, labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from unpend.algebra.taints import untolerated
from unpend.algebra.values import ValueSet
from unpend.algebra.values import one_of as exactly
from unpend.catalog.index import Resources
from unpend.model.inventory import Inventory, Workload
from unpend.model.karpenter_labels import INITIALIZED, NODE_POOL, REGISTERED, Version
from unpend.placement.karpenter.daemons import Daemons
from unpend.placement.karpenter.devices import waiting
from unpend.placement.karpenter.grid import Grid
from unpend.placement.karpenter.host_ports import conflict
from unpend.placement.karpenter.pool import ManagedPool
from unpend.placement.karpenter.requirement import one_of, requirement
from unpend.placement.karpenter.requirements import Requirements
from unpend.placement.karpenter.space import ADDED_BY_ADD_ONS, PoolLabelIndex, PoolSpace, label_of_any_node
from unpend.placement.karpenter.template import node_class_key
from unpend.placement.scheduler import node_affinity
from unpend.placement.space import Masks, TakenPort
from unpend.settings import Settings

_EBS = "ebs.csi.aws.com"
_Amounts = tuple[tuple[str, int], ...]


class OverheadBook:
    """What DaemonSets take, for all pools; pools on which the same ones run share the result."""

    def __init__(self, inventory: Inventory, settings: Settings, daemons: Daemons, version: Version) -> None:
        self.inventory = inventory
        self.settings = settings
        self.daemons = daemons
        self.version = version
        self._reduced: dict[tuple[object, ...], Resources] = {}

    @cached_property
    def perhaps(self) -> frozenset[str]:
        """Labels of add-ons of which nothing says that they run: there or not."""
        for volume in self.inventory.volumes:
            if volume.kind == "csi" and volume.source.get("driver") == _EBS:
                return frozenset()
        for workload in self.inventory.workloads:
            if workload.kind == "DaemonSet":
                texts = (workload.name, *(c.image for c in workload.template.spec.containers))
                if any("ebs-csi" in text for text in texts):
                    return frozenset()
        return ADDED_BY_ADD_ONS

    @cached_property
    def minted(self) -> frozenset[str]:
        """Keys that pods exclude values of: a pool that does not name one gives it a random number (§2.7)."""
        found: set[str] = set()
        for workload in self.inventory.workloads:
            affinity = workload.template.spec.affinity
            if workload.kind != "DaemonSet" and (affinity.required or affinity.preferred):
                terms = (*(affinity.required or ()), *(one.term for one in affinity.preferred))
                found.update(e.key for term in terms for e in term.expressions if e.operator == "NotIn")
        return frozenset(found)

    @cached_property
    def rivals(self) -> frozenset[str]:
        """DaemonSets that want the same host port as another one: only one of them runs on a node."""
        ports = [(d.workload.id, port) for d in self.daemons.actual for port in d.demand.ports]
        return frozenset(
            one for one, port in ports for other, wanted in ports if one != other and conflict(port, wanted)
        )

    def less(self, resources: Resources, taken: Sequence[tuple[int, tuple[tuple[str, int], ...]]]) -> Resources:
        """Resources without what DaemonSets take; pools on which the same ones run share them."""
        if not taken:
            return resources
        key = (id(resources), *taken)
        less = self._reduced.get(key)
        if less is None:
            less = self._reduced[key] = resources.without([(mask, dict(amounts)) for mask, amounts in taken])
        return less


def lay_daemons(book: OverheadBook, found: ManagedPool, grid: Grid, within: int) -> None:
    """Set `planned`, `planned_ports` and `space` of a pool whose shapes are `within`."""
    resources = _overlaid(book, found, grid)
    taken, ports = _planned(book, found, grid, within)
    found.planned = book.less(resources, taken)
    found.planned_ports = ports
    alive = grid.collapse(within) & found.planned.usable.possible
    if any(group.resources is not None for group in grid.groups):
        alive = grid.collapse(within)
    within &= grid.spread(alive)
    labels = PoolLabelIndex(
        grid, within, found.requirements, _custom(found), _open_keys(book, found), book.perhaps, book.minted
    )
    plain = PoolSpace(grid, within, labels, found.staying_taints, (resources, resources, resources), (), found.source)
    low: list[tuple[int, _Amounts]] = []
    high: list[tuple[int, _Amounts]] = []
    held: list[tuple[TakenPort, Masks]] = []
    plugins: list[tuple[Workload, int]] = []
    for daemon in book.daemons.actual:
        demand = daemon.demand
        plugins.append((daemon.workload, 0))
        if untolerated(demand.tolerations + demand.possible_tolerations, plain.pool_taints):
            continue
        masks = node_affinity.accepts(demand, plain)
        if untolerated(demand.tolerations, plain.pool_taints) or not daemon.sure:
            masks = Masks(0, masks.possible)
        if not masks.possible:
            continue
        plugins.append((daemon.workload, masks.possible))
        amounts = tuple(sorted(daemon.requests.items()))
        low.append((grid.collapse(masks.possible), amounts))
        sure = grid.types & ~grid.collapse(within & ~masks.sure)
        if sure and daemon.workload.id not in book.rivals:
            high.append((sure, amounts))
        held.extend((TakenPort(port, daemon.workload.id, daemon.sure), masks) for port in demand.ports)
    if book.settings.world.daemonsets == "closed":
        plain.devices = waiting(plugins, found.node_class)
    if not low:
        found.space = plain
        return
    found.space = PoolSpace(
        grid,
        within,
        labels,
        found.staying_taints,
        (resources, book.less(resources, low), book.less(resources, high)),
        held,
        found.source,
        plain.devices,
    )


def _overlaid(book: OverheadBook, found: ManagedPool, grid: Grid) -> Resources:
    """What the types give to pods, with what NodeOverlays add to it (`karpenter.md` §9.10)."""
    resources = grid.shapes.resources
    if not book.inventory.node_overlays or not book.settings.karpenter.gate("NodeOverlay"):
        return resources
    more: list[tuple[int, _Amounts]] = []
    for overlay in book.inventory.node_overlays:
        if overlay.refusals or overlay.ready is False or not overlay.capacity:
            continue
        types = grid.types
        for entry in overlay.requirements:
            asked = requirement(entry.key, entry.operator, entry.values)
            clash = found.requirements.get(asked.key).overlaps(asked)
            types &= grid.collapse(grid.planned(asked).possible) if clash else 0
        for name, amount in overlay.capacity.items():
            fresh = types & ~found.added.get(name, 0)
            more.append((fresh, ((name, -amount.milli),)))
            found.added[name] = found.added.get(name, 0) | fresh
    return book.less(resources, more)


def _planned(
    book: OverheadBook, found: ManagedPool, grid: Grid, within: int
) -> tuple[list[tuple[int, _Amounts]], tuple[tuple[TakenPort, int], ...]]:
    template = found.requirements
    if book.version >= (1, 14):
        template = template.narrowed(Requirements.of([one_of(REGISTERED, ["true"]), one_of(INITIALIZED, ["true"])]))
    taken = []
    ports: list[tuple[TakenPort, int]] = []
    for daemon in book.daemons.planned:
        if untolerated(daemon.tolerations, found.taints):
            continue
        types = 0
        for term in daemon.terms:
            asked = Requirements.of(term)
            if not template.is_compatible(asked, found.well_known):
                continue
            mask = grid.types
            if book.version >= (1, 14):
                for requirement in asked:
                    if grid.defines(requirement.key):
                        mask &= grid.collapse(grid.planned(requirement).possible)
            types |= mask
        if types:
            taken.append((types, tuple(sorted(daemon.requests.items()))))
            ports.extend((TakenPort(port, daemon.owner), types) for port in daemon.ports)
    return taken, tuple(ports)


def _custom(found: ManagedPool) -> dict[str, ValueSet]:
    """The labels of the pool's nodes beside those of types and offerings."""
    assert found.grid is not None
    labels = {}
    for one in found.requirements:
        key = one.key
        if key == NODE_POOL or not (key in found.well_known or found.grid.defines(key)):
            labels[key] = label_of_any_node(one)
    for key in (REGISTERED, INITIALIZED):
        labels[key] = exactly(["true"])
    for label in found.pool.template_labels.values():
        # Put on the node as it is written, also under an older name.
        if label.key in labels or not found.grid.defines(label.key):
            labels[label.key] = exactly([label.value])
    ref = found.pool.node_class
    labels[node_class_key(ref.group, ref.kind)] = exactly([ref.name])
    return labels


def _open_keys(book: OverheadBook, found: ManagedPool) -> frozenset[str]:
    """Labels that something else may put on the nodes: as the settings say, or arguments in the user data."""
    keys = set(book.settings.known_labels)
    if found.node_class is not None and "node-labels" in found.node_class.user_data:
        keys.update(words(found.node_class.user_data))
    return frozenset(keys)


def words(text: str) -> Iterator[str]:
    """What may be a label key among the words of user data."""
    for part in text.replace("=", " ").replace(",", " ").replace('"', " ").replace("'", " ").split():
        if "/" in part or part.isidentifier():
            yield part
