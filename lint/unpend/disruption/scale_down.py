"""What keeps Cluster Autoscaler from removing a node: per pod, the first matching rule decides (`autoscaler` §4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from unpend.disruption.do_not_disrupt import SAFE_TO_EVICT
from unpend.disruption.drain import is_finite
from unpend.model.inventory import PodDisruptionBudget, Workload
from unpend.model.pod import EffectivePod, Volume
from unpend.records import dataclass
from unpend.source.place import Place

if TYPE_CHECKING:
    from unpend.placement.given import FactsLike

LOCAL_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
KUBE_SYSTEM = "kube-system"


@dataclass(frozen=True, slots=True)
class ScaleDownFlags:
    """Flags that decide about scaling down: of the controller among the objects, for the rest of the settings."""

    local_storage: bool
    system_pods: bool
    custom_controllers: bool
    daemonset_utilisation: bool
    cutoff: int
    longest_grace: int
    threshold: float


def scale_down_flags(facts: FactsLike) -> ScaleDownFlags:
    """The flags of a run, shared by its rules."""
    found: ScaleDownFlags = facts.memo("scale-down-flags", lambda: _flags(facts))
    return found


def _flags(facts: FactsLike) -> ScaleDownFlags:
    from unpend.placement.cluster_autoscaler.flags import flags_of

    flags, config = flags_of(facts.inventory, facts.settings), facts.settings.cluster_autoscaler

    def switch(name: str, default: bool) -> bool:
        values = flags.given.get(name)
        return values[-1].lower() in ("true", "1", "t") if values else default

    def number(name: str, default: float) -> float:
        try:
            return float(flags.given[name][-1])
        except (KeyError, ValueError):
            return default

    return ScaleDownFlags(
        switch("skip-nodes-with-local-storage", config.skip_nodes_with_local_storage),
        switch("skip-nodes-with-system-pods", config.skip_nodes_with_system_pods),
        switch("skip-nodes-with-custom-controller-pods", True),
        not switch("ignore-daemonsets-utilization", False),
        flags.cutoff,
        int(number("max-graceful-termination-sec", config.max_graceful_termination_sec)),
        number("scale-down-utilization-threshold", 0.5),
    )


@dataclass(frozen=True, slots=True)
class Protection:
    """What the annotations of a pod say to Cluster Autoscaler (`C-411`)."""

    safe_to_evict: str
    local_volumes: frozenset[str]
    place: Place | None


def protection(workload: Workload) -> Protection:
    """The annotations of the pod template; those of the object itself do nothing."""
    mark = workload.template.annotations.get(SAFE_TO_EVICT)
    listed = workload.template.annotations.get(LOCAL_VOLUMES)
    names = frozenset(part.strip() for part in listed.value.split(",")) if listed else frozenset()
    return Protection(mark.value if mark else "", names, mark.place if mark else None)


def is_expendable(pod: EffectivePod, flags: ScaleDownFlags) -> bool:
    """Whether the pod is killed without being asked: its priority is below the cutoff (`C-413`)."""
    return (pod.spec.priority or 0) < flags.cutoff


def is_settled(workload: Workload) -> bool:
    """Whether an earlier rule lets the pods go: DaemonSets (4), `safe-to-evict: "true"` (5), pods that end (6)."""
    return workload.kind == "DaemonSet" or is_finite(workload) or protection(workload).safe_to_evict == "true"


def local_volumes(workload: Workload) -> tuple[Volume, ...]:
    """The volumes that count as local storage (rule 11): hostPath, and emptyDir that is not in memory."""
    allowed = protection(workload).local_volumes
    found = tuple(v for v in workload.template.spec.volumes if is_local(v))
    return () if found and all(v.name in allowed for v in found) else found


def is_local(volume: Volume) -> bool:
    """Whether a volume lives on the disk of the node."""
    if volume.kind == "hostPath":
        return True
    return volume.kind == "emptyDir" and volume.source.get("medium") != "Memory"


def is_system(workload: Workload, budgets: Mapping[str, tuple[PodDisruptionBudget, ...]]) -> bool:
    """Whether rule 9 takes the pods: kube-system, and no budget covers them. An hour after their start they may go."""
    return workload.namespace == KUBE_SYSTEM and not budgets.get(workload.id)


def is_owned(workload: Workload) -> bool:
    """Whether an object that is not here made the pod and would make it again."""
    metadata = workload.object.data.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("ownerReferences"))
