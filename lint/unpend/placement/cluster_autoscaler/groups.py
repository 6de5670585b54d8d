"""Node groups made ready to be asked: who scales them, how many nodes there are, what those are in both views."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from unpend.catalog.load import catalogs_of
from unpend.model.inventory import Inventory
from unpend.model.node_groups.group import NodeGroup
from unpend.placement.cluster_autoscaler.daemons import agents_of, with_agents
from unpend.placement.cluster_autoscaler.flags import Flags, flags_of
from unpend.placement.cluster_autoscaler.views import Asked, GroupSource, Views
from unpend.placement.space import Shape, Space
from unpend.placement.verdict import Against, Fact, Obstacle
from unpend.settings import Settings

Scaler = Literal["cluster-autoscaler", "none", "unknown"]
MOST_STANDING = 500
"""Nodes of one group that are counted one by one."""


class Group:
    """One node group in one run.

    `standing` are the nodes that are surely there, `most` how many there can be, None without a known bound. `actual`
    are all nodes that it can have, `planned` those one of which the autoscaler imagines; both with DaemonSets on them.
    """

    def __init__(self, group: NodeGroup, number: int, scaler: Scaler, views: Views, run: Groups) -> None:
        self.group = group
        self.number = number
        self.source = GroupSource(group)
        self.scaler = scaler
        self.views = views
        self._run = run
        size = group.size
        if scaler == "none":
            fixed = size.desired if size.desired is not None else size.minimum
            self.standing, self.most = fixed or 0, fixed
        else:
            self.standing, self.most = size.minimum or 0, size.maximum
        if self.refused is not None:
            self.standing = 0

    @property
    def name(self) -> str:
        """`NodeGroup/<name>`."""
        return self.group.id

    @property
    def refused(self) -> str | None:
        """Why the group is never created, None when it is."""
        return self.group.refusals[0].message if self.group.refusals else None

    @property
    def grows(self) -> bool:
        """Whether there may be more nodes than those that are surely there."""
        return self.refused is None and (self.most is None or self.most > self.standing)

    @cached_property
    def types(self) -> int:
        """How many instance types it can have, as far as they are known."""
        return sum(1 for machine in self.views.types(self.group).machines if machine is not None)

    @cached_property
    def actual(self) -> Space:
        """Every node that it can have, as kube-scheduler sees it."""
        return with_agents(self.views.actual(self.group), self._run.agents)

    @cached_property
    def imagined(self) -> Space:
        """What Cluster Autoscaler imagines where no node was ever seen."""
        return with_agents(self.views.planned(self.group), self._run.agents)

    @property
    def planned(self) -> tuple[Space, ...]:
        """What Cluster Autoscaler goes by: a living node, or what it imagines; both where either can be (C-201)."""
        empty = self.group.size.starts_empty
        if empty is None:
            return self.imagined, self.actual
        return (self.imagined,) if empty else (self.actual,)

    @cached_property
    def node(self) -> Shape:
        """One node that stands for any of them."""
        return self.views.actual(self.group, merged=True)[0]

    @property
    def unusable(self) -> Obstacle | None:
        """Why the group surely has no node (P1), None when it may have some."""
        if self.refused is not None:
            return self._unusable(f"{self.name} is never created: {self.refused}", "autoscaler:§6")
        if self.most == 0:
            return self._unusable(f"{self.name} has no nodes and may have none: its maximum is 0", "autoscaler:C-313")
        return None

    def _unusable(self, message: str, semantics: str) -> Obstacle:
        place = self.group.refusals[0].place if self.group.refusals else self.group.size.maximum_place
        found = place or self.group.place
        return Obstacle("pool", message, semantics, found, Against(self.name, found), "pool-unusable")

    def doubts(self) -> tuple[Fact, ...]:
        """What is not known of the group itself."""
        found = [Fact(one.field, f"{self.name}: {one.message}", one.place) for one in self.group.unknowns]
        for named, machine in zip(self.group.instance_types, self.views.types(self.group).machines, strict=False):
            if machine is None:
                message = f"what a node of type {named.name!r} has: no catalogue knows it"
                found.append(Fact("instance-types", message, named.place))
        return tuple(found)

    def scaling_fact(self) -> Fact:
        """Who scales the group is not said."""
        message = f"whether Cluster Autoscaler scales {self.name} (nodeGroups.autoscaler in .unpend.yaml says it)"
        return Fact("node-group-autoscaler", message, self.group.size.maximum_place or self.group.place)


class Groups:
    """All node groups of an inventory under one set of settings."""

    def __init__(self, inventory: Inventory, settings: Settings) -> None:
        self.inventory = inventory
        self.settings = settings
        self.flags: Flags = flags_of(inventory, settings)
        self.agents = agents_of(inventory, settings)
        views = Views(settings, self.flags, catalogs_of(settings), asked_of(inventory))
        self.groups: Sequence[Group] = tuple(
            Group(group, number, scaler_of(group, settings, self.flags), views, self)
            for number, group in enumerate(inventory.node_groups)
        )

    def standing(self) -> list[Shape]:
        """The nodes that are surely there, without DaemonSets on them, group by group."""
        return [group.node for group in self.groups for _ in range(min(group.standing, MOST_STANDING))]


def scaler_of(group: NodeGroup, settings: Settings, flags: Flags) -> Scaler:
    """Who scales a group: as the settings state, else as the group or the controller among the objects says."""
    stated = settings.node_group_autoscaler
    if stated is not None:
        return "cluster-autoscaler" if stated == "cluster-autoscaler" else "none"
    if flags.deployment is not None or group.autoscaler_hint is not None:
        return "cluster-autoscaler"
    return "unknown"


def asked_of(inventory: Inventory) -> Asked:
    """Every label key and resource that some pod template names."""
    keys: set[str] = set()
    resources: set[str] = set()
    for workload in inventory.workloads:
        spec = workload.template.spec
        keys.update(label.key for label in spec.node_selector)
        for term in spec.affinity.required or ():
            keys.update(expression.key for expression in term.expressions)
        keys.update(constraint.topology_key for constraint in spec.spread)
        keys.update(t.topology_key for t in (*spec.affinity.pod_required, *spec.affinity.anti_required))
        for container in (*spec.containers, *spec.init_containers):
            resources.update(container.requests)
            resources.update(container.limits)
    for volume in inventory.volumes:
        keys.update(e.key for term in volume.terms or () for e in term.expressions)
    for runtime in inventory.runtime_classes.values():
        keys.update(label.key for label in runtime.node_selector)
    return Asked(frozenset(keys), frozenset(resources))
