"""The pod and everything inside it that decides where it may run: frozen, each value with its place.

All values are as written, before API defaulting; `unpend.model.admission` turns them into what the scheduler sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from unpend.records import dataclass, field
from unpend.source.place import Place, place_field


@dataclass(frozen=True, slots=True)
class Label:
    """One label, annotation or nodeSelector entry."""

    key: str
    value: str
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity of a resource in thousandths of its unit, rounded up (A-204); `text` is how it was written."""

    milli: int
    text: str = field(compare=False)
    place: Place = place_field()


Resources = Mapping[str, Amount]


@dataclass(frozen=True, slots=True)
class Expression:
    """One match expression of a selector or node affinity term; `place` is the whole expression."""

    key: str
    operator: str
    values: tuple[str, ...]
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A label selector; `matchLabels` entries are `In` expressions. `{}` has none and matches everything."""

    expressions: tuple[Expression, ...]
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class NodeSelectorTerm:
    """Expressions and fields, all ANDed; a term with neither matches no node (P-505)."""

    expressions: tuple[Expression, ...]
    fields: tuple[Expression, ...]
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class PreferredNodeTerm:
    """A preferred node affinity term."""

    weight: int
    term: NodeSelectorTerm
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class PodAffinityTerm:
    """A pod affinity or anti-affinity term; `weight` is None for a required one. `selector` None matches no pod."""

    topology_key: str
    selector: LabelSelector | None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()
    weight: int | None = None
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Affinity:
    """`spec.affinity`; `required` is None when there is no required node affinity (an empty tuple matches nothing)."""

    required: tuple[NodeSelectorTerm, ...] | None = None
    preferred: tuple[PreferredNodeTerm, ...] = ()
    pod_required: tuple[PodAffinityTerm, ...] = ()
    pod_preferred: tuple[PodAffinityTerm, ...] = ()
    anti_required: tuple[PodAffinityTerm, ...] = ()
    anti_preferred: tuple[PodAffinityTerm, ...] = ()
    place: Place | None = place_field()


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration; an empty operator means Equal, an empty effect every effect."""

    key: str
    operator: str
    value: str
    effect: str
    seconds: int | None = None
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Taint:
    """A node taint."""

    key: str
    value: str
    effect: str
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """One topology spread constraint; policies are None when unset (read as Honor and Ignore)."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    selector: LabelSelector | None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class ContainerPort:
    """A container port; `host_port` is 0 when unset."""

    container_port: int
    host_port: int
    host_ip: str
    protocol: str
    place: Place = place_field()


ContainerRole = Literal["container", "init", "sidecar"]


@dataclass(frozen=True, slots=True)
class Container:
    """A container, an ordinary init container or a sidecar (init container with restartPolicy Always)."""

    name: str
    role: ContainerRole
    image: str
    requests: Resources
    limits: Resources
    ports: tuple[ContainerPort, ...] = ()
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Volume:
    """A pod volume; `kind` names its source field (`emptyDir`, `persistentVolumeClaim` …), `source` is its data."""

    name: str
    kind: str
    source: Mapping[str, Any] = field(compare=False)
    claim: str | None = None
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class PodSpec:
    """The scheduling-relevant part of a pod spec."""

    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] = ()
    node_selector: tuple[Label, ...] = ()
    affinity: Affinity = Affinity(place=None)
    tolerations: tuple[Toleration, ...] = ()
    spread: tuple[SpreadConstraint, ...] = ()
    volumes: tuple[Volume, ...] = ()
    node_name: str = ""
    scheduler_name: str = "default-scheduler"
    scheduling_gates: tuple[str, ...] = ()
    runtime_class: str | None = None
    priority_class: str = ""
    priority: int | None = None
    preemption_policy: str = ""
    host_network: bool = False
    restart_policy: str = "Always"
    grace_seconds: int | None = None
    active_deadline_seconds: int | None = None
    overhead: Resources = field(default_factory=dict)
    pod_requests: Resources = field(default_factory=dict)
    pod_limits: Resources = field(default_factory=dict)
    resource_claims: tuple[str, ...] = ()
    os_name: str = ""
    place: Place = place_field()


def changed(spec: PodSpec, **changes: Any) -> PodSpec:
    """A copy with other values for some fields; `dataclasses.replace` costs three times as much, and every pod pays."""
    copy = object.__new__(PodSpec)
    for name in _SPEC_FIELDS:
        object.__setattr__(copy, name, changes[name] if name in changes else getattr(spec, name))
    return copy


_SPEC_FIELDS: tuple[str, ...] = PodSpec.__match_args__


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """Labels, annotations and spec of the pods that an object creates; `place` is the template (or the Pod itself)."""

    namespace: str
    labels: Mapping[str, Label]
    annotations: Mapping[str, Label]
    spec: PodSpec
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the API server or an admission plug-in would refuse an object or its pods, with the rule id it rests on."""

    message: str
    place: Place
    semantics: str = ""
    related: tuple[tuple[str, Place], ...] = ()


@dataclass(frozen=True, slots=True)
class EffectivePod:
    """A pod as the scheduler sees it: after API defaulting and admission.

    `requests` maps each resource to an amount in thousandths of its unit: the effective request of
    `kube-scheduler.md` §7.1, overhead included, `pods` not included. `request_places` names for each resource the
    places that contribute. `refusals` are reasons for which the API surely refuses it; `unknown` names facts that
    decide and are not given (such as a RuntimeClass that is not among the objects of an open world).
    `possible_tolerations` are added by some control planes and not by others (A-233): a taint that only one of them
    covers is no sure refusal.
    """

    template: PodTemplate
    spec: PodSpec
    requests: Mapping[str, int]
    request_places: Mapping[str, tuple[Place, ...]] = field(compare=False)
    host_ports: tuple[ContainerPort, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    unknown: tuple[Refusal, ...] = ()
    possible_tolerations: tuple[Toleration, ...] = ()

    @property
    def namespace(self) -> str:
        """The namespace of the pod."""
        return self.template.namespace

    @property
    def labels(self) -> dict[str, str]:
        """The labels of the pod as plain strings."""
        return {key: label.value for key, label in self.template.labels.items()}
