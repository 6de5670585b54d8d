"""The world without one zone: who cannot be placed, who loses replicas, whose volumes stay behind (`karpenter.md` §8).

Two readings. In the *loss* the zone is gone from everything: its nodes, and the zone from the lists of pools and node
groups. In the *shift* (ARC zonal shift, Z-3 to Z-6) nothing is launched there and its nodes are cordoned, but the zone
still counts as a domain of topology spread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal

from unpend.model.inventory import Inventory, Node, Workload
from unpend.model.karpenter import NodeClass, NodePool
from unpend.model.karpenter_labels import AWS_ZONE_ID, ZONE
from unpend.model.pod import EffectivePod, SpreadConstraint, Taint
from unpend.placement.domains import shortfall, takes, topology_of
from unpend.placement.given import FactsLike
from unpend.placement.peers import apart_from_itself, counts_itself, peers_of
from unpend.placement.pools import ALL_NODES
from unpend.placement.verdict import Cause, Verdict, WorkloadVerdict
from unpend.records import dataclass, replace
from unpend.settings import Settings

Reading = Literal["loss", "shift"]
READINGS: tuple[Reading, Reading] = ("loss", "shift")
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a workload: `at_most` of its replicas can run, `cause` says what keeps the others away."""

    verdict: Verdict
    cause: Cause | None
    at_most: int

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {"verdict": self.verdict, "cause": self.cause, "placeable": self.at_most}


@dataclass(frozen=True, slots=True)
class Cell:
    """One workload without one zone.

    `soft`: a spread over zones would leave replicas Pending in a shift, and does not since it is ScheduleAnyway.
    `volumes` are those that stay behind in the zone.
    """

    zone: str
    needed: int
    loss: Outcome
    shift: Outcome
    soft: bool = False
    volumes: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether the workload notices."""
        return self.soft or bool(self.volumes) or any(o.at_most < self.needed for o in (self.loss, self.shift))

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "zone": self.zone,
            "loss": self.loss.to_dict(),
            "shift": self.shift.to_dict(),
            "savedByScheduleAnyway": self.soft,
            "strandedVolumes": list(self.volumes),
        }


@dataclass(frozen=True, slots=True)
class ZoneRow:
    """One workload without each of the zones that it can use."""

    workload: str
    cluster: str
    needed: int
    cells: tuple[Cell, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of `zoneLoss[]`."""
        return {
            "workload": self.workload,
            "cluster": self.cluster or None,
            "needed": self.needed,
            "zones": [cell.to_dict() for cell in self.cells],
        }


def without_zone(inventory: Inventory, settings: Settings, zone: str) -> tuple[Inventory, Settings]:
    """The world in which a zone is gone: nodes with their pods, and the zone from pools, node classes and groups."""
    lost = {node.name for node in inventory.nodes if _zone(node) == zone}
    zone_id = settings.zone_ids.get(zone)
    pools = tuple(pool for one in inventory.node_pools if (pool := _pool_without(one, zone, zone_id)) is not None)
    groups = tuple(
        replace(group, zones=tuple(z for z in group.zones if z.name != zone))
        for group in inventory.node_groups
        if not (group.all_zones and group.zones and all(z.name == zone for z in group.zones))
    )
    world = replace(
        inventory,
        nodes=tuple(node for node in inventory.nodes if node.name not in lost),
        bound_pods=tuple(pod for pod in inventory.bound_pods if pod.node_name not in lost),
        csi_nodes=tuple(one for one in inventory.csi_nodes if one.name not in lost),
        node_pools=pools,
        node_classes=tuple(_class_without(one, zone) for one in inventory.node_classes),
        node_groups=groups,
    )
    classes = {
        name: {**given, "zones": [z for z in given["zones"] if z != zone]} if given.get("zones") else given
        for name, given in settings.node_classes.items()
    }
    left = tuple(z for z in settings.zones if z != zone)
    return world, replace(
        settings, zones=left, node_classes=classes, zone_shift=tuple(dict.fromkeys((*settings.zone_shift, zone)))
    )


