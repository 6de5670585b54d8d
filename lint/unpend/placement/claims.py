"""Which claims the volumes of a pod mean: named, templated by ordinal, or ephemeral (`kube-scheduler.md` §10.1)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from unpend.model.inventory import (
    BoundPod,
    Inventory,
    PersistentVolumeClaim,
    Workload,
)
from unpend.model.pod import PodSpec, Volume
from unpend.model.problems import Problems
from unpend.model.storage import claim_template
from unpend.placement.bindings import Bindings, Use
from unpend.placement.volumes import (
    NO_VOLUMES,
    Attached,
    Disk,
    Mount,
    PodVolumes,
    disk_of,
)
from unpend.records import dataclass, replace
from unpend.settings import Settings


@dataclass(frozen=True, slots=True)
class Share:
    """Some pods of a workload whose volumes ask for the same; `ordinals` is empty where pods have no number."""

    volumes: PodVolumes
    count: int
    ordinals: frozenset[int] = frozenset()


class VolumeBook:
    """The volumes of pods, by way of the claims of an inventory."""

    def __init__(self, inventory: Inventory, settings: Settings) -> None:
        self._inventory = inventory
        self._claims_open = settings.world.claims == "open"
        self._admission = settings.admission
        self._bindings = Bindings(inventory, settings)

    @cached_property
    def _claims(self) -> Mapping[tuple[str, str], PersistentVolumeClaim]:
        return {(c.namespace, c.name): c for c in reversed(self._inventory.claims)}

    @cached_property
    def _templates(self) -> Mapping[tuple[str, str], PersistentVolumeClaim]:
        """The claim templates of StatefulSets by the names of their claims without the ordinal."""
        return {
            (workload.namespace, f"{template.name}-{workload.name}"): template
            for workload in self._inventory.workloads
            for template in workload.claim_templates
        }

    @cached_property
    def _numbered(self) -> frozenset[tuple[str, str]]:
        """Claims that exist, or that a volume is kept for."""
        return frozenset(self._bindings.kept.keys() | self._claims.keys())

    def of(self, workload: Workload, spec: PodSpec) -> PodVolumes:
        """The volumes of the first pod of a workload; `spec` is that of the effective pod."""
        return self._of(workload, spec, workload.first_ordinal)

    def shares(self, workload: Workload, spec: PodSpec, needed: int) -> tuple[Share, ...]:
        """The pods of a workload by what their volumes ask for: ordinals of a StatefulSet may have volumes already."""
        first = workload.first_ordinal
        if not workload.claim_templates or not any(
            (workload.namespace, f"{claim.name}-{workload.name}-{ordinal}") in self._numbered
            for claim in workload.claim_templates
            for ordinal in range(first, first + needed)
        ):
            return (Share(self._of(workload, spec, first), needed),)
        found: dict[tuple[object, ...], tuple[PodVolumes, set[int]]] = {}
        for ordinal in range(first, first + needed):
            volumes = self._of(workload, spec, ordinal)
            found.setdefault(volumes.key, (volumes, set()))[1].add(ordinal)
        return tuple(Share(volumes, len(ordinals), frozenset(ordinals)) for volumes, ordinals in found.values())

    def of_bound(self, pod: BoundPod) -> PodVolumes:
        """The volumes of a pod that is on a node: what it has attached and which disks it uses."""
        spec, namespace = pod.template.spec, pod.template.namespace
        if not spec.volumes:
            return NO_VOLUMES
        mounts = []
        for volume in spec.volumes:
            name = f"{pod.name}-{volume.name}" if volume.kind == "ephemeral" else volume.claim
            claim = self._claims.get((namespace, name)) if name else None
            if claim is not None:
                use = Use(volume.name, claim.name, namespace, volume.place, True, True)
                mount = self._bindings.mount(use, claim)
                if volume.kind == "ephemeral" and claim.owner != f"Pod/{pod.name}":
                    mount = replace(mount, state="not-owned")
                mounts.append(mount)
        disks = tuple(disk for volume in spec.volumes if (disk := disk_of(volume)) is not None)
        return PodVolumes(tuple(mounts), disks)

    def _of(self, workload: Workload, spec: PodSpec, ordinal: int) -> PodVolumes:
        if not spec.volumes and not workload.claim_templates:
            return NO_VOLUMES
        templates = {claim.name for claim in workload.claim_templates}
        mounts = [self._templated(workload, claim, ordinal) for claim in workload.claim_templates]
        disks: list[Disk] = []
        for volume in spec.volumes:
            if volume.name in templates:
                continue
            if volume.claim:
                mounts.append(self._named(workload, volume, volume.claim))
            elif volume.kind == "ephemeral":
                mounts.append(self._ephemeral(workload, volume))
            else:
                disk = disk_of(volume)
                if disk is not None:
                    disks.append(disk)
        return PodVolumes(tuple(mounts), tuple(disks)) if mounts or disks else NO_VOLUMES

    def _stored(self, workload: Workload) -> bool:
        """Whether the pod is one that is in a cluster as it stands: then its claims are, too (S-1005)."""
        if self._admission == "none":
            return True
        return workload.kind == "Pod" and self._admission == "templates"

    def _named(self, workload: Workload, volume: Volume, name: str) -> Mount:
        use = Use(volume.name, name, workload.namespace, volume.place, True, self._stored(workload))
        claim = self._claims.get((workload.namespace, name))
        if claim is not None:
            return self._bindings.mount(use, claim)
        template = self._templates.get((workload.namespace, name.rpartition("-")[0]))
        if template is not None and name.rpartition("-")[2].isdigit():
            return self._bindings.mount(use, replace(template, name=name, namespace=workload.namespace))
        if self._claims_open:
            return use.unknown("claim-missing", "claim", f"whether {use.title} exists, and where its volume is")
        message = f'{use.title} does not exist (persistentvolumeclaim "{name}" not found)'
        return use.blocked("claim-missing", "scheduler:S-1001", message)

    def _templated(self, workload: Workload, template: PersistentVolumeClaim, ordinal: int) -> Mount:
        name = f"{template.name}-{workload.name}-{ordinal}"
        use = Use(template.name, name, workload.namespace, template.place, False, False)
        found = self._claims.get((workload.namespace, name))
        mount = self._bindings.mount(use, found or replace(template, name=name, namespace=workload.namespace))
        # Each pod has one of its own, bound already or not.
        return mount if mount.attached is None else replace(mount, attached=Attached(mount.attached.driver, ""))

    def _ephemeral(self, workload: Workload, volume: Volume) -> Mount:
        """A generic ephemeral volume: its claim is named after the pod, which is only known of a bare Pod (S-1002)."""
        name = f"{workload.name}-{volume.name}"
        use = Use(volume.name, name, workload.namespace, volume.place, False, self._stored(workload))
        found = self._claims.get((workload.namespace, name))
        if workload.kind == "Pod" and found is not None:
            if found.owner not in ("", f"Pod/{workload.name}"):
                message = f"{use.title} belongs to {found.owner}, not to this Pod"
                return use.blocked("not-owned", "scheduler:S-1002", message, found.place)
            return self._bindings.mount(use, found)
        if workload.kind == "Pod" and use.stored and not self._claims_open:
            message = f"the controller has not made {use.title} (waiting for ephemeral volume controller)"
            return use.blocked("not-created", "scheduler:S-1002", message)
        data = volume.source.get("volumeClaimTemplate")
        place = volume.place.at("ephemeral", "volumeClaimTemplate")
        template = claim_template(
            data if isinstance(data, dict) else {}, place, Problems(muted=True), workload.namespace
        )
        mount = self._bindings.mount(replace(use, stored=False), replace(template, name=""))
        if mount.attached is not None:
            mount = replace(mount, attached=Attached(mount.attached.driver, ""))
        return mount
