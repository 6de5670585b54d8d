"""What the volumes of a pod ask of a node (`kube-scheduler.md` §10), as values that both deciders read.

Every claim of a pod becomes a `Mount`: its state, and either `rules` (label alternatives of which the node has to meet
one), or a `blocked` obstacle (no node helps), or a `fact` (something that the files do not say). One node has to
meet all mounts of a pod (S-1014). `VolumeBook` (in `claims`) makes them from claims, volumes and classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from unpend.model.inventory import PersistentVolume, PersistentVolumeClaim, StorageClass
from unpend.model.pod import Volume
from unpend.placement.verdict import Fact, Obstacle
from unpend.records import dataclass, field
from unpend.source.place import Place

if TYPE_CHECKING:
    from unpend.placement.demand import Alternative

ONE_POD = "ReadWriteOncePod"
NO_PROVISIONER = "kubernetes.io/no-provisioner"

State = Literal[
    "bound",
    "delayed",
    "immediate",
    "no-class",
    "class-missing",
    "claim-missing",
    "not-created",
    "not-owned",
    "lost",
    "terminating",
    "volume-missing",
]
"""What became of a claim: bound to a volume; unbound with the binding mode of its class; or why it cannot be used."""


@dataclass(frozen=True, slots=True)
class StaticVolume:
    """A volume that nobody has bound yet and that would do for a claim; None: every node reaches it."""

    name: str
    capacity: int
    alternatives: tuple[Alternative, ...] | None
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Provisioning:
    """Where a class makes volumes: the alternatives of its allowed topologies, None for everywhere.

    `capacity` are those nodes whose storage is known to be large enough; None where capacity is not tracked (S-1009).
    """

    topologies: tuple[Alternative, ...] | None
    capacity: tuple[Alternative, ...] | None


@dataclass(frozen=True, slots=True)
class Rule:
    """What the node has to meet for one mount.

    `bound`: one of `alternatives` of the volume's node affinity. `zone`: the same for its zone and region labels.
    `selected`: the node that provisioning has chosen already. `unbound`: one of `static` that nobody else took, else
    `provisioning`; `size` is what the claim asks for, in thousandths of a byte. `open`: there may be further static
    volumes, so that a node that does not meet the rule is not refused for certain.
    """

    kind: Literal["bound", "zone", "selected", "unbound"]
    alternatives: tuple[Alternative, ...] = ()
    static: tuple[StaticVolume, ...] = ()
    provisioning: Provisioning | None = None
    size: int = 0
    open: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for rules that all nodes answer alike."""
        made = self.provisioning
        return (
            self.kind,
            _keys(self.alternatives),
            tuple((s.name, s.capacity, _keys(s.alternatives)) for s in self.static),
            made and (_keys(made.topologies), _keys(made.capacity)),
            self.size,
            self.open,
        )


def _keys(alternatives: tuple[Alternative, ...] | None) -> tuple[object, ...] | None:
    return None if alternatives is None else tuple(a.key for a in alternatives)


@dataclass(frozen=True, slots=True)
class Attached:
    """A volume of a CSI driver on a node; pods with the same handle share it. An empty handle: one for each pod."""

    driver: str
    handle: str


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk that is written into the pod itself: two pods that use it cannot be on one node (S-1033)."""

    kind: str
    names: tuple[str, ...]
    read_only: bool
    place: Place = field(compare=False, repr=False)

    def clashes(self, other: Disk) -> bool:
        """Whether both cannot be on one node; two readers can, except for EBS."""
        if self.kind != other.kind or (self.read_only and other.read_only and self.kind != "awsElasticBlockStore"):
            return False
        if self.kind == "rbd":
            return self.names[:2] == other.names[:2] and bool(set(self.names[2:]) & set(other.names[2:]))
        return self.names == other.names


@dataclass(frozen=True, slots=True)
class Mount:
    """One claim of a pod.

    `volume` is the name of the volume in the pod; `title` names the claim in messages; `place` is the entry in the pod
    (or the claim template). `shared`: all replicas use the same claim. `stored`: the claim is looked at as it stands,
    no controller will do anything for it any more. `bound_to`, `storage_class` and `claim` are what was found.
    `chosen_elsewhere`: the zone of the volume is chosen before and without regard to the pod (S-1042).
    """

    volume: str
    title: str
    state: State
    place: Place = field(compare=False, repr=False)
    shared: bool = True
    stored: bool = False
    rules: tuple[Rule, ...] = ()
    blocked: Obstacle | None = field(default=None, compare=False)
    fact: Fact | None = field(default=None, compare=False)
    chosen_elsewhere: bool = False
    attached: Attached | None = None
    claim: PersistentVolumeClaim | None = field(default=None, compare=False, repr=False)
    bound_to: PersistentVolume | None = field(default=None, compare=False, repr=False)
    storage_class: StorageClass | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for mounts that all nodes answer alike."""
        return (
            tuple(rule.key for rule in self.rules),
            self.blocked is not None,
            self.fact is not None,
            self.chosen_elsewhere,
            self.attached,
        )