def _pool_without(pool: NodePool, zone: str, zone_id: str | None) -> NodePool | None:
    changed = []
    for one in pool.requirements:
        gone = zone if one.key == ZONE else zone_id if one.key == AWS_ZONE_ID else None
        if gone is None or one.operator != "In" or gone not in one.values:
            changed.append(one)
            continue
        left = tuple(value for value in one.values if value != gone)
        if not left:
            return None
        changed.append(replace(one, values=left))
    return replace(pool, requirements=tuple(changed))


def _class_without(node_class: NodeClass, zone: str) -> NodeClass:
    if node_class.subnets is None:
        return node_class
    return replace(node_class, subnets=tuple(s for s in node_class.subnets if s.zone != zone))


def shifted(inventory: Inventory, zones: tuple[str, ...]) -> Inventory:
    """The inventory while some zones are shifted away: Nodes there are cordoned, groups get none there (Z-6)."""
    groups = tuple(
        replace(group, zones=tuple(z for z in group.zones if z.name not in zones))
        for group in inventory.node_groups
        if not (group.all_zones and group.zones and all(z.name in zones for z in group.zones))
    )
    if groups != inventory.node_groups:
        inventory = replace(inventory, node_groups=groups)
    if not any(_zone(node) in zones for node in inventory.nodes):
        return inventory
    nodes = tuple(
        replace(
            node,
            unschedulable=True,
            taints=(*node.taints, Taint(UNSCHEDULABLE, "", "NoSchedule", node.place)),
        )
        if _zone(node) in zones and not node.unschedulable
        else node
        for node in inventory.nodes
    )
    return replace(inventory, nodes=nodes)


def zones_nowhere(inventory: Inventory, settings: Settings) -> tuple[str, ...]:
    """The zones of a zone shift that nothing mentions; none where some pool does not say in which zones it is."""
    known = {*settings.zones, *settings.zone_ids, *settings.zone_ids.values()}
    known.update(zone for given in settings.node_classes.values() for zone in given.get("zones") or ())
    known.update(zone for node in inventory.nodes if (zone := _zone(node)) is not None)
    for node_class in inventory.node_classes:
        known.update(name for subnet in node_class.subnets or () for name in (subnet.zone, subnet.zone_id))
    subnets = {(c.kind, c.name) for c in inventory.node_classes if c.subnets is not None}
    for pool in inventory.node_pools:
        listed = [r for r in pool.requirements if r.key in (ZONE, AWS_ZONE_ID) and r.operator == "In"]
        known.update(value for r in listed for value in r.values)
        if not listed and (pool.node_class.kind, pool.node_class.name) not in subnets and not settings.zones:
            return ()
    for group in inventory.node_groups:
        known.update(zone.name for zone in group.zones)
        if not (group.all_zones and group.zones) and not settings.zones:
            return ()
    return tuple(zone for zone in settings.zone_shift if zone not in known)


def _zone(node: Node) -> str | None:
    label = node.labels.get(ZONE)
    return None if label is None else label.value


