"""Settings of one run and of one cluster: frozen values, no reading of files here.

`unpend.config` makes them from `.unpend.yaml`, a caller of `unpend.evaluate` makes them directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from unpend.records import dataclass, field

Openness = Literal["open", "closed"]
Admission = Literal["all", "templates", "none"]


@dataclass(frozen=True, slots=True)
class World:
    """Which kinds of facts are complete. In a closed kind, what was not given does not exist."""

    pools: Openness = "open"
    nodes: Openness = "open"
    workloads: Openness = "open"
    daemonsets: Openness = "open"
    pdbs: Openness = "open"
    namespaces: Openness = "open"
    classes: Openness = "open"
    claims: Openness = "open"

    @classmethod
    def all_closed(cls) -> World:
        """A world in which the caller handed over everything."""
        return cls("closed", "closed", "closed", "closed", "closed", "closed", "closed", "closed")


@dataclass(frozen=True, slots=True)
class KarpenterSettings:
    """What the Karpenter controller was started with; defaults are its own.

    `given` names the fields that were stated, also where they state the default: what the manifests of the controller
    say fills only the others.
    """

    version: str = "1.14"
    preference_policy: Literal["Respect", "Ignore"] = "Respect"
    min_values_policy: Literal["Strict", "BestEffort"] = "Strict"
    vm_memory_overhead_percent: float = 0.075
    interruption_queue: bool | None = None
    zonal_shift: bool = False
    ignore_dra_requests: bool = True
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    given: frozenset[str] = field(default=frozenset(), compare=False)

    def gate(self, name: str) -> bool:
        """Whether a feature gate is on: as given, else its default."""
        return self.feature_gates.get(name, name == "ReservedCapacity")


@dataclass(frozen=True, slots=True)
class ClusterAutoscalerSettings:
    """Flags of Cluster Autoscaler that change a verdict."""

    skip_nodes_with_local_storage: bool = True
    skip_nodes_with_system_pods: bool = True
    expendable_pods_priority_cutoff: int = -10
    max_graceful_termination_sec: int = 600
    startup_taints: tuple[str, ...] = ()
    balance_similar_node_groups: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)


KARPENTER_KEYS: Mapping[str, str] = {
    "version": "version",
    "preferencePolicy": "preference_policy",
    "minValuesPolicy": "min_values_policy",
    "vmMemoryOverheadPercent": "vm_memory_overhead_percent",
    "interruptionQueue": "interruption_queue",
    "zonalShift": "zonal_shift",
    "ignoreDRARequests": "ignore_dra_requests",
    "featureGates": "feature_gates",
}
"""The words of a config for the settings of Karpenter, each with the field."""
CLUSTER_AUTOSCALER_KEYS: Mapping[str, str] = {
    "skipNodesWithLocalStorage": "skip_nodes_with_local_storage",
    "skipNodesWithSystemPods": "skip_nodes_with_system_pods",
    "expendablePodsPriorityCutoff": "expendable_pods_priority_cutoff",
    "maxGracefulTerminationSec": "max_graceful_termination_sec",
    "startupTaints": "startup_taints",
    "balanceSimilarNodeGroups": "balance_similar_node_groups",
}
"""The same for the flags of Cluster Autoscaler."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that one cluster entry of the config can say, plus what only API callers give.

    `kubernetes` is the minor version as a pair. `zone_ids` maps zone names of this account to zone IDs. `catalogs` are
    catalogue names (`aws`) or parsed catalogues of the published schema. `now` is used for expiry and ages only.
    `admission` None: `templates` in `unpend.evaluate`, `all` everywhere else. `given` names the fields that were stated
    although they state the default. `places` has the places of settings that were found in manifests, by name
    (`karpenter.version`).
    """

    cluster: str = ""
    world: World = field(default_factory=World)
    region: str | None = None
    zones: tuple[str, ...] = ()
    zone_ids: Mapping[str, str] = field(default_factory=dict)
    node_classes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    kubernetes: tuple[int, int] = (1, 34)
    karpenter: KarpenterSettings = field(default_factory=KarpenterSettings)
    cluster_autoscaler: ClusterAutoscalerSettings = field(default_factory=ClusterAutoscalerSettings)
    node_group_autoscaler: str | None = None
    catalogs: tuple[Any, ...] = ("aws",)
    injected_tolerations: tuple[Mapping[str, str], ...] = ()
    known_labels: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    startup: Mapping[str, Any] = field(default_factory=dict)
    namespace: str = ""
    zone_shift: tuple[str, ...] = ()
    admission: Admission | None = None
    now: datetime | None = None
    step_budget: int = 20_000
    given: frozenset[str] = field(default=frozenset(), compare=False)
    places: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
