"""VolumeBinding: the node reaches the volume that a claim has, or one that it can get (S-1001 to S-1014)."""

from __future__ import annotations

from collections.abc import Sequence

from unpend.algebra.values import one_of
from unpend.model.node_labels import ZONE
from unpend.placement.demand import Alternative, Demand, Written
from unpend.placement.scheduler import node_affinity
from unpend.placement.space import Masks, Shape, Space
from unpend.placement.verdict import Against, Obstacle
from unpend.placement.volumes import Mount, Provisioning, Rule, StaticVolume
from unpend.records import dataclass
from unpend.source.place import Place

BOUND_EVENT = "node(s) didn't match PersistentVolume's node affinity"
UNBOUND_EVENT = "node(s) didn't find available persistent volumes to bind"
CAPACITY_EVENT = "node(s) did not have enough free storage"


def accepts(demand: Demand, space: Space) -> Masks:
    """The shapes that the plugin lets pass."""
    volumes = demand.volumes
    if volumes.blocked:
        return Masks(0, 0)
    masks = Masks(0 if volumes.unsure else space.everything, space.everything)
    for mount in volumes.mounts:
        masks = masks.both(accepts_mount(mount, space))
    if volumes.together:
        masks = masks.both(accepts_together(volumes.together, space))
    return masks


def accepts_mount(mount: Mount, space: Space) -> Masks:
    """The shapes that one mount lets pass by itself; zone labels are the matter of VolumeZone."""
    if mount.blocked is not None:
        return Masks(0, 0)
    masks = Masks(space.everything, space.everything)
    for rule in mount.rules:
        if rule.kind != "zone":
            masks = masks.both(accepts_rule(rule, space))
    return masks


def accepts_rule(rule: Rule, space: Space) -> Masks:
    """The shapes that meet one rule."""
    key = ("volume", rule.key)
    masks = space.memo.get(key)
    if masks is None:
        if rule.kind == "unbound":
            masks = _provisioned(rule.provisioning, space)
            for volume in rule.static:
                masks = masks.either(_any_of(volume.alternatives, space))
        else:
            masks = _any_of(rule.alternatives, space)
        if rule.open:
            masks = Masks(masks.sure, space.everything)
        space.memo[key] = masks
    return masks


def settled(demand: Demand, masks: Masks, space: Space) -> Masks:
    """Nothing is sure where a volume may be made in a zone in which no node takes the pod (S-1042)."""
    for mount in demand.volumes.elsewhere:
        zones = zones_of_volume(mount, space)
        if any(not masks.sure & space.labels.ask(ZONE, one_of([zone])).sure for zone in zones):
            return Masks(0, masks.possible)
    return masks


def zones_of_volume(mount: Mount, space: Space) -> tuple[str, ...]:
    """The zones in which the volume of an unbound claim may be made: those of its class, else those that have nodes."""
    made = next((rule.provisioning for rule in mount.rules if rule.provisioning is not None), None)
    if made is not None and made.topologies is not None:
        listed = [a.folded[ZONE].values for a in made.topologies if ZONE in a.folded]
        if len(listed) == len(made.topologies):
            return tuple(sorted({zone for values in listed for zone in values or ()}))
    return tuple(sorted(space.labels.values(ZONE)))


def _any_of(alternatives: tuple[Alternative, ...] | None, space: Space) -> Masks:
    if alternatives is None:
        return Masks(space.everything, space.everything)
    masks = Masks(0, 0)
    for alternative in alternatives:
        masks = masks.either(node_affinity.accepts_alternative(alternative, space))
    return masks


def _provisioned(made: Provisioning | None, space: Space) -> Masks:
    if made is None:
        return Masks(0, 0)
    return _any_of(made.topologies, space).both(_any_of(made.capacity, space))


def accepts_together(mounts: Sequence[Mount], space: Space) -> Masks:
    """The shapes on which every one of several mounts gets a volume of its own, chosen as the scheduler chooses.

    The claim that asks for least goes first and takes the smallest volume that is large enough (S-1007).
    """
    rules = [rule for mount in mounts for rule in mount.rules if rule.static]
    rules.sort(key=lambda rule: rule.size)
    volumes = {volume.name: _any_of(volume.alternatives, space) for rule in rules for volume in rule.static}
    made = [_provisioned(rule.provisioning, space) for rule in rules]
    reached = space.everything
    for rule in rules:
        reached &= accepts_rule(rule, space).possible
    found = [0, 0]
    for sure in (0, 1):
        masks = {name: (both.possible, both.sure)[sure] for name, both in volumes.items()}
        ways = [(both.possible, both.sure)[sure] for both in made]
        for number in space.bits(reached):
            if _share_out(rules, masks, ways, number):
                found[sure] |= 1 << number
    return Masks(found[1], found[0])


def _share_out(rules: Sequence[Rule], volumes: dict[str, int], made: Sequence[int], number: int) -> bool:
    taken: set[str] = set()
    for rule, provisioned in zip(rules, made, strict=True):
        free = next((v for v in rule.static if v.name not in taken and volumes[v.name] >> number & 1), None)
        if free is not None:
            taken.add(free.name)
        elif not (rule.open or provisioned >> number & 1):
            return False
    return True


