"""Everything that was read, by kind: what an analysis works on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from unpend.model.pod import (
    Amount,
    Label,
    LabelSelector,
    NodeSelectorTerm,
    PodTemplate,
    Refusal,
    Resources,
    Taint,
    Toleration,
)
from unpend.records import dataclass, field
from unpend.source.document import Object
from unpend.source.place import Place, place_field

if TYPE_CHECKING:
    from unpend.model.karpenter import NodeClass, NodeOverlay, NodePool
    from unpend.model.node_groups.group import NodeGroup


@dataclass(frozen=True, slots=True)
class Problem:
    """A value that has the wrong type or is illegal. `refused` is set when the API server would refuse the object."""

    message: str
    place: Place
    severity: Literal["error", "warning", "info"] = "error"
    refused: bool = False
    semantics: str = ""
    part: Literal["value", "key", "entry"] = "value"


@dataclass(frozen=True, slots=True)
class IntOrPercent:
    """`maxSurge: 25%` or `maxSurge: 1`; exactly one of the two is set."""

    number: int | None
    percent: int | None
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Strategy:
    """Update strategy; `kind` is RollingUpdate, Recreate, OnDelete; None fields are not written."""

    kind: str
    max_surge: IntOrPercent | None = None
    max_unavailable: IntOrPercent | None = None
    place: Place | None = place_field()


@dataclass(frozen=True, slots=True)
class Workload:
    """Whatever creates pods, with one pod template.

    `id` is `Kind/namespace/name`, with `:<path of the template>` where an object has several, and
    `#2`, `#3` … on further objects of the same name. `replicas` is None when
    not written. `namespace` is the effective one, `""` for the unnamed namespace. `admitted` is set for a Pod that an
    API server already took (`metadata.uid`). `refusals` are the refused problems of this object; `unknown` names values
    that are not final, such as placeholders.
    """

    id: str
    kind: str
    api_version: str
    namespace: str
    name: str
    object: Object = field(compare=False, repr=False)
    template: PodTemplate
    template_path: str
    replicas: int | None = None
    replicas_place: Place | None = place_field()
    strategy: Strategy | None = None
    selector: LabelSelector | None = None
    parallelism: int | None = None
    completions: int | None = None
    pod_management: str = ""
    first_ordinal: int = 0
    claim_templates: tuple[PersistentVolumeClaim, ...] = ()
    suspended: bool = False
    schedule: str = ""
    labels: Mapping[str, Label] = field(default_factory=dict)
    annotations: Mapping[str, Label] = field(default_factory=dict)
    hook: str = ""
    admitted: bool = False
    refusals: tuple[Refusal, ...] = ()
    unknown: tuple[Refusal, ...] = ()

    @property
    def place(self) -> Place:
        """The object itself."""
        return self.object.root


@dataclass(frozen=True, slots=True)
class Node:
    """A Node object; `allocatable` falls back to capacity when it is absent (an empty one does not)."""

    name: str
    labels: Mapping[str, Label]
    annotations: Mapping[str, Label]
    taints: tuple[Taint, ...]
    allocatable: Resources
    capacity: Resources
    unschedulable: bool
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class BoundPod:
    """A Pod that already has `spec.nodeName`; `phase` decides whether it still counts, `terminating` for spread."""

    name: str
    node_name: str
    template: PodTemplate
    phase: str = ""
    terminating: bool = False
    owner_kind: str = ""
    status_requests: Mapping[str, Resources] = field(default_factory=dict)
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class RuntimeClass:
    """A RuntimeClass."""

    name: str
    handler: str
    overhead: Resources
    node_selector: tuple[Label, ...]
    tolerations: tuple[Toleration, ...]
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class PriorityClass:
    """A PriorityClass."""

    name: str
    value: int
    global_default: bool
    preemption_policy: str
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class LimitRangeItem:
    """One item of a LimitRange; `kind` is Container, Pod or PersistentVolumeClaim."""

    kind: str
    minimum: Resources
    maximum: Resources
    default: Resources
    default_request: Resources
    max_ratio: Resources
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class LimitRange:
    """A LimitRange."""

    namespace: str
    name: str
    items: tuple[LimitRangeItem, ...]
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class ResourceQuota:
    """A ResourceQuota; `scoped` when it counts only some pods of its namespace."""

    namespace: str
    name: str
    hard: Resources
    scoped: bool
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Namespace:
    """A Namespace; labels include the automatic `kubernetes.io/metadata.name`."""

    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, Label]
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class PersistentVolumeClaim:
    """A claim, or a claim template of a StatefulSet or generic ephemeral volume.

    `owner` is the controller that owns it, such as `Pod/web`, empty when it has none.
    """

    namespace: str
    name: str
    storage_class: str | None
    volume_name: str
    access_modes: tuple[str, ...]
    request: Amount | None
    selector: LabelSelector | None = None
    volume_mode: str = "Filesystem"
    phase: str = ""
    terminating: bool = False
    annotations: Mapping[str, Label] = field(default_factory=dict)
    place: Place = place_field()
    owner: str = ""


@dataclass(frozen=True, slots=True)
class PersistentVolume:
    """A volume; `terms` is its required node affinity, None when there is none. `kind` names its source field."""

    name: str
    storage_class: str
    access_modes: tuple[str, ...]
    capacity: Amount | None
    terms: tuple[NodeSelectorTerm, ...] | None
    claim_namespace: str
    claim_name: str
    labels: Mapping[str, Label]
    volume_mode: str
    kind: str
    source: Mapping[str, Any] = field(compare=False)
    phase: str = ""
    place: Place = place_field()
    terminating: bool = False


@dataclass(frozen=True, slots=True)
class StorageClass:
    """A storage class; each allowed topology is a term of `In` expressions, none at all allows everywhere."""

    name: str
    provisioner: str
    binding_mode: str
    topologies: tuple[NodeSelectorTerm, ...]
    is_default: bool
    expandable: bool
    parameters: Mapping[str, Any] = field(compare=False)
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class CSINode:
    """How many volumes of each CSI driver a node takes; None where it gives no limit."""

    name: str
    limits: Mapping[str, int | None]
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """A HorizontalPodAutoscaler or KEDA ScaledObject: how many replicas its target has at least and at most.

    `minimum` is None when it is not written (then `lower_bound` is 1 for an HPA, 0 for a ScaledObject).
    """

    kind: str
    namespace: str
    name: str
    target_kind: str
    target_name: str
    minimum: int | None
    maximum: int | None
    place: Place = place_field()

    @property
    def lower_bound(self) -> int:
        """The fewest replicas that it keeps."""
        if self.minimum is not None:
            return self.minimum
        return 0 if self.kind == "ScaledObject" else 1


@dataclass(frozen=True, slots=True)
class PodDisruptionBudget:
    """A disruption budget; `selector` None selects no pod, one without expressions every pod of the namespace (S-1643).

    In policy/v1beta1 an empty selector selects nothing: it is read as None.
    """

    namespace: str
    name: str
    selector: LabelSelector | None
    min_available: IntOrPercent | None
    max_unavailable: IntOrPercent | None
    unhealthy_policy: str
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class OtherObject:
    """An object of a kind that has no typed reader here; analyses that know the kind read its data themselves."""

    api_version: str
    kind: str
    namespace: str
    name: str
    object: Object = field(compare=False, repr=False)

    @property
    def place(self) -> Place:
        """The object itself."""
        return self.object.root


@dataclass(frozen=True, slots=True)
class FargateSelector:
    """Pods that run on Fargate: those of a namespace (with `*` and `?`) that have all of some labels."""

    namespace: str
    labels: tuple[tuple[str, str], ...]
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Inventory:
    """All objects of one cluster, by kind, in reading order. Later kinds are added as further fields.

    `unread_capacity` holds objects that make nodes and that no reader understands: they open the pools.
    """

    workloads: tuple[Workload, ...] = ()
    nodes: tuple[Node, ...] = ()
    bound_pods: tuple[BoundPod, ...] = ()
    runtime_classes: Mapping[str, RuntimeClass] = field(default_factory=dict)
    priority_classes: Mapping[str, PriorityClass] = field(default_factory=dict)
    limit_ranges: tuple[LimitRange, ...] = ()
    quotas: tuple[ResourceQuota, ...] = ()
    namespaces: Mapping[str, Namespace] = field(default_factory=dict)
    claims: tuple[PersistentVolumeClaim, ...] = ()
    volumes: tuple[PersistentVolume, ...] = ()
    storage_classes: Mapping[str, StorageClass] = field(default_factory=dict)
    csi_nodes: tuple[CSINode, ...] = ()
    autoscalers: tuple[Autoscaler, ...] = ()
    disruption_budgets: tuple[PodDisruptionBudget, ...] = ()
    node_pools: tuple[NodePool, ...] = ()
    node_classes: tuple[NodeClass, ...] = ()
    node_overlays: tuple[NodeOverlay, ...] = ()
    node_groups: tuple[NodeGroup, ...] = ()
    fargate: tuple[FargateSelector, ...] = ()
    others: tuple[OtherObject, ...] = ()
    unread_capacity: tuple[OtherObject, ...] = ()
    problems: tuple[Problem, ...] = ()
    object_count: int = 0
