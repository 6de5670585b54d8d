"""The fewest changes after which kube-scheduler takes a pod, on the node where that is cheapest.

Every change is made on the demand and the result is asked again: a repair that is shown was evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from unpend.model.pod import ContainerPort, Taint, Toleration
from unpend.placement.conflict import Atom, Attachments, Cordon, Rivals, Slot, Uncounted, atoms_of, selector_of
from unpend.placement.demand import Alternative, Demand, NameField, Written, alternative_from, with_volumes
from unpend.placement.scheduler import filters, node_affinity, node_resources, taint_toleration
from unpend.placement.space import ZERO, Shape, Space
from unpend.placement.verdict import Change, Repair
from unpend.placement.volume_repair import another_disk, attach_fewer, change_rivals, change_volume
from unpend.placement.volumes import Disk, Mount, PodVolumes
from unpend.records import dataclass, replace

MOST_CHANGES = 3


@dataclass(frozen=True, slots=True)
class _Plan:
    """One alternative against the space: the constraints that count, each with the shapes that it refuses.

    `base` is the demand with this alternative alone; `dropped` says that the term itself has to go.
    """

    base: Demand
    refusing: tuple[tuple[Written | NameField | Atom, int], ...]
    dropped: Change | None


def nearest(demand: Demand, space: Space) -> Repair | None:
    """The cheapest repair over all shapes; None when no three changes help, or when nothing is refused."""
    found = repaired(demand, space)
    return None if found is None else found[0]


def repaired(demand: Demand, space: Space) -> tuple[Repair, Demand] | None:
    """The cheapest repair over all shapes with the demand that it leads to.

    Fewest changes first; of equal ones a shape that the labels select already, then the order of the shapes.
    """
    best: tuple[int, int, _Plan, int] | None = None
    atoms = tuple(atom for atom in atoms_of(demand, space) if atom.mask is not None)
    for index, plan in enumerate(_plans(demand, space, atoms)):
        count, mask = _cheapest(plan, space)
        if mask and count and (best is None or (count, index) < best[:2]):
            best = (count, index, plan, mask)
    if best is None:
        return None
    plan, mask = best[2], best[3]
    selected = node_affinity.accepts(demand, space).possible
    # Data does not move: of equal repairs those that leave the volumes alone come first.
    kept = filters.accepts_volumes(demand, space).possible if demand.volumes else space.everything
    for candidates in (mask & selected & kept, mask & kept, mask & selected, mask & ~selected):
        if candidates:
            repair = _repair(plan, _choose(plan, candidates, space), space)
            if repair is not None:
                return repair
    return None


def _plans(demand: Demand, space: Space, atoms: tuple[Atom, ...]) -> Iterable[_Plan]:
    usable = [a for a in demand.alternatives if not a.broken]
    others = tuple((atom, space.everything & ~atom.mask) for atom in atoms if atom.mask is not None)
    if usable:
        for alternative in usable:
            yield _Plan(replace(demand, alternatives=(alternative,)), (*_refusing(alternative, space), *others), None)
        return
    bare = alternative_from(selector_of(demand.alternatives))
    change = Change("remove the required node affinity, which matches no node", demand.affinity)
    yield _Plan(replace(demand, alternatives=(bare,)), (*_refusing(bare, space), *others), change)


def _refusing(alternative: Alternative, space: Space) -> Iterable[tuple[Written | NameField, int]]:
    for written in alternative.written:
        alone = node_affinity.accepts_alternative(alternative_from([written]), space)
        yield written, space.everything & ~alone.possible
    for name in alternative.names:
        yield name, space.everything & ~node_affinity.accepts_name(name, space)


def _cheapest(plan: _Plan, space: Space) -> tuple[int, int]:
    """The smallest number of changes, and the shapes that it takes them to; a full node cannot be repaired."""
    at_least = [space.slots.possible] + [0] * (MOST_CHANGES + 1)
    if plan.dropped is not None:
        at_least[1] = at_least[0]
    for _, refused in plan.refusing:
        for count in range(MOST_CHANGES + 1, 0, -1):
            at_least[count] |= at_least[count - 1] & refused
    for count in range(MOST_CHANGES + 1):
        exactly = at_least[count] & ~(at_least[count + 1] if count < MOST_CHANGES + 1 else 0)
        if exactly and count <= MOST_CHANGES:
            return count, exactly
    return 0, 0


def _choose(plan: _Plan, mask: int, space: Space) -> int:
    """The first shape; where only a resource is missing, the one that has most of it."""
    first = next(iter(space.bits(mask)))
    refusing = [subject for subject, refused in plan.refusing if refused >> first & 1]
    if len(refusing) != 1 or not isinstance(refusing[0], Atom) or not isinstance(refusing[0].subject, str):
        return first
    resource = refusing[0].subject
    others = mask
    for subject, refused in plan.refusing:
        others &= refused if subject is refusing[0] else ~refused
    return space.richest(resource, others)


def _repair(plan: _Plan, number: int, space: Space) -> tuple[Repair, Demand] | None:
    shape = space.shapes[number]
    changes = [plan.dropped] if plan.dropped else []
    changed = plan.base
    uncordoned = False
    for subject, refused in plan.refusing:
        if not refused >> number & 1:
            continue
        if isinstance(subject, Written | NameField):
            step = _relabel(changed, subject, shape)
        elif isinstance(subject.subject, Cordon):
            uncordoned = True
            place = shape.source.unschedulable()
            changes.append(Change(f"make {shape.source.owner} schedulable again (kubectl uncordon)", place))
            continue
        else:
            step = _EDITS[type(subject.subject)](changed, subject, shape)
        changed, change = step
        changes.append(change)
    if not _verified(changed, number, space, uncordoned):
        return None
    return Repair(shape.source.owner, tuple(changes)), changed


def _verified(changed: Demand, number: int, space: Space, uncordoned: bool) -> bool:
    """Whether the scheduler possibly takes the changed pod on the shape."""
    if uncordoned:
        shape = replace(space.shapes[number], unschedulable=False)
        return bool(filters.ask(changed, Space([shape])).accepted.possible)
    return bool(filters.ask(changed, space).accepted.possible >> number & 1)


def _relabel(demand: Demand, subject: Written | NameField, shape: Shape) -> tuple[Demand, Change]:
    alternative = demand.alternatives[0]
    written = [w for w in alternative.written if w is not subject]
    names = tuple(n for n in alternative.names if n is not subject)
    changed = replace(demand, alternatives=(alternative_from(written, names, term=alternative.term),))
    if isinstance(subject, NameField):
        return changed, Change(f"drop the matchFields requirement on the node name {subject.name!r}", subject.place)
    known = shape.labels.get(subject.key)
    if not isinstance(known, str):
        return changed, Change(f"drop {subject.text} from {_where(subject)}", subject.place)
    if subject.kind == "nodeSelector":
        message = f"change nodeSelector {subject.key} from {subject.texts[0]!r} to {known!r}"
    elif subject.operator == "In":
        message = f"add {known!r} to the values of {subject.text} in the required node affinity"
    elif subject.operator == "NotIn":
        message = f"take {known!r} out of the values of {subject.text} in the required node affinity"
    else:
        message = f"drop {subject.text} from {_where(subject)}"
    return changed, Change(message, subject.place)


def _where(written: Written) -> str:
    return "nodeSelector" if written.kind == "nodeSelector" else "the required node affinity"


def _tolerate(demand: Demand, atom: Atom, shape: Shape) -> tuple[Demand, Change]:
    taint = atom.subject
    assert isinstance(taint, Taint)
    toleration = Toleration(taint.key, "Equal", taint.value, taint.effect, place=demand.tolerations_place)
    changed = replace(demand, tolerations=(*demand.tolerations, toleration))
    return changed, Change(f"add a toleration for {taint_toleration.spelled(taint)}", demand.tolerations_place)


def _lower(demand: Demand, atom: Atom, shape: Shape) -> tuple[Demand, Change]:
    resource = atom.subject
    assert isinstance(resource, str)
    free = max(shape.free.get(resource, ZERO).high, 0)
    requests = {name: amount for name, amount in demand.requests.items() if name != resource}
    places = demand.request_places.get(resource, ())
    place = places[0] if places else demand.spec_place
    if not free:
        return replace(demand, requests=requests), Change(f"drop the {resource} request", place)
    free = requests[resource] = _readable(resource, free)
    wanted = node_resources.shown(resource, demand.requests[resource])
    most = node_resources.shown(resource, free)
    if place.object is not demand.spec_place.object:
        message = f"request at most {most} of {resource}: {wanted} is a default from elsewhere"
        return replace(demand, requests=requests), Change(message, demand.spec_place.at("containers"))
    what = f"the {resource} request" if len(places) < 2 else f"the {resource} requests of the pod together"
    return replace(demand, requests=requests), Change(f"lower {what} from {wanted} to at most {most}", place)


def _readable(resource: str, units: int) -> int:
    """An amount that is no more and has a short spelling: bytes in whole Mi where there are some."""
    if resource in ("memory", "ephemeral-storage") and units >= 2**20:
        return units >> 20 << 20
    return units


def _another_port(demand: Demand, atom: Atom, shape: Shape) -> tuple[Demand, Change]:
    port = atom.subject
    assert isinstance(port, ContainerPort)
    changed = replace(demand, ports=tuple(p for p in demand.ports if p is not port))
    return changed, Change(f"use another host port than {port.host_port}/{port.protocol}, or none", port.place)


def _other_volume(demand: Demand, atom: Atom, shape: Shape) -> tuple[Demand, Change]:
    volumes = demand.volumes
    subject = atom.subject
    if isinstance(subject, Mount):
        return with_volumes(demand, volumes.without(subject)), change_volume(subject, shape)
    if isinstance(subject, Rivals):
        fewer = PodVolumes(tuple(m for m in volumes.mounts if m not in subject.mounts[1:]), volumes.disks)
        return with_volumes(demand, fewer), change_rivals(subject.mounts)
    if isinstance(subject, Attachments):
        rest = tuple(m for m in volumes.mounts if m.attached is None or m.attached.driver != subject.driver)
        return with_volumes(demand, PodVolumes(rest, volumes.disks)), attach_fewer(demand, subject.driver, shape)
    assert isinstance(subject, Disk)
    others = tuple(disk for disk in volumes.disks if disk is not subject)
    return with_volumes(demand, PodVolumes(volumes.mounts, others)), another_disk(subject)


def _recount(demand: Demand, atom: Atom, shape: Shape) -> tuple[Demand, Change]:
    # Nothing in the pod helps: the repair does not pass its check.
    return demand, Change("delete the claim that was not made for its Pod", None)


def _keep(demand: Demand, atom: Atom, shape: Shape) -> tuple[Demand, Change]:
    raise AssertionError("a shape without a pod slot is never chosen for a repair")


_EDITS: dict[type, Callable[[Demand, Atom, Shape], tuple[Demand, Change]]] = {
    Taint: _tolerate,
    str: _lower,
    ContainerPort: _another_port,
    Mount: _other_volume,
    Rivals: _other_volume,
    Attachments: _other_volume,
    Disk: _other_volume,
    Uncounted: _recount,
    Slot: _keep,
}
