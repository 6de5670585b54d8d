"""The volumes of a pod as Karpenter judges them before it plans (`karpenter.md` §6.1), and where they allow (§6.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

from unpend.model.karpenter_labels import HOSTNAME
from unpend.placement.demand import Alternative
from unpend.placement.karpenter.requirement import Requirement, requirement
from unpend.placement.karpenter.requirements import Requirements
from unpend.placement.verdict import Obstacle
from unpend.placement.volumes import Mount, PodVolumes
from unpend.records import dataclass

Known = Literal["yes", "unknown"]
_MOST_WAYS = 256


@dataclass(frozen=True, slots=True)
class Ways:
    """Ways in which a pod can have its volumes, each as requirements of the node; none at all: nothing is asked.

    `refused` is set where Karpenter does not plan the pod. `known` is `unknown` where binding depends on something that
    the files do not say.
    """

    ways: tuple[Requirements, ...] = ()
    known: Known = "yes"
    refused: Obstacle | None = None


NO_WAYS = Ways()


def ways_of(volumes: PodVolumes, unsupported: Collection[str] = ()) -> Ways:
    """The ways of all volumes together: those that contradict each other are left out, unless all do (`V-12`).

    `unsupported` are drivers that the provider does not take (`V-8`).
    """
    if not volumes.mounts:
        return NO_WAYS
    if volumes.blocked:
        return Ways(refused=volumes.blocked[0].blocked)
    for mount in volumes.mounts if unsupported else ():
        driver = _driver(mount)
        if driver in unsupported:
            message = f"{mount.title} is of the driver {driver}, which Karpenter's provider does not support"
            return Ways(refused=Obstacle("volume", message, "karpenter:V-8", mount.place, None, "autoscaler-refuses"))
    known: Known = "unknown" if volumes.facts else "yes"
    together: list[Requirements] = []
    for mount in volumes.mounts:
        own = list(_of_mount(mount))
        if not own:
            continue
        pairs = [(one, way) for one in together or [Requirements()] for way in own][:_MOST_WAYS]
        together = [one.narrowed(way) for one, way in pairs if one.clash(way) is None]
        together = together or [one.narrowed(way) for one, way in pairs]
    return Ways(tuple(together), known)


def _driver(mount: Mount) -> str | None:
    """The CSI driver of a volume that is bound, or the provisioner of one that is not."""
    if mount.bound_to is not None:
        return str(mount.bound_to.source.get("driver")) if mount.bound_to.kind == "csi" else None
    return None if mount.storage_class is None else mount.storage_class.provisioner


def _of_mount(mount: Mount) -> Iterator[Requirements]:
    """The ways of one volume: of the terms of a bound one (`V-10`), or of the topologies of its class (`V-11`)."""
    local = mount.bound_to is not None and mount.bound_to.kind in ("local", "hostPath")
    for rule in mount.rules:
        alternatives: tuple[Alternative, ...] = ()
        if rule.kind == "bound":
            alternatives = rule.alternatives
        elif rule.kind == "unbound" and rule.provisioning is not None:
            alternatives = rule.provisioning.topologies or ()
        for alternative in alternatives:
            yield Requirements.of(_requirements(alternative, local))


def _requirements(alternative: Alternative, local: bool) -> Iterator[Requirement]:
    for written in alternative.written:
        if not (local and written.key == HOSTNAME):
            yield requirement(written.key, written.operator, written.texts)
