"""Node objects as a space of shapes: what bound Pods and DaemonSets leave of them (P-706, P-711, P-720, S-1621)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

from unpend.model.admission import admit, admit_template
from unpend.model.inventory import BoundPod, Inventory, Node, Workload
from unpend.model.pod import Container, ContainerPort, EffectivePod, Resources
from unpend.placement.claims import VolumeBook
from unpend.placement.demand import DEFAULT_SCHEDULER, Demand, demand_of, to_units, with_volumes
from unpend.placement.owned import owns
from unpend.placement.scheduler import filters, node_affinity
from unpend.placement.scheduler.node_resources import PODS
from unpend.placement.space import (
    ZERO,
    Attachment,
    ForeignClaim,
    Interval,
    Shape,
    Space,
    TakenDisk,
    TakenPort,
    ports_clash,
)
from unpend.placement.volumes import NO_VOLUMES, PodVolumes
from unpend.records import dataclass, field, replace
from unpend.settings import Settings
from unpend.source.place import Place

FINISHED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class NodeSource:
    """The places of a Node object."""

    node: Node

    @property
    def owner(self) -> str:
        """`Node/<name>`."""
        return f"Node/{self.node.name}"

    def name(self) -> Place:
        """The name of the node."""
        return self.node.place.at("metadata", "name")

    def label(self, key: str) -> Place:
        """The label, or the labels when it is not there."""
        label = self.node.labels.get(key)
        return self.node.place.at("metadata", "labels") if label is None else label.place

    def resource(self, resource: str) -> Place:
        """The allocatable amount, or `status.allocatable` when it is not there."""
        amount = self.node.allocatable.get(resource)
        return self.node.place.at("status", "allocatable") if amount is None else amount.place

    def unschedulable(self) -> Place:
        """The cordon."""
        return self.node.place.at("spec", "unschedulable")


@dataclass(frozen=True, slots=True)
class Occupant:
    """A pod that holds resources, a slot and ports of a node.

    `sure` is False when it perhaps does not run there, or is terminating and will not for long.
    """

    owner: str
    requests: Mapping[str, int]
    ports: tuple[ContainerPort, ...]
    priority: int
    sure: bool = True
    pod: BoundPod | None = field(default=None, compare=False, repr=False)
    volumes: PodVolumes = NO_VOLUMES


@dataclass(frozen=True, slots=True)
class Daemon:
    """A DaemonSet on these nodes, as masks over the space.

    `selected` are the nodes that its controller puts a pod on, `present` those where a bound pod of it already is,
    `refused` those where its pod cannot run beside the bound pods alone, `unsure` those where it depends on which
    DaemonSet comes first.
    """

    workload: Workload
    pod: EffectivePod
    demand: Demand
    selected: int
    present: int
    refused: int
    unsure: int


@dataclass(frozen=True)
class FixedNodes:
    """The Nodes of an inventory: `bare` with bound pods only, `space` with the DaemonSets that land there too.

    The last `standing` of them are no Node objects: nodes that a node group surely has.
    """

    nodes: tuple[Node, ...]
    bare: Space
    space: Space
    bound: tuple[tuple[Occupant, ...], ...]
    daemons: Mapping[str, Daemon] = field(default_factory=dict)
    standing: int = 0

    @property
    def given(self) -> int:
        """How many of them are Node objects."""
        return len(self.nodes) - self.standing

    @cached_property
    def least_priority(self) -> int:
        """The lowest priority among the pods that are there; very large when there are none."""
        bound = [occupant.priority for held in self.bound for occupant in held]
        return min((*bound, *(daemon.demand.priority for daemon in self.daemons.values())), default=2**31)

    def without(self, gone: Iterable[tuple[int, Occupant]], bare: bool = False) -> Space | None:
        """The space (or the bare one) after some bound pods, given with their nodes, have left; None for no pods."""
        leaving: dict[int, list[Occupant]] = {}
        for number, occupant in gone:
            leaving.setdefault(number, []).append(occupant)
        if not leaving:
            return None
        space = self.bare if bare else self.space
        shapes = list(space.shapes)
        for number, occupants in leaving.items():
            shapes[number] = _freed(shapes[number], occupants)
        return Space(shapes, space)


def fixed_nodes(inventory: Inventory, settings: Settings, standing: Sequence[Shape] = ()) -> FixedNodes:
    """The Nodes of an inventory with everything that already runs there; `standing` are nodes of node groups."""
    given = inventory.nodes
    nodes = (*given, *(_nameless(len(given) + n, shape) for n, shape in enumerate(standing)))
    numbers = {node.name: number for number, node in enumerate(given)}
    bound: list[list[Occupant]] = [[] for _ in nodes]
    book = VolumeBook(inventory, settings)
    limits = {csi.name: {d: n for d, n in csi.limits.items() if n is not None} for csi in inventory.csi_nodes}
    for pod in inventory.bound_pods:
        number = numbers.get(pod.node_name)
        if number is not None and pod.phase not in FINISHED:
            bound[number].append(_bound(pod, inventory, settings, book.of_bound(pod)))
    occupants = tuple(tuple(b) for b in bound)
    bare = Space([*(_shape(n, o, limits.get(n.name, {})) for n, o in zip(given, occupants, strict=False)), *standing])
    found = [w for w in inventory.workloads if w.kind == "DaemonSet"] if nodes else []
    if not found:
        return FixedNodes(nodes, bare, bare, occupants, standing=len(standing))
    daemons = [d for w in found if (d := _daemon(w, bare, numbers, inventory, settings, book)) is not None]
    shapes, settled = _settle(daemons, bare)
    by_id = {d.workload.id: d for d in settled}
    return FixedNodes(nodes, bare, Space(shapes, bare), occupants, by_id, len(standing))


def _nameless(number: int, shape: Shape) -> Node:
    """A node of a node group, of which only the shape is known; it is called by its number."""
    return Node(str(number), {}, {}, (), {}, {}, False, shape.source.name())


def _shape(node: Node, held: Sequence[Occupant], limits: Mapping[str, int]) -> Shape:
    allocatable = {name: to_units(name, amount.milli) for name, amount in node.allocatable.items()}
    slots = allocatable.get(PODS, 0) - len(held)
    free = dict(allocatable)
    for occupant in held:
        for name, amount in occupant.requests.items():
            free[name] = free.get(name, 0) - amount
    leaving = [occupant for occupant in held if not occupant.sure]
    later = dict(free)
    for occupant in leaving:
        for name, amount in occupant.requests.items():
            later[name] += amount
    return Shape(
        name=node.name,
        labels={key: label.value for key, label in node.labels.items()},
        taints=node.taints,
        unschedulable=node.unschedulable,
        allocatable=allocatable,
        free={name: Interval(amount, later[name]) for name, amount in free.items()},
        slots=Interval(slots, slots + len(leaving)),
        ports=_taken(held),
        source=NodeSource(node),
        disks=tuple(TakenDisk(disk, o.owner) for o in held for disk in o.volumes.disks),
        attached=tuple(Attachment(o.owner, a) for o in held for a in o.volumes.attached),
        attach_limits=limits,
        foreign_claims=tuple(ForeignClaim(o.owner, m) for o in held for m in o.volumes if m.state == "not-owned"),
        leaving=tuple(occupant.owner for occupant in leaving),
    )


def _taken(held: Iterable[Occupant]) -> tuple[TakenPort, ...]:
    return tuple(TakenPort(port, occupant.owner, occupant.sure) for occupant in held for port in occupant.ports)


def _bound(pod: BoundPod, inventory: Inventory, settings: Settings, volumes: PodVolumes) -> Occupant:
    template = pod.template
    if pod.status_requests:
        spec = template.spec
        resized = replace(
            spec,
            containers=tuple(_resized(c, pod.status_requests) for c in spec.containers),
            init_containers=tuple(_resized(c, pod.status_requests) for c in spec.init_containers),
        )
        template = replace(template, spec=resized)
    demand = demand_of(admit_template(template, inventory, settings, from_template=False, admitted=True))
    owner = "/".join(part for part in ("Pod", template.namespace, pod.name) if part)
    # `evaluate` answers as the scheduler does at this moment, in which what is terminating still counts.
    sure = not (pod.terminating and settings.admission in (None, "all"))
    return Occupant(owner, demand.requests, demand.ports, demand.priority, sure, pod=pod, volumes=volumes)


def _resized(container: Container, status: Mapping[str, Resources]) -> Container:
    """A container that counts with the larger of spec and status, as during an in-place resize (P-706)."""
    reported = status.get(container.name)
    if not reported:
        return container
    requests = dict(container.requests)
    for name, amount in reported.items():
        if name not in requests or amount.milli > requests[name].milli:
            requests[name] = amount
    return replace(container, requests=requests)


def _daemon(
    workload: Workload,
    bare: Space,
    numbers: Mapping[str, int],
    inventory: Inventory,
    settings: Settings,
    book: VolumeBook,
) -> Daemon | None:
    pod = admit(workload, inventory, settings)
    if pod.refusals:
        return None
    demand = with_volumes(demand_of(pod), book.of(workload, pod.spec))
    selected = node_affinity.accepts(demand, bare).sure & bare.tolerated(demand.tolerations)
    if demand.node_name:
        selected &= bare.named(demand.node_name)
    present = 0
    for other in inventory.bound_pods:
        number = numbers.get(other.node_name)
        if number is not None and other.phase not in FINISHED and owns(workload, other, orphans=True):
            present |= 1 << number
    refused = 0
    for number in bare.bits(selected & ~present):
        if not _fits([demand], bare.shapes[number]):
            refused |= 1 << number
    unsure = 0
    if demand.volumes:
        volumes = filters.accepts_volumes(demand, bare)
        refused |= selected & ~present & ~volumes.possible
        unsure = selected & ~present & ~refused & ~volumes.sure
    return Daemon(workload, pod, demand, selected, present, refused, unsure)


def without(fixed: FixedNodes, gone: Callable[[Occupant], bool]) -> Space | None:
    """The space after the bound pods that `gone` names have left; None when it names none."""
    return fixed.without((n, o) for n, held in enumerate(fixed.bound) for o in held if gone(o))


def _freed(shape: Shape, leaving: Sequence[Occupant]) -> Shape:
    free = dict(shape.free)
    for occupant in leaving:
        for name, amount in occupant.requests.items():
            low, high = free.get(name, ZERO)
            free[name] = Interval(low + amount, high + amount if occupant.sure else high)
    owners = {occupant.owner for occupant in leaving}
    sure = sum(1 for occupant in leaving if occupant.sure)
    slots = Interval(shape.slots.low + len(leaving), shape.slots.high + sure)
    return replace(
        shape,
        free=free,
        slots=slots,
        ports=tuple(p for p in shape.ports if p.owner not in owners),
        disks=tuple(d for d in shape.disks if d.owner not in owners),
        attached=tuple(a for a in shape.attached if a.owner not in owners),
        foreign_claims=tuple(c for c in shape.foreign_claims if c.owner not in owners),
        leaving=tuple(owner for owner in shape.leaving if owner not in owners),
    )


def _fits(demands: Sequence[Demand], shape: Shape) -> bool:
    """Whether pods of these demands fit on a shape side by side."""
    if shape.slots.low < len(demands):
        return False
    needed: dict[str, int] = {}
    for demand in demands:
        for name, amount in demand.requests.items():
            needed[name] = needed.get(name, 0) + amount
    if any(amount > shape.free.get(name, ZERO).low for name, amount in needed.items()):
        return False
    open_ports = [use.port for use in shape.ports]
    for demand in demands:
        if any(ports_clash(port, other) for port in demand.ports for other in open_ports):
            return False
        open_ports.extend(demand.ports)
    return True


def _settle(daemons: Sequence[Daemon], bare: Space) -> tuple[list[Shape], list[Daemon]]:
    """The shapes with the DaemonSets that land there, and the DaemonSets with the nodes where that is not certain."""
    shapes: list[Shape] = []
    unsure = [0] * len(daemons)
    missing = [d.selected & ~d.present & ~d.refused for d in daemons]
    for number, shape in enumerate(bare.shapes):
        bit = 1 << number
        coming = [index for index, mask in enumerate(missing) if mask & bit]
        if not coming:
            shapes.append(shape)
            continue
        together = _fits([daemons[index].demand for index in coming], shape)
        occupants = [_occupant(daemons[index], together) for index in coming]
        for index in coming:
            unsure[index] |= 0 if together else bit
        shapes.append(_occupied(shape, occupants))
    return shapes, [replace(d, unsure=d.unsure | mask) for d, mask in zip(daemons, unsure, strict=True)]


def _occupant(daemon: Daemon, together: bool) -> Occupant:
    demand = daemon.demand
    runs = together and not (daemon.pod.unknown or demand.gates or demand.claims or demand.volumes.facts)
    runs = runs and demand.scheduler_name == DEFAULT_SCHEDULER
    return Occupant(daemon.workload.id, demand.requests, demand.ports, demand.priority, sure=runs)


def _occupied(shape: Shape, occupants: Sequence[Occupant]) -> Shape:
    """A shape with further pods on it. What is perhaps there lowers the lower bound only."""
    free = dict(shape.free)
    low_slots, high_slots = shape.slots
    for occupant in occupants:
        low_slots -= 1
        high_slots -= 1 if occupant.sure else 0
        for name, amount in occupant.requests.items():
            low, high = free.get(name, ZERO)
            free[name] = Interval(low - amount, high - amount if occupant.sure else high)
    return replace(shape, free=free, slots=Interval(low_slots, high_slots), ports=shape.ports + _taken(occupants))
