"""Node groups for `unpend pools`: which nodes each has or may get."""

from __future__ import annotations

from collections.abc import Iterator

from unpend.catalog.node_group import Machine
from unpend.model.inventory import Inventory
from unpend.placement.cluster_autoscaler.groups import Group, Groups
from unpend.placement.pool_summary import MachineType, PoolReport, Size, Usable, largest_of
from unpend.settings import Settings


def node_group_reports(inventory: Inventory, settings: Settings) -> Iterator[PoolReport]:
    """The node groups in reading order."""
    for group in Groups(inventory, settings).groups:
        yield _report(group, settings.cluster)


def _report(found: Group, cluster: str) -> PoolReport:
    group = found.group
    usable: Usable = "yes"
    why = semantics = ""
    if found.unusable is not None:
        usable, why, semantics = "no", found.unusable.message, found.unusable.semantics
    machines = [machine for machine in found.views.types(group).machines if machine is not None]
    zones = tuple(sorted({zone.name for zone in group.zones}))
    architectures = {machine.arch for machine in machines} or ({group.arch} if group.arch else set())
    return PoolReport(
        pool=found.name,
        kind="NodeGroup",
        cluster=cluster,
        usable=usable,
        why=why,
        semantics=semantics,
        types=len(machines) or None,
        architectures=tuple(sorted(architectures)),
        zones=zones,
        zones_known=group.all_zones and bool(zones),
        capacity_types=group.capacity_types,
        largest=largest_of(_machine(machine) for machine in machines),
        size=Size(group.size.minimum, group.size.maximum),
        autoscaler="cluster-autoscaler" if found.scaler == "cluster-autoscaler" else None,
        taints=group.all_taints,
        startup_taints=group.startup_taints,
        unknown=tuple(fact.message for fact in found.doubts()),
        place=group.place,
    )


def _machine(machine: Machine) -> MachineType:
    return MachineType(
        machine.name, {name: amount.low for name, amount in machine.allocatable.items() if amount.low > 0}
    )
