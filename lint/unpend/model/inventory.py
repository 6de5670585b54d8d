"""Everything that was read, by kind: what an analysis works on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from unpend.model.pod import Amount, Label, LabelSelector, PodTemplate, Resources, Taint, Toleration
from unpend.source.document import Object
from unpend.source.place import Place


def _place() -> Any:
    return field(compare=False, repr=False)


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
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Strategy:
    """Update strategy; `kind` is RollingUpdate, Recreate, OnDelete; None fields are not written."""

    kind: str
    max_surge: IntOrPercent | None = None
    max_unavailable: IntOrPercent | None = None
    place: Place | None = _place()


@dataclass(frozen=True, slots=True)
class Workload:
    """Whatever creates pods, with one pod template.

    `id` is `Kind/namespace/name`, with `:<path of the template>` where an object has several. `replicas` is None when
    not written. `namespace` is the effective one, `""` for the unnamed namespace.
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
    replicas_place: Place | None = _place()
    strategy: Strategy | None = None
    selector: LabelSelector | None = None
    parallelism: int | None = None
    completions: int | None = None
    pod_management: str = ""
    claim_templates: tuple[PersistentVolumeClaim, ...] = ()
    suspended: bool = False
    schedule: str = ""
    labels: Mapping[str, Label] = field(default_factory=dict)
    annotations: Mapping[str, Label] = field(default_factory=dict)
    hook: str = ""

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
    place: Place = _place()


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
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class RuntimeClass:
    """A RuntimeClass."""

    name: str
    handler: str
    overhead: Resources
    node_selector: tuple[Label, ...]
    tolerations: tuple[Toleration, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class PriorityClass:
    """A PriorityClass."""

    name: str
    value: int
    global_default: bool
    preemption_policy: str
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class LimitRangeItem:
    """One item of a LimitRange; `kind` is Container, Pod or PersistentVolumeClaim."""

    kind: str
    minimum: Resources
    maximum: Resources
    default: Resources
    default_request: Resources
    max_ratio: Resources
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class LimitRange:
    """A LimitRange."""

    namespace: str
    name: str
    items: tuple[LimitRangeItem, ...]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class Namespace:
    """A Namespace; labels include the automatic `kubernetes.io/metadata.name`."""

    name: str
    labels: Mapping[str, str]
    annotations: Mapping[str, Label]
    place: Place = _place()


@dataclass(frozen=True, slots=True)
class PersistentVolumeClaim:
    """A claim, or a claim template of a StatefulSet or generic ephemeral volume."""

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
    place: Place = _place()


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
    namespaces: Mapping[str, Namespace] = field(default_factory=dict)
    claims: tuple[PersistentVolumeClaim, ...] = ()
    others: tuple[OtherObject, ...] = ()
    unread_capacity: tuple[OtherObject, ...] = ()
    problems: tuple[Problem, ...] = ()
    object_count: int = 0
