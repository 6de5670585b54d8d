"""Why no shape of a space takes a pod: a minimal set of constraints, found by deletion.

kube-scheduler's filters only ever get easier when a constraint goes (they are monotone), so that one pass of deletions
is a proof: of what is left nothing can be spared, and without any one of it some shape would do. The order of deletion
is fixed: resources last, and what the author wrote before what a default or another object added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unpend.algebra.taints import untolerated
from unpend.model.pod import ContainerPort, Taint
from unpend.placement.demand import Alternative, Demand, NameField, Written, alternative_from
from unpend.placement.scheduler import (
    filters,
    node_affinity,
    node_ports,
    node_resources,
    node_unschedulable,
    node_volume_limits,
    taint_toleration,
    volume_binding,
    volume_restrictions,
    volume_zone,
)
from unpend.placement.space import Shape, Space
from unpend.placement.verdict import Cause, Obstacle
from unpend.placement.volumes import Disk, Mount
from unpend.records import dataclass
from unpend.source.place import Place


@dataclass(frozen=True, slots=True)
class Terms:
    """Required node affinity as one constraint: the pod needs one of several terms, or its only term is broken."""

    alternatives: tuple[Alternative, ...]
    place: Place | None


@dataclass(frozen=True, slots=True)
class Cordon:
    """The constraint that the pod does not tolerate a cordon."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The constraint that a pod needs a slot."""


@dataclass(frozen=True, slots=True)
class Rivals:
    """The constraint that several claims need a volume each, of those that a node reaches."""

    mounts: tuple[Mount, ...]


@dataclass(frozen=True, slots=True)
class Attachments:
    """The constraint that a node takes so many volumes of a CSI driver only."""

    driver: str


@dataclass(frozen=True, slots=True)
class Uncounted:
    """The constraint that the volumes of every node can be counted."""


Subject = (
    Written
    | NameField
    | Terms
    | Taint
    | Cordon
    | ContainerPort
    | Mount
    | Rivals
    | Attachments
    | Disk
    | Uncounted
    | str
    | Slot
)
"""What can be deleted: a label constraint, a taint that is not tolerated, a cordon, a port, a volume, a resource."""


@dataclass(frozen=True, slots=True)
class Atom:
    """One constraint of a pod.

    `mask` holds the shapes that possibly accept it. Label constraints have none of their own: they count together,
    folded per key.
    """

    subject: Subject
    cause: Cause
    mask: int | None
    own: bool = True


def conflict(demand: Demand, space: Space) -> tuple[Obstacle, ...]:
    """A minimal set of constraints that no shape meets together; empty when some shape possibly takes the pod."""
    kept = minimal(demand, space)
    found = []
    for atom in kept:
        others = [a for a in kept if a is not atom]
        mask = _label_mask(demand, [a for a in others if a.mask is None], space)
        for other in others:
            mask &= space.everything if other.mask is None else other.mask
        number = _representative(atom, mask, space)
        if number is not None:
            found.append(describe(demand, atom, space, number))
    return tuple(found)


def minimal(demand: Demand, space: Space) -> tuple[Atom, ...]:
    """The constraints of `conflict`, in the order labels, taints, ports, resources."""
    atoms = list(atoms_of(demand, space))
    order = sorted(range(len(atoms)), key=lambda i: (atoms[i].cause == "resources", not atoms[i].own))
    suffix = [space.everything] * (len(order) + 1)
    for at in range(len(order) - 1, -1, -1):
        own_mask = atoms[order[at]].mask
        suffix[at] = suffix[at + 1] if own_mask is None else suffix[at + 1] & own_mask
    labels = [atom for atom in atoms if atom.mask is None]
    label_mask = _label_mask(demand, labels, space)
    if label_mask & suffix[0] or not space.shapes:
        return ()
    kept_mask = space.everything
    kept: set[int] = set()
    for at, index in enumerate(order):
        atom = atoms[index]
        if atom.mask is None:
            fewer = [other for other in labels if other is not atom]
            mask = _label_mask(demand, fewer, space)
            if mask & kept_mask & suffix[at + 1]:
                kept.add(index)
            else:
                labels, label_mask = fewer, mask
        elif label_mask & kept_mask & suffix[at + 1]:
            kept.add(index)
            kept_mask &= atom.mask
    return tuple(atom for index, atom in enumerate(atoms) if index in kept)


def atoms_of(demand: Demand, space: Space) -> Iterable[Atom]:
    """Every constraint of a pod that could refuse some shape of the space."""
    alternatives = demand.alternatives
    home = demand.spec_place.object
    if len(alternatives) == 1 and not alternatives[0].broken:
        for written in alternatives[0].written:
            yield Atom(written, "labels", None, written.place.object is home)
        for name in alternatives[0].names:
            yield Atom(name, "labels", None)
    else:
        for written in selector_of(alternatives):
            yield Atom(written, "labels", None, written.place.object is home)
        yield Atom(Terms(alternatives, demand.affinity), "labels", None)
    for taint in untolerated(demand.tolerations + demand.possible_tolerations, space.taints):
        yield Atom(taint, "taint", space.everything & ~space.tainted(taint))
    if space.cordoned and not node_unschedulable.tolerates_cordon(demand.tolerations):
        yield Atom(Cordon(), "taint", space.everything & ~space.cordoned)
    for port in demand.ports:
        yield Atom(port, "ports", space.with_port(port).possible)
    if demand.volumes:
        yield from _volume_atoms(demand, space)
    yield Atom(Slot(), "resources", space.slots.possible, own=False)
    for resource, amount in demand.requests.items():
        places = demand.request_places.get(resource, ())
        own = any(place.object is home for place in places) or not places
        yield Atom(resource, "resources", space.with_free(resource, amount).possible, own)


