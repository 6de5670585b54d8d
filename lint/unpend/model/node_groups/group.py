"""A node group, whatever declares it: what its nodes are, and what Cluster Autoscaler is told of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from unpend.model.inventory import Problem
from unpend.model.karpenter import Kubelet
from unpend.model.pod import Amount, Label, Resources, Taint
from unpend.records import dataclass, field
from unpend.source.document import Object
from unpend.source.place import Place, place_field

Provider = Literal["aws", "azure", "gcp", "other"]
Template = Literal["asg", "eks", "azure", "cluster-api", "actual"]
"""How Cluster Autoscaler imagines a node of an empty group.

`asg`: from the first type and zone and the tags of the Auto Scaling group (C-211 to C-218); `eks`: the same, with
labels and taints from the EKS API (C-219); `azure`: nominal size, a random zone (C-221, C-222); `cluster-api`: from
annotations and what the provider propagates (C-241 to C-247); `actual`: as the nodes are (C-231).
"""


@dataclass(frozen=True, slots=True)
class Named:
    """A name in a list: an instance type, a zone; `place` is where it is written."""

    name: str
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Size:
    """Bounds of the size after the defaults of the format, None where not known; without `desired` it starts lowest."""

    minimum: int | None
    maximum: int | None
    desired: int | None = None
    minimum_place: Place | None = place_field()
    maximum_place: Place | None = place_field()

    @property
    def starts_empty(self) -> bool | None:
        """Whether there is no node at first (C-201, §6); None when not known, or when they may all go later."""
        if self.minimum is None or (self.minimum == 0 and self.desired):
            return None
        return self.minimum == 0

    @property
    def is_fixed(self) -> bool:
        """Whether no autoscaler can change it (C-313)."""
        return self.minimum is not None and self.minimum == self.maximum


@dataclass(frozen=True, slots=True)
class Unknown:
    """Something that the manifest does not say (a value known after apply, an intrinsic function); `field` names it.

    `field` is one of `instance-types`, `zones`, `labels`, `taints`, `size`, `tags`, `kubelet`, `image`.
    """

    field: str
    message: str
    place: Place = place_field()


@dataclass(frozen=True, slots=True)
class Planned:
    """What an empty group is said to have, beside the rules of the provider: annotations, or our own kind.

    None: nothing is said, and the rule of the template decides.
    """

    labels: Mapping[str, Label] | None = None
    taints: tuple[Taint, ...] | None = None
    capacity: Resources = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """One node group (`cluster-autoscaler.md` §6), each value with its place in `object`; `place` is the group itself.

    `source` says what it was read from, such as `eksctl nodeGroups`. `zones` are those listed, `all_zones` whether the
    list is complete; `several_zones` whether the nodes may stand in more than one, None when not known. `hardware` is
    what a node has where no type says it (instanceSelector, our own kind), `allocatable` what its pods get where that
    is given. `labels` and `taints` are the declared ones, `provider_labels` and `provider_taints` those that the
    provider adds. `perhaps_labels` are keys that a node may carry with a value that nobody can know here. `hidden`
    names what can be set outside the manifest: further `labels`, further `taints` (user data). `tags` are those of the
    Auto Scaling group itself. `autoscaler_hint` is where the group says that Cluster Autoscaler is meant to scale it.
    With `refusals` the group is never created.
    """

    name: str
    source: str
    provider: Provider
    template: Template
    size: Size
    instance_types: tuple[Named, ...] = ()
    hardware: Resources = field(default_factory=dict)
    allocatable: Resources | None = None
    zones: tuple[Named, ...] = ()
    all_zones: bool = False
    several_zones: bool | None = None
    zones_place: Place | None = place_field()
    region: str | None = None
    capacity_types: tuple[str, ...] = ("on-demand",)
    capacity_place: Place | None = place_field()
    arch: str | None = None
    os: str = "linux"
    windows_build: str | None = None
    ami_family: str | None = None
    labels: Mapping[str, Label] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    provider_labels: Mapping[str, str] = field(default_factory=dict)
    provider_taints: tuple[Taint, ...] = ()
    perhaps_labels: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    tags: Mapping[str, Label] = field(default_factory=dict)
    tags_place: Place | None = place_field()
    planned: Planned = field(default_factory=Planned)
    kubelet: Kubelet = Kubelet(place=None)
    disk: Amount | None = None
    autoscaler_hint: Place | None = place_field()
    unknowns: tuple[Unknown, ...] = ()
    refusals: tuple[Problem, ...] = field(default=(), compare=False, repr=False)
    place: Place = place_field()
    object: Object = field(compare=False, repr=False, kw_only=True)

    @property
    def id(self) -> str:
        """How reports call it."""
        return f"NodeGroup/{self.name}"

    @property
    def all_taints(self) -> tuple[Taint, ...]:
        """The taints of a running node: declared and added; startup taints are gone by then."""
        return self.taints + self.provider_taints

    def unknown(self, what: str) -> Unknown | None:
        """Why a part of it is not known, None when it is."""
        return next((one for one in self.unknowns if one.field == what), None)