class ZoneLosses:
    """What becomes of every workload without each zone; only workloads that could change are evaluated again."""

    def __init__(self, facts: FactsLike) -> None:
        self.facts = facts
        self.inventory = facts.inventory
        self.settings = facts.settings
        self.topology = topology_of(facts)
        self._zones: dict[str, tuple[str, ...] | None] = {}
        self._worlds: dict[tuple[str, Reading], Mapping[str, WorkloadVerdict]] = {}
        self._fixed = bool(self.inventory.nodes or self.inventory.node_groups)
        self._limited = {f"NodePool/{p.name}" for p in self.inventory.node_pools if p.limits or p.is_static}

    def zones_of(self, workload: Workload) -> tuple[str, ...] | None:
        """The zones that a workload can use; None where they are not all known, or where it has none to lose."""
        if workload.id not in self._zones:
            self._zones[workload.id] = self._find_zones(workload)
        return self._zones[workload.id]

    def _find_zones(self, workload: Workload) -> tuple[str, ...] | None:
        verdict = self.facts.verdicts.get(workload.id)
        if verdict is None or workload.kind == "DaemonSet" or verdict.verdict not in ("fits", "conditional"):
            return None
        if shortfall(verdict) is not None or verdict.cause in ("not-looked-at", "bootstrap-nodes"):
            return None
        zones: set[str] = set()
        for pool in verdict.pools:
            if not takes(pool):
                continue
            known = pool.pool.startswith("Node/") or pool.pool == ALL_NODES or self.topology.zones_known(pool.pool)
            if not known or not pool.zones:
                return None
            zones.update(pool.zones)
        return tuple(sorted(zones)) or None

    @cached_property
    def has_several(self) -> bool:
        """Whether there is more than one zone: some pool lists another, or some workload can use it."""
        listed = {*self.topology.supply.values.get(ZONE, ()), *self.settings.zones}
        if len(listed) < 2:
            listed.update(*(self.zones_of(w) or () for w in self.inventory.workloads))
        return len(listed) > 1

    def only_zone(self, workload: Workload) -> str | None:
        """The one zone that a workload can use, where there are others: without it no node takes its pods.

        Nothing has to be evaluated for that: who is refused elsewhere is refused there still.
        """
        verdict = self.facts.verdicts.get(workload.id)
        if verdict is None or len(verdict.zones) != 1:
            return None
        zones = self.zones_of(workload)
        return zones[0] if zones is not None and len(zones) == 1 and self.has_several else None

    def rows(self, readings: tuple[Reading, ...] = READINGS) -> Iterator[tuple[Workload, ZoneRow]]:
        """One row per workload with something to lose, in reading order.

        Each zone and reading costs an evaluation of the inventory. With one reading, both outcomes of a cell are of it.
        """
        for workload in self.inventory.workloads if self.has_several else ():
            zones = self.zones_of(workload)
            if zones:
                needed = self.facts.verdicts[workload.id].replicas.needed
                cells = tuple(self.cell(workload, zone, readings) for zone in zones)
                yield workload, ZoneRow(workload.id, self.settings.cluster, needed, cells)

    def cell(self, workload: Workload, zone: str, readings: tuple[Reading, ...] = READINGS) -> Cell:
        """One workload without one zone."""
        verdict = self.facts.verdicts[workload.id]
        needed = verdict.replicas.needed
        outcomes = [self._outcome(workload, zone, reading) for reading in readings]
        loss, shift = outcomes[0], outcomes[-1]
        soft = shift.at_most >= needed and any(
            self._stuck_at(workload, constraint, zone) < needed
            for constraint in workload.template.spec.spread
            if constraint.when_unsatisfiable == "ScheduleAnyway"
        )
        return Cell(zone, needed, loss, shift, soft, self.stranded(workload, zone))

    def _outcome(self, workload: Workload, zone: str, reading: Reading) -> Outcome:
        verdict = self.facts.verdicts[workload.id]
        needed = verdict.replicas.needed
        found = Outcome(verdict.verdict, verdict.cause, needed)
        if self._could_change(workload, zone):
            again = self._world(zone, reading).get(workload.id)
            short = shortfall(again)
            if again is not None and (short is not None or again.verdict in ("never", "loop")):
                found = Outcome(again.verdict, short or again.cause, min(needed, again.replicas.at_most))
            elif again is not None:
                found = Outcome(again.verdict, again.cause, needed)
        most, cause = self.by_rules(workload, zone, reading)
        if most < found.at_most:
            found = Outcome("partial" if most else "never", cause, most)
        return found

    def _could_change(self, workload: Workload, zone: str) -> bool:
        """Whether a workload could do worse without a zone; where not, it surely is as it was."""
        zones = self.zones_of(workload) or ()
        if zone not in zones:
            return False
        return len(zones) == 1 or self._fixed or self._is_tied(workload)

    def _is_tied(self, workload: Workload) -> bool:
        """Whether more than its own needs decides about a workload: other pods, volumes, limits of pools."""
        spec = workload.template.spec
        hard = any(c.when_unsatisfiable == "DoNotSchedule" for c in spec.spread)
        among = hard or spec.affinity.anti_required or spec.affinity.pod_required
        if among or any(v.claim for v in spec.volumes) or workload.claim_templates:
            return True
        verdict = self.facts.verdicts[workload.id]
        return verdict.verdict != "fits" or any(takes(p) and p.pool in self._limited for p in verdict.pools)

    def by_rules(self, workload: Workload, zone: str, reading: Reading) -> tuple[int, Cause]:
        """How many replicas the rules about zones leave in the others at most, and which one (S-812, S-923, Z-4)."""
        needed = self.facts.verdicts[workload.id].replicas.needed
        zones = self.zones_of(workload) or ()
        others = [z for z in zones if z != zone]
        most = needed
        pod = self.facts.effective(workload)
        for constraint in workload.template.spec.spread:
            if constraint.when_unsatisfiable != "DoNotSchedule" or not self._over_zones(pod, constraint):
                continue
            stays = reading == "shift" and zone in zones and constraint.node_taints_policy != "Honor"
            if stays or (constraint.min_domains or 1) > len(others):
                most = min(most, max(constraint.max_skew, 1) * len(others))
        if any(True for _ in apart_from_itself(pod, ZONE)) and len(others) < most:
            return len(others), "affinity"
        return most, "topology"

    def _stuck_at(self, workload: Workload, constraint: SpreadConstraint, zone: str) -> int:
        """How many replicas a spread would leave in the other zones if it were hard and the zone stayed a domain."""
        needed = self.facts.verdicts[workload.id].replicas.needed
        if not self._over_zones(self.facts.effective(workload), constraint):
            return needed
        others = len([z for z in self.zones_of(workload) or () if z != zone])
        return max(constraint.max_skew, 1) * others if others else needed

    @staticmethod
    def _over_zones(pod: EffectivePod, constraint: SpreadConstraint) -> bool:
        return constraint.topology_key == ZONE and counts_itself(pod, constraint.selector)

    def _world(self, zone: str, reading: Reading) -> Mapping[str, WorkloadVerdict]:
        found = self._worlds.get((zone, reading))
        if found is None:
            found = self._worlds[zone, reading] = self._evaluate(zone, reading)
        return found

    def _evaluate(self, zone: str, reading: Reading) -> Mapping[str, WorkloadVerdict]:
        from unpend.placement.evaluate import evaluate_inventory

        inventory, settings = self.inventory, self.settings
        if not self._fixed:
            kept = {w.id for w in inventory.workloads if w.kind == "DaemonSet" or self._could_change(w, zone)}
            for wish in peers_of(self.facts).wishes:
                if wish.workload.id in kept:
                    kept.update(target.id for target in wish.targets)
            if len(kept) < len(inventory.workloads):
                # Who was left out may still be a reason for nodes.
                settings = replace(settings, world=replace(settings.world, workloads="open"))
                inventory = replace(inventory, workloads=tuple(w for w in inventory.workloads if w.id in kept))
        if reading == "loss":
            inventory, settings = without_zone(inventory, settings, zone)
        else:
            settings = replace(settings, zone_shift=tuple(dict.fromkeys((*settings.zone_shift, zone))))
        verdicts = evaluate_inventory(inventory, settings, self.facts.effective)
        return {verdict.workload: verdict for verdict in verdicts}

    def stranded(self, workload: Workload, zone: str) -> tuple[str, ...]:
        """The volumes of a workload that are in a zone and cannot leave it (Z-5)."""
        spec = workload.template.spec
        if not workload.claim_templates and not any(v.claim for v in spec.volumes):
            return ()
        from unpend.placement.claims import VolumeBook
        from unpend.placement.zonal_storage import zone_of

        book: VolumeBook = self.facts.memo("volume-book", lambda: VolumeBook(self.inventory, self.settings))
        needed = self.facts.verdicts[workload.id].replicas.needed
        names = [
            mount.title
            for share in book.shares(workload, spec, needed)
            for mount in share.volumes
            if zone_of(mount) == zone
        ]
        return tuple(dict.fromkeys(names))


def zone_losses(facts: FactsLike) -> ZoneLosses:
    """The zones of all workloads, shared by the rules and the report of a run."""
    found: ZoneLosses = facts.memo("zone-losses", lambda: ZoneLosses(facts))
    return found