def _volume_atoms(demand: Demand, space: Space) -> Iterable[Atom]:
    volumes = demand.volumes
    for mount in volumes.mounts:
        bound = volume_binding.accepts_mount(mount, space)
        yield Atom(mount, "volume", bound.both(volume_zone.accepts_mount(mount, space)).possible)
    if volumes.together:
        yield Atom(
            Rivals(volumes.together), "volume", volume_binding.accepts_together(volumes.together, space).possible
        )
    for disk in volumes.disks:
        yield Atom(disk, "volume", volume_restrictions.accepts_disk(disk, space))
    if space.uncounted:
        before = filters.without_volumes(demand, space)
        yield Atom(Uncounted(), "volume", node_volume_limits.fails(demand, space, before).possible)
    for driver in dict.fromkeys(a.driver for a in volumes.attached):
        yield Atom(Attachments(driver), "volume", node_volume_limits.accepts_driver(driver, demand, space))


def selector_of(alternatives: Sequence[Alternative]) -> tuple[Written, ...]:
    """The entries of nodeSelector, which are part of every alternative."""
    return tuple(w for w in alternatives[0].written if w.kind == "nodeSelector") if alternatives else ()


def _label_mask(demand: Demand, active: Sequence[Atom], space: Space) -> int:
    if not active:
        return space.everything
    written = [a.subject for a in active if isinstance(a.subject, Written)]
    names = tuple(a.subject for a in active if isinstance(a.subject, NameField))
    terms = next((a.subject for a in active if isinstance(a.subject, Terms)), None)
    if terms is None:
        return node_affinity.accepts_alternative(alternative_from(written, names), space).possible
    mask = 0
    for alternative in terms.alternatives:
        term = [w for w in alternative.written if w.kind != "nodeSelector"]
        changed = alternative_from([*written, *term], alternative.names, alternative.broken)
        mask |= node_affinity.accepts_alternative(changed, space).possible
    return mask


def _representative(atom: Atom, mask: int, space: Space) -> int | None:
    """The shape to show for a constraint: one that only this constraint refuses; of several, the one with most left."""
    if not mask:
        return None
    if isinstance(atom.subject, str):
        return space.richest(atom.subject, mask)
    return next(iter(space.bits(mask)))


def describe(demand: Demand, atom: Atom, space: Space, number: int) -> Obstacle:
    """A constraint as an obstacle on a shape that it refuses."""
    subject, shape = atom.subject, space.shapes[number]
    if isinstance(subject, Mount):
        if volume_binding.accepts_mount(subject, space).possible >> number & 1:
            return volume_zone.obstacle(subject, shape)
        return volume_binding.obstacle(subject, space, number)
    if isinstance(subject, Rivals):
        return volume_binding.rivals_obstacle(subject.mounts, shape)
    if isinstance(subject, Attachments):
        return node_volume_limits.obstacle(demand, subject.driver, shape)
    if isinstance(subject, Uncounted):
        return node_volume_limits.failure(space, filters.without_volumes(demand, space))
    if isinstance(subject, Disk):
        return volume_restrictions.obstacle(subject, shape)
    if isinstance(subject, Written | NameField):
        return node_affinity.obstacle(subject, shape)
    if isinstance(subject, Terms):
        return _describe_terms(demand, subject, shape)
    if isinstance(subject, Taint):
        carried = next((t for t in shape.taints if t == subject), subject)
        return taint_toleration.obstacle(demand, shape, carried)
    if isinstance(subject, Cordon):
        return node_unschedulable.obstacles(demand, shape)[0]
    if isinstance(subject, ContainerPort):
        use = node_ports.holder(subject, shape)
        assert use is not None, "the shape was chosen because this port is refused there"
        return node_ports.obstacle(subject, use, shape)
    if isinstance(subject, Slot):
        return node_resources.slots_obstacle(demand, shape)
    return node_resources.obstacle(demand, subject, shape)


def _describe_terms(demand: Demand, terms: Terms, shape: Shape) -> Obstacle:
    found = [o for o in node_affinity.obstacles(demand, shape) if o.constraint == "nodeAffinity"]
    if len(found) == 1:
        return found[0]
    reasons = "; ".join(o.message.partition(" (")[0] for o in found)
    return Obstacle(
        constraint="nodeAffinity",
        message=f"none of the {len(found)} required node affinity terms matches: {reasons} ({node_affinity.EVENT})",
        semantics="scheduler:P-503",
        place=terms.place,
        against=found[0].against if found else None,
        cause="labels",
    )
