"""Karpenter's kinds, as written: NodePool, node classes of any provider, NodeOverlay. Every value with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unpend.model.inventory import Problem
from unpend.model.pod import Amount, Label, Resources, Taint
from unpend.records import dataclass, field
from unpend.source.document import Object
from unpend.source.place import Place, place_field

AMI_FAMILIES = {
    "al2": "AL2",
    "al2023": "AL2023",
    "bottlerocket": "Bottlerocket",
    "windows2019": "Windows2019",
    "windows2022": "Windows2022",
    "windows2025": "Windows2025",
}
"""The families by the word before the `@` of an alias such as `al2023@latest`."""


@dataclass(frozen=True, slots=True)
class PoolRequirement:
    """One entry of `requirements`; the operator is as written, `min_values` None when not written."""

    key: str
    operator: str
    values: tuple[str, ...]
    min_values: int | None = None
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class NodeClassRef:
    """Which node class a pool uses."""

    group: str
    kind: str
    name: str
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Duration:
    """A time span in whole seconds, None for `Never`."""

    seconds: int | None
    text: str
    place: Place | None = place_field()


@dataclass(frozen=True, slots=True)
class Budget:
    """A disruption budget (`karpenter.md` §1.5).

    Exactly one of `percent` and `number` is set. `reasons` None means all reasons, an empty tuple none (`B-1`).
    `duration` is in seconds; it and `schedule` (cron, UTC) come together.
    """

    percent: int | None
    number: int | None
    reasons: tuple[str, ...] | None = None
    schedule: str | None = None
    duration: int | None = None
    place: Place | None = place_field()


@dataclass(frozen=True, slots=True)
class Disruption:
    """`spec.disruption` with its defaults; an invalid `consolidateAfter` or policy reads as the default."""

    policy: str = "WhenEmptyOrUnderutilized"
    consolidate_after: Duration = Duration(0, "0s", None)
    budgets: tuple[Budget, ...] = (Budget(10, None, place=None),)
    place: Place | None = place_field()


@dataclass(frozen=True, slots=True)
class NodePool:
    """A NodePool of `karpenter.sh/v1` (`karpenter.md` §1).

    `ready` is the status condition Ready, None when the object has none (it counts as ready). `refusals` are reasons
    for which the API server does not take the object (`N-1` to `N-8`), `faults` reasons for which Karpenter skips the
    pool though it is there (`N-9` to `N-13`): with either it makes no node.
    """

    name: str
    labels: Mapping[str, Label]
    annotations: Mapping[str, Label]
    template_labels: Mapping[str, Label]
    template_annotations: Mapping[str, Label]
    requirements: tuple[PoolRequirement, ...]
    taints: tuple[Taint, ...]
    startup_taints: tuple[Taint, ...]
    node_class: NodeClassRef
    expire_after: Duration
    termination_grace: Duration | None
    limits: Resources
    weight: int
    replicas: int | None
    disruption: Disruption
    ready: bool | None = None
    not_ready_reason: str = ""
    terminating: bool = False
    refusals: tuple[Problem, ...] = field(default=(), compare=False, repr=False)
    faults: tuple[Problem, ...] = field(default=(), compare=False, repr=False)
    object: Object = field(compare=False, repr=False, kw_only=True)

    @property
    def place(self) -> Place:
        """The object itself."""
        return self.object.root

    @property
    def is_static(self) -> bool:
        """Whether it keeps a fixed number of nodes and makes none for pods (`S-1`)."""
        return self.replicas is not None

    @property
    def order(self) -> tuple[int, tuple[int, ...]]:
        """Key by which pools are tried, smallest first: weight falling, then name falling (`karpenter.md` §1.7)."""
        # Names are compared from the back: negated letters, and a longer name before its own beginning.
        return (-self.weight, (*(-ord(letter) for letter in self.name), 1))


@dataclass(frozen=True, slots=True)
class BlockDeviceMapping:
    """A disk of an EC2NodeClass; `size` None when only a snapshot is named."""

    device: str
    size: Amount | None
    root: bool
    snapshot: str = ""
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Kubelet:
    """`spec.kubelet` of an EC2NodeClass, as far as it decides allocatable; signals as written (`200Mi`, `5%`)."""

    max_pods: int | None = None
    pods_per_core: int | None = None
    kube_reserved: Resources = field(default_factory=dict)
    system_reserved: Resources = field(default_factory=dict)
    eviction_hard: Mapping[str, str] = field(default_factory=dict)
    eviction_soft: Mapping[str, str] = field(default_factory=dict)
    place: Place | None = place_field()


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet of `status.subnets`: the only sure word on the zones of a node class (A2)."""

    id: str
    zone: str
    zone_id: str


@dataclass(frozen=True, slots=True)
class MachineImage:
    """An image of `status.amis`: the instance types that it boots on."""

    id: str
    requirements: tuple[PoolRequirement, ...]


@dataclass(frozen=True, slots=True)
class NetworkInterface:
    """An entry of `spec.networkInterfaces` of an EC2NodeClass."""

    card: int
    device: int
    kind: str


@dataclass(frozen=True, slots=True)
class NodeClass:
    """A node class of any provider; what follows `not_ready_reason` is read for EC2NodeClass only (`karpenter.md` §10).

    `ami_family` is the effective one (field, else alias), None when it cannot be told. `subnets` is None without a
    status, `images` likewise. `ami_terms` and `subnet_terms` are the selector terms as plain data. `user_taints` are
    those with which user data surely registers nodes.
    """

    group: str
    kind: str
    name: str
    ready: bool | None = None
    not_ready_reason: str = ""
    ami_family: str | None = None
    alias: str | None = None
    ami_terms: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    subnet_terms: tuple[Mapping[str, Any], ...] = field(default=(), compare=False)
    subnets: tuple[Subnet, ...] | None = None
    selects_reservations: bool = False
    block_devices: tuple[BlockDeviceMapping, ...] = ()
    instance_store_raid: bool = False
    network_interfaces: tuple[NetworkInterface, ...] | None = None
    kubelet: Kubelet = Kubelet(place=None)
    user_data: str = ""
    user_taints: tuple[Taint, ...] = ()
    images: tuple[MachineImage, ...] | None = None
    annotations: Mapping[str, Label] = field(default_factory=dict)
    terminating: bool = False
    refusals: tuple[Problem, ...] = field(default=(), compare=False, repr=False)
    object: Object = field(compare=False, repr=False, kw_only=True)

    @property
    def place(self) -> Place:
        """The object itself."""
        return self.object.root


@dataclass(frozen=True, slots=True)
class NodeOverlay:
    """A NodeOverlay: changes prices or adds extended resources for instance types (`karpenter.md` §9.10)."""

    name: str
    requirements: tuple[PoolRequirement, ...]
    price: str | None
    price_adjustment: str | None
    capacity: Resources
    weight: int
    ready: bool | None = None
    refusals: tuple[Problem, ...] = field(default=(), compare=False, repr=False)
    object: Object = field(compare=False, repr=False, kw_only=True)

    @property
    def place(self) -> Place:
        """The object itself."""
        return self.object.root