@dataclass(frozen=True)
class PodVolumes:
    """All that the volumes of a pod ask for; `disks` are inline disks that only one pod of a node may use."""

    mounts: tuple[Mount, ...] = ()
    disks: tuple[Disk, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.mounts or self.disks)

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Equal for pods whose volumes all nodes answer alike."""
        return (*(mount.key for mount in self.mounts), self.disks) if self else ()

    @cached_property
    def blocked(self) -> tuple[Mount, ...]:
        """The mounts that no node can satisfy."""
        return tuple(mount for mount in self.mounts if mount.blocked is not None)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """What decides, or may decide, and is not in the files."""
        return tuple(mount.fact for mount in self.mounts if mount.fact is not None)

    @cached_property
    def unsure(self) -> bool:
        """Whether no node surely does, because of such a fact."""
        return any(m.fact and not m.chosen_elsewhere and not any(rule.open for rule in m.rules) for m in self.mounts)

    @cached_property
    def elsewhere(self) -> tuple[Mount, ...]:
        """The mounts whose zone is chosen before the pod is looked at."""
        return tuple(mount for mount in self.mounts if mount.chosen_elsewhere)

    @cached_property
    def together(self) -> tuple[Mount, ...]:
        """The mounts that compete for the same static volumes; empty where each has its own."""
        found: dict[str, list[int]] = {}
        for number, mount in enumerate(self.mounts):
            for rule in mount.rules:
                for volume in rule.static:
                    found.setdefault(volume.name, []).append(number)
        rivals = sorted({number for users in found.values() if len(users) > 1 for number in users})
        return tuple(self.mounts[number] for number in rivals)

    @cached_property
    def attached(self) -> tuple[Attached, ...]:
        """The volumes of CSI drivers, each once."""
        own = [m.attached for m in self.mounts if m.attached is not None]
        shared = dict.fromkeys(a for a in own if a.handle)
        return (*shared, *(a for a in own if not a.handle))

    def without(self, mount: Mount) -> PodVolumes:
        """The same without one of the mounts."""
        return PodVolumes(tuple(m for m in self.mounts if m is not mount), self.disks)

    def __iter__(self) -> Iterator[Mount]:
        return iter(self.mounts)


NO_VOLUMES = PodVolumes()

_DISKS: Mapping[str, tuple[str, ...]] = {
    "awsElasticBlockStore": ("volumeID",),
    "gcePersistentDisk": ("pdName",),
    "iscsi": ("iqn",),
    "rbd": ("image", "pool"),
}


def disk_of(volume: Volume) -> Disk | None:
    """The disk that a volume of a pod names itself; None for every other volume."""
    keys = _DISKS.get(volume.kind)
    if keys is None:
        return None
    names = [str(volume.source.get(key) or ("rbd" if key == "pool" else "")) for key in keys]
    if volume.kind == "rbd":
        monitors = volume.source.get("monitors")
        names += [str(m) for m in monitors] if isinstance(monitors, list) else []
    return Disk(volume.kind, tuple(names), volume.source.get("readOnly") is True, volume.place)
