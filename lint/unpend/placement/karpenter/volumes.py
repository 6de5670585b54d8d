"""Volumes of a pod as Karpenter judges them before it plans (`karpenter.md` §6.1), and the zones that they allow (§6.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from unpend.model.inventory import Inventory, PersistentVolumeClaim
from unpend.model.karpenter_labels import HOSTNAME
from unpend.model.pod import EffectivePod, NodeSelectorTerm, Volume
from unpend.placement.karpenter.requirement import Requirement, requirement
from unpend.placement.karpenter.requirements import Requirements
from unpend.placement.verdict import Obstacle
from unpend.records import dataclass
from unpend.settings import Settings

Known = Literal["yes", "unknown"]


@dataclass(frozen=True, slots=True)
class Volumes:
    """The volumes of a pod: ways in which they can be had, each as requirements; `refused` when there is surely none.

    `known` is `unknown` when binding depends on something that the files do not say.
    """

    alternatives: tuple[Requirements, ...] = ()
    known: Known = "yes"
    refused: Obstacle | None = None


NO_VOLUMES = Volumes()


class VolumeView:
    """Claims, volumes and classes of an inventory."""

    def __init__(self, inventory: Inventory, settings: Settings) -> None:
        self.inventory = inventory
        self.closed = settings.world.claims == "closed"
        self._claims = {(c.namespace, c.name): c for c in inventory.claims}
        self._volumes = {v.name: v for v in inventory.volumes}
        self._made = {(w.namespace, claim.name) for w in inventory.workloads for claim in w.claim_templates}

    def of(self, pod: EffectivePod) -> Volumes:
        """The volumes of a pod."""
        if not any(volume.claim is not None or volume.kind == "ephemeral" for volume in pod.spec.volumes):
            return NO_VOLUMES
        alternatives: list[Requirements] = [Requirements()]
        known: Known = "yes"
        for volume in pod.spec.volumes:
            if volume.kind == "ephemeral":
                known = "unknown"
                continue
            if volume.claim is None:
                continue
            claim = self._claims.get((pod.namespace, volume.claim))
            if claim is None:
                if (pod.namespace, volume.claim) in self._made or not self.closed:
                    known = "unknown"
                    continue
                return Volumes(refused=_missing(volume))
            terms = self._terms(claim)
            if terms is None:
                known = "unknown"
                continue
            ways = [_requirements(term, local) for term, local in terms] or [Requirements()]
            alternatives = [one.narrowed(way) for one in alternatives for way in ways][:64]
        return Volumes(tuple(alternatives), known)

    def _terms(self, claim: PersistentVolumeClaim) -> list[tuple[NodeSelectorTerm, bool]] | None:
        """Where the volume of a claim is, or can be made; None when that is not known."""
        if claim.terminating or claim.phase == "Lost":
            return None
        if claim.volume_name:
            volume = self._volumes.get(claim.volume_name)
            if volume is None:
                return None
            local = volume.kind in ("local", "hostPath")
            return [(term, local) for term in volume.terms or ()]
        storage = self.inventory.storage_classes.get(claim.storage_class or "")
        if storage is None or storage.binding_mode != "WaitForFirstConsumer":
            return None
        return [(term, False) for term in storage.topologies]


def _requirements(term: NodeSelectorTerm, local: bool) -> Requirements:
    return Requirements.of(_of_term(term, local))


def _of_term(term: NodeSelectorTerm, local: bool) -> Iterator[Requirement]:
    for expression in term.expressions:
        if not (local and expression.key == HOSTNAME):
            yield requirement(expression.key, expression.operator, expression.values)


def _missing(volume: Volume) -> Obstacle:
    return Obstacle(
        "volume",
        f"the claim {volume.claim!r} is not there (ignoring pod, persistentvolumeclaim not found)",
        "karpenter:V-1",
        volume.place,
        None,
        "volume",
    )
