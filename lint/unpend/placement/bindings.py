"""How a claim is bound, or would be, and what its volume asks of a node (`kube-scheduler.md` §10.1)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from unpend.algebra.selectors import matches
from unpend.model.inventory import Inventory, PersistentVolume, PersistentVolumeClaim, StorageClass
from unpend.model.pod import Label
from unpend.placement.demand import NameField, alternative_from, volume_alternative
from unpend.placement.storage_capacity import capacity_alternatives
from unpend.placement.verdict import Against, Fact, Obstacle
from unpend.placement.volume_zones import zone_label_alternatives
from unpend.placement.volumes import NO_PROVISIONER, Attached, Mount, Provisioning, Rule, State, StaticVolume
from unpend.records import dataclass, replace
from unpend.settings import Settings
from unpend.source.place import Place

SELECTED_NODE = "volume.kubernetes.io/selected-node"
NOT_ZONAL = frozenset(
    {
        "blob.csi.azure.com",
        "cephfs.csi.ceph.com",
        "driver.longhorn.io",
        "efs.csi.aws.com",
        "file.csi.azure.com",
        "filestore.csi.storage.gke.io",
        "fsx.csi.aws.com",
        "kubernetes.io/azure-file",
        "nfs.csi.k8s.io",
        "rbd.csi.ceph.com",
        "s3.csi.aws.com",
        "smb.csi.k8s.io",
    }
)
"""Provisioners whose volumes are reached over the network from every zone."""

_IN_TREE = "kubernetes.io/"


@dataclass(frozen=True, slots=True)
class Use:
    """How a pod comes by a claim: under which volume name, at which place, for itself or with its replicas."""

    volume: str
    claim: str
    namespace: str
    place: Place
    shared: bool
    stored: bool

    @property
    def title(self) -> str:
        """The claim as messages name it."""
        return f"PersistentVolumeClaim/{self.namespace}/{self.claim}".replace("//", "/")

    def mount(self, state: State, **found: Any) -> Mount:
        """A mount of the claim in this state."""
        return Mount(self.volume, self.title, state, self.place, self.shared, self.stored, **found)

    def blocked(self, state: State, rule: str, message: str, against: Place | None = None, **found: Any) -> Mount:
        """A mount that no node satisfies; `against` is a place in the storage class, else in the claim."""
        storage = found.get("storage_class")
        owner = self.title if storage is None else f"StorageClass/{storage.name}"
        other = None if against is None else Against(owner, against)
        text = f"volume {self.volume!r}: {message}"
        return self.mount(state, blocked=Obstacle("volume", text, rule, self.place, other, "volume"), **found)

    def unknown(self, state: State, name: str, message: str, **found: Any) -> Mount:
        """A mount of which something is not known."""
        return self.mount(state, fact=Fact(name, message, self.place), **found)


class Bindings:
    """The volumes and classes of an inventory, and what a claim gets of them."""

    def __init__(self, inventory: Inventory, settings: Settings) -> None:
        self._inventory = inventory
        self._claims_open = settings.world.claims == "open"
        self._classes_open = settings.world.classes == "open"

    @cached_property
    def _volumes(self) -> Mapping[str, PersistentVolume]:
        return {v.name: v for v in reversed(self._inventory.volumes)}

    @cached_property
    def _claimed(self) -> Mapping[str, tuple[str, str]]:
        """Volumes that a claim names, by that claim."""
        return {c.volume_name: (c.namespace, c.name) for c in self._inventory.claims if c.volume_name}

    @cached_property
    def _nodes(self) -> frozenset[str]:
        return frozenset(node.name for node in self._inventory.nodes)

    @cached_property
    def kept(self) -> Mapping[tuple[str, str], PersistentVolume]:
        """Volumes that are kept for one claim, by that claim."""
        kept = {(v.claim_namespace, v.claim_name): v for v in reversed(self._inventory.volumes)}
        return {claim: volume for claim, volume in kept.items() if claim[1]}

    @cached_property
    def _by_class(self) -> Mapping[str, list[PersistentVolume]]:
        found: dict[str, list[PersistentVolume]] = {}
        for volume in self._inventory.volumes:
            found.setdefault(volume.storage_class, []).append(volume)
        return found

    def mount(self, use: Use, claim: PersistentVolumeClaim) -> Mount:
        """What a use of a claim asks of a node."""
        if claim.terminating:
            message = f'{use.title} is being deleted (persistentvolumeclaim "{claim.name}" is being deleted)'
            return use.blocked("terminating", "scheduler:S-1001", message, claim.place, claim=claim)
        if claim.phase == "Lost":
            message = f"{use.title} is Lost: its volume {claim.volume_name!r} is gone"
            return use.blocked("lost", "scheduler:S-1003", message, claim.place, claim=claim)
        if claim.volume_name:
            return self._bound(use, claim, self._volumes.get(claim.volume_name))
        kept = self._kept_for(claim)
        if kept is not None and not use.stored:
            return self._bound(use, claim, kept)
        return self._unbound(use, claim)

    def _kept_for(self, claim: PersistentVolumeClaim) -> PersistentVolume | None:
        """The volume whose claimRef names a claim: the controller binds the two whatever the pod needs."""
        volume = self.kept.get((claim.namespace, claim.name)) if claim.name else None
        return volume if volume is not None and volume.storage_class == (claim.storage_class or "") else None

    def _bound(self, use: Use, claim: PersistentVolumeClaim, volume: PersistentVolume | None) -> Mount:
        if volume is None:
            if self._claims_open:
                message = f"where the volume {claim.volume_name!r} of {use.title} is"
                return use.unknown("volume-missing", "volume", message, claim=claim)
            message = f"{use.title} is bound to the volume {claim.volume_name!r}, which does not exist"
            return use.blocked("volume-missing", "scheduler:S-1003", message, claim.place, claim=claim)
        rules = []
        if volume.terms is not None:
            rules.append(Rule("bound", tuple(volume_alternative(term) for term in volume.terms)))
        zones = zone_label_alternatives(volume)
        if zones:
            rules.append(Rule("zone", zones))
        return use.mount(
            "bound",
            rules=tuple(rules),
            attached=_attached(volume),
            claim=claim,
            bound_to=volume,
            storage_class=self._inventory.storage_classes.get(claim.storage_class or ""),
        )

    def _unbound(self, use: Use, claim: PersistentVolumeClaim) -> Mount:
        name = claim.storage_class
        if name is None:
            defaults = [c for c in self._inventory.storage_classes.values() if c.is_default]
            if len(defaults) != 1 and (defaults or self._classes_open or not use.stored):
                message = f"which StorageClass {use.title} gets by default"
                return use.unknown("no-class", "default-storage-class", message, claim=claim)
            name = defaults[0].name if defaults else ""
        storage = self._inventory.storage_classes.get(name)
        static = self._static(claim, name)
        if storage is None:
            return self._classless(use, claim, name, static)
        if storage.binding_mode == "WaitForFirstConsumer":
            return self._delayed(use, claim, storage, static)
        return self._immediate(use, claim, storage, static)

    def _classless(self, use: Use, claim: PersistentVolumeClaim, name: str, static: tuple[StaticVolume, ...]) -> Mount:
        """A claim without a class, or with one that does not exist: only a volume that is there helps (S-1004)."""
        state: State = "class-missing" if name else "no-class"
        if name and self._classes_open:
            message = f"what StorageClass/{name} of {use.title} is"
            return use.unknown(state, "storage-class", message, claim=claim)
        if not use.stored and static:
            return self._taken_up(use, claim, state, static)
        if not use.stored and self._claims_open:
            message = f"which PersistentVolume {use.title} is bound to"
            return use.unknown(state, "volume", message, claim=claim)
        why = f"names StorageClass/{name}, which does not exist" if name else "has no StorageClass"
        message = f"{use.title} {why} and is not bound (pod has unbound immediate PersistentVolumeClaims)"
        return use.blocked(state, "scheduler:S-1005", message, claim.place.at("spec"), claim=claim)

    def _delayed(
        self, use: Use, claim: PersistentVolumeClaim, storage: StorageClass, static: tuple[StaticVolume, ...]
    ) -> Mount:
        made = self._provisioning(claim, storage)
        attached = _attached_by(storage, claim)
        chosen = claim.annotations.get(SELECTED_NODE)
        if chosen is not None and chosen.value in self._nodes and made is not None:
            node = alternative_from((), (NameField(chosen.value, True, chosen.place),))
            pinned = (Rule("selected", (node,)), Rule("unbound", provisioning=made))
            return use.mount("delayed", rules=pinned, attached=attached, claim=claim, storage_class=storage)
        if made is None and self._claims_open:
            message = f"which PersistentVolumes of StorageClass/{storage.name} there are"
            return use.unknown("delayed", "volume", message, claim=claim, storage_class=storage)
        if made is None and not static:
            message = (
                f"StorageClass/{storage.name} makes no volumes (its provisioner is {NO_PROVISIONER}), and no "
                f"PersistentVolume that is free does for {use.title} "
                "(node(s) didn't find available persistent volumes to bind)"
            )
            return use.blocked(
                "delayed",
                "scheduler:S-1010",
                message,
                storage.place.at("provisioner"),
                claim=claim,
                storage_class=storage,
            )
        size = claim.request.milli if claim.request else 0
        free = made is not None and made.topologies is None and made.capacity is None
        if free:
            return use.mount("delayed", attached=attached, claim=claim, storage_class=storage)
        message = f"whether there are other PersistentVolumes of StorageClass/{storage.name}"
        return use.mount(
            "delayed",
            rules=(Rule("unbound", static=static, provisioning=made, size=size, open=self._claims_open),),
            fact=Fact("volume", message, use.place) if self._claims_open else None,
            attached=attached,
            claim=claim,
            storage_class=storage,
        )

    def _immediate(
        self, use: Use, claim: PersistentVolumeClaim, storage: StorageClass, static: tuple[StaticVolume, ...]
    ) -> Mount:
        place = storage.place.at("volumeBindingMode")
        made = self._provisioning(claim, storage)
        if use.stored and not self._claims_open:
            message = (
                f"{use.title} is not bound, and StorageClass/{storage.name} binds immediately: the scheduler waits for "
                "the volume (pod has unbound immediate PersistentVolumeClaims)"
            )
            return use.blocked("immediate", "scheduler:S-1005", message, place, claim=claim, storage_class=storage)
        if static:
            return replace(self._taken_up(use, claim, "immediate", static), storage_class=storage)
        if made is None:
            if self._claims_open:
                message = f"which PersistentVolume {use.title} is bound to"
                return use.unknown("immediate", "volume", message, claim=claim, storage_class=storage)
            message = f"StorageClass/{storage.name} makes no volumes, and no PersistentVolume does for {use.title}"
            return use.blocked("immediate", "scheduler:S-1005", message, place, claim=claim, storage_class=storage)
        zonal = storage.provisioner not in NOT_ZONAL
        message = f"in which zone the volume of {use.title} is made: StorageClass/{storage.name} binds immediately"
        return use.mount(
            "immediate",
            rules=(Rule("unbound", provisioning=made),) if made.topologies is not None else (),
            fact=Fact("volume-zone", message, use.place) if zonal else None,
            chosen_elsewhere=zonal,
            attached=_attached_by(storage, claim),
            claim=claim,
            storage_class=storage,
        )

    def _taken_up(
        self, use: Use, claim: PersistentVolumeClaim, state: State, static: tuple[StaticVolume, ...]
    ) -> Mount:
        """A claim that the controller binds to the smallest volume that does, before the pod is looked at."""
        least = [volume for volume in static if volume.capacity == static[0].capacity]
        rule = Rule("unbound", static=tuple(least), size=claim.request.milli if claim.request else 0)
        if len(least) == 1 and not self._claims_open:
            return use.mount(state, rules=(rule,), claim=claim)
        message = f"which PersistentVolume {use.title} is bound to"
        return use.unknown(state, "volume", message, claim=claim, rules=() if self._claims_open else (rule,))

    def _static(self, claim: PersistentVolumeClaim, storage_class: str) -> tuple[StaticVolume, ...]:
        """The free volumes that would do for a claim, the smallest first (S-1007)."""
        size = claim.request.milli if claim.request else 0
        found = []
        for volume in self._by_class.get(storage_class, ()):
            capacity = volume.capacity.milli if volume.capacity else 0
            if (
                capacity >= size
                and volume.volume_mode == claim.volume_mode
                and set(claim.access_modes) <= set(volume.access_modes)
                and self._is_free(volume, claim)
                and (claim.selector is None or matches(claim.selector.expressions, _texts(volume.labels)))
            ):
                terms = None if volume.terms is None else tuple(volume_alternative(term) for term in volume.terms)
                found.append(StaticVolume(volume.name, capacity, terms, volume.place))
        return tuple(sorted(found, key=lambda v: v.capacity))

    def _is_free(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
        if volume.terminating:
            return False
        mine = (claim.namespace, claim.name)
        if volume.claim_name:
            return (volume.claim_namespace, volume.claim_name) == mine
        return volume.phase in ("", "Available") and self._claimed.get(volume.name, mine) == mine

    def _provisioning(self, claim: PersistentVolumeClaim, storage: StorageClass) -> Provisioning | None:
        if storage.provisioner in ("", NO_PROVISIONER):
            return None
        topologies = tuple(volume_alternative(term) for term in storage.topologies) or None
        return Provisioning(topologies, capacity_alternatives(claim, storage, self._inventory))


def _attached(volume: PersistentVolume) -> Attached | None:
    driver, handle = volume.source.get("driver"), volume.source.get("volumeHandle")
    if volume.kind != "csi" or not isinstance(driver, str) or not isinstance(handle, str):
        return None
    return Attached(driver, handle)


def _attached_by(storage: StorageClass, claim: PersistentVolumeClaim) -> Attached | None:
    if not storage.provisioner or storage.provisioner.startswith(_IN_TREE):
        return None
    return Attached(storage.provisioner, f"{claim.namespace}/{claim.name}" if claim.name else "")


def _texts(labels: Mapping[str, Label]) -> dict[str, str]:
    return {key: label.value for key, label in labels.items()}
