"""Flags of Cluster Autoscaler: from its Deployment among the objects, else from the settings (§4)."""

from __future__ import annotations

from collections.abc import Mapping

from unpend.model.inventory import Inventory, Workload
from unpend.model.pod import Taint
from unpend.records import dataclass, field
from unpend.settings import Settings

STARTUP_PREFIXES = (
    "startup-taint.cluster-autoscaler.kubernetes.io/",
    "ignore-taint.cluster-autoscaler.kubernetes.io/",
)
STATUS_PREFIX = "status-taint.cluster-autoscaler.kubernetes.io/"
CONDITIONS = frozenset(
    f"node.kubernetes.io/{name}"
    for name in (
        "not-ready",
        "unreachable",
        "unschedulable",
        "memory-pressure",
        "disk-pressure",
        "pid-pressure",
        "network-unavailable",
    )
) | {
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "node.cloudprovider.kubernetes.io/shutdown",
    "cloud.google.com/impending-node-termination",
}
"""Taints that are taken off every imagined node (C-203)."""

AGENTS = frozenset(
    {"node.cilium.io/agent-not-ready", "ebs.csi.aws.com/agent-not-ready", "efs.csi.aws.com/agent-not-ready"}
)
"""Taints that an agent takes off a running node: real nodes lose them, imagined ones only as startup taints (C-205)."""

_NAME = "cluster-autoscaler"


@dataclass(frozen=True, slots=True)
class Flags:
    """What decides about scaling up. `deployment` is the controller itself where it is among the objects."""

    cutoff: int = -10
    startup_taints: frozenset[str] = frozenset()
    startup_prefixes: tuple[str, ...] = STARTUP_PREFIXES
    from_zero: bool = True
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    deployment: Workload | None = None

    def is_startup(self, taint: Taint) -> bool:
        """Whether a taint is not looked at on an imagined node (C-203, C-204)."""
        key = taint.key
        return (
            key in CONDITIONS or key in self.startup_taints or key.startswith((STATUS_PREFIX, *self.startup_prefixes))
        )


def controller(inventory: Inventory) -> Workload | None:
    """The workload that runs Cluster Autoscaler, told by its image."""
    for workload in inventory.workloads:
        for container in workload.template.spec.containers:
            if container.image.partition("@")[0].rsplit("/", 1)[-1].partition(":")[0] == _NAME:
                return workload
    return None


def _containers(workload: Workload) -> list[Mapping[str, object]]:
    value = workload.template.spec.place.at("containers").value
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def arguments(workload: Workload) -> dict[str, tuple[str, ...]]:
    """The flags on the command line of a controller: name → values; a flag without a value is `true`."""
    found: dict[str, tuple[str, ...]] = {}
    for container in _containers(workload):
        words: list[str] = []
        for key in ("command", "args"):
            value = container.get(key)
            words.extend(str(word) for word in value if word is not None) if isinstance(value, list) else None
        pending = ""
        for word in words:
            if word.startswith("-"):
                name, equals, value = word.lstrip("-").partition("=")
                found[name] = (*found.get(name, ()), value if equals else "true")
                pending = "" if equals else name
            elif pending:
                found[pending] = (*found[pending][:-1], word)
                pending = ""
    return found


def flags_of(inventory: Inventory, settings: Settings) -> Flags:
    """The flags in force: those of the Deployment, for the rest those of the settings."""
    workload = controller(inventory)
    given = arguments(workload) if workload is not None else {}
    config = settings.cluster_autoscaler
    cutoff = config.expendable_pods_priority_cutoff
    written = given.get("expendable-pods-priority-cutoff", ())
    if written and written[-1].lstrip("-").isdecimal():
        cutoff = int(written[-1])
    taints = [*given.get("startup-taint", ()), *given.get("ignore-taint", ())]
    prefixes = (*STARTUP_PREFIXES, *given.get("startup-taint-prefix", ()))
    return Flags(
        cutoff=cutoff,
        startup_taints=frozenset((*taints, *config.startup_taints)),
        startup_prefixes=prefixes,
        from_zero=_flag(given, "scale-up-from-zero", True),
        given=given,
        deployment=workload,
    )


def _flag(given: Mapping[str, tuple[str, ...]], name: str, default: bool) -> bool:
    values = given.get(name)
    return values[-1].lower() in ("true", "1", "t") if values else default