def obstacles(demand: Demand, space: Space, number: int) -> list[Obstacle]:
    """Why it refuses one shape, one obstacle per claim; empty when it does not."""
    found = []
    for mount in demand.volumes.mounts:
        if not accepts_mount(mount, space).possible >> number & 1:
            found.append(obstacle(mount, space, number))
    rivals = demand.volumes.together
    if not found and rivals and not accepts_together(rivals, space).possible >> number & 1:
        found.append(rivals_obstacle(rivals, space.shapes[number]))
    return found


def obstacle(mount: Mount, space: Space, number: int) -> Obstacle:
    """The obstacle of one mount on a shape that it refuses."""
    if mount.blocked is not None:
        return mount.blocked
    for rule in mount.rules:
        if rule.kind != "zone" and not accepts_rule(rule, space).possible >> number & 1:
            return _refused(mount, rule, space, number)
    raise AssertionError("the shape was chosen because this mount is refused there")


def _refused(mount: Mount, rule: Rule, space: Space, number: int) -> Obstacle:
    shape = space.shapes[number]
    if rule.kind == "bound":
        assert mount.bound_to is not None
        owner = f"PersistentVolume/{mount.bound_to.name}"
        wants = f"the volume of {mount.title}, {owner}, is reached only where {spelled(rule.alternatives)}"
        return _message(
            mount, shape, wants, rule.alternatives, BOUND_EVENT, "scheduler:S-1006", owner, mount.bound_to.place
        )
    if rule.kind == "selected":
        (name,) = rule.alternatives[0].names
        wants = f"the volume of {mount.title} is already being made for Node/{name.name}"
        return _message(mount, shape, wants, (), UNBOUND_EVENT, "scheduler:S-1011", mount.title, name.place)
    made, storage = rule.provisioning, mount.storage_class
    owner = f"StorageClass/{storage.name}" if storage is not None else mount.title
    place = storage.place if storage is not None else mount.place
    if made is None:
        names = ", ".join(volume.name for volume in rule.static)
        wants = f"{mount.title} needs one of the PersistentVolumes {names}, and {_reached(rule.static)}"
        alternatives = tuple(a for volume in rule.static for a in volume.alternatives or ())
        return _message(
            mount, shape, wants, alternatives, UNBOUND_EVENT, "scheduler:S-1007", owner, rule.static[0].place
        )
    if made.topologies is not None and not _any_of(made.topologies, space).possible >> number & 1:
        wants = f"{owner} of {mount.title} makes volumes only where {spelled(made.topologies)}"
        return _message(
            mount,
            shape,
            wants,
            made.topologies,
            UNBOUND_EVENT,
            "scheduler:S-1008",
            owner,
            place.at("allowedTopologies"),
        )
    wants = f"the driver of {owner} has too little storage left for {mount.title}"
    return _message(mount, shape, wants, (), CAPACITY_EVENT, "scheduler:S-1009", owner, place)


def _reached(static: Sequence[StaticVolume]) -> str:
    """Where several volumes are reached, in words."""
    return "; ".join(f"{v.name} is reached where {spelled(v.alternatives or ())}" for v in static[:3])


def spelled(alternatives: Sequence[Alternative]) -> str:
    """Alternatives as people write them: constraints joined by `and`, alternatives by `or`."""
    return " or ".join(" and ".join(w.text for w in a.written) or a.broken or "anything" for a in alternatives)


@dataclass(frozen=True, slots=True)
class _Has:
    text: str
    place: Place | None


def _has(alternatives: Sequence[Alternative], shape: Shape) -> _Has:
    """What the shape has for the key that refuses it, and where that constraint of the volume was written."""
    for alternative in alternatives:
        for refused in node_affinity.refusals(alternative, shape):
            if isinstance(refused, Written):
                known = shape.labels.get(refused.key)
                owner = shape.source.owner
                if known is None:
                    return _Has(f"{owner} has no label {refused.key}", refused.place)
                return _Has(f"{owner} has {refused.key}={known}", refused.place)
    return _Has(f"{shape.source.owner} is another node", None)


def _message(
    mount: Mount,
    shape: Shape,
    wants: str,
    alternatives: Sequence[Alternative],
    event: str,
    rule: str,
    owner: str,
    place: Place,
) -> Obstacle:
    has = _has(alternatives, shape)
    text = f"{wants}; {has.text} ({event})"
    return Obstacle("volume", text, rule, mount.place, Against(owner, has.place or place), "volume")


def rivals_obstacle(mounts: Sequence[Mount], shape: Shape) -> Obstacle:
    """The obstacle of several claims that need more volumes than a shape reaches."""
    titles = " and ".join(mount.title for mount in mounts)
    volumes = dict.fromkeys(v.name for m in mounts for r in m.rules for v in r.static)
    place = next(v.place for m in mounts for r in m.rules for v in r.static)
    text = (
        f"{titles} need a PersistentVolume each; {shape.source.owner} does not reach enough of "
        f"{', '.join(volumes)} ({UNBOUND_EVENT})"
    )
    against = Against(f"PersistentVolume/{next(iter(volumes))}", place)
    return Obstacle("volume", text, "scheduler:S-1014", mounts[0].place, against, "volume")
