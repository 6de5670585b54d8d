"""A NodePool made ready to be asked: requirements, node class, the nodes that it could make, or why it makes none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from unpend.algebra.taints import untolerated
from unpend.algebra.values import ValueSet
from unpend.algebra.values import one_of as exactly
from unpend.catalog.catalog import Catalog, Zone, named_zones
from unpend.catalog.index import Fit, Resources
from unpend.catalog.load import catalog_for
from unpend.catalog.node_class import profile_of
from unpend.model.inventory import Inventory, Node, Workload
from unpend.model.karpenter import NodeClass, NodePool
from unpend.model.karpenter_labels import (
    AWS_ZONE_ID,
    CORE_DOMAIN,
    CORE_WELL_KNOWN,
    INITIALIZED,
    NODE_POOL,
    REGISTERED,
    ZONE,
    Version,
    aws_well_known,
    in_domain,
    release,
)
from unpend.model.pod import Taint
from unpend.placement.karpenter.daemons import Daemons
from unpend.placement.karpenter.devices import waiting
from unpend.placement.karpenter.grid import Grid, admitted
from unpend.placement.karpenter.requirement import one_of, requirement
from unpend.placement.karpenter.requirements import Requirements
from unpend.placement.karpenter.space import ADDED_BY_ADD_ONS, PoolLabelIndex, PoolSpace, label_of_any_node
from unpend.placement.karpenter.template import impossible_keys, node_class_key, template_requirements
from unpend.placement.scheduler import node_affinity
from unpend.placement.space import Masks, TakenPort
from unpend.placement.verdict import Against, Fact, Obstacle
from unpend.records import dataclass, field, replace
from unpend.settings import Settings
from unpend.source.place import Place

AWS_GROUP = "karpenter.k8s.aws"
_EBS = "ebs.csi.aws.com"
_UNREGISTERED = "karpenter.sh/unregistered"


@dataclass(frozen=True, slots=True)
class PoolSource:
    """The places of a NodePool, for the other side of an obstacle."""

    pool: NodePool

    @property
    def owner(self) -> str:
        """`NodePool/<name>`."""
        return f"NodePool/{self.pool.name}"

    def name(self) -> Place:
        """The name of the pool: its nodes have none yet."""
        return self.pool.place.at("metadata", "name")

    def label(self, key: str) -> Place:
        """The requirement or label on the key, or the requirements altogether."""
        label = self.pool.template_labels.get(key)
        if label is not None:
            return label.place
        found = next((r.place for r in self.pool.requirements if r.key == key), None)
        return found or self.requirements()

    def requirements(self) -> Place:
        """The requirements altogether."""
        return self.pool.place.at("spec", "template", "spec", "requirements")

    def resource(self, resource: str) -> Place:
        """What decides the size of the nodes: the requirements."""
        return self.requirements()

    def unschedulable(self) -> Place:
        """NodePools cordon nothing."""
        return self.pool.place


@dataclass(slots=True)
class ManagedPool:
    """One NodePool in one run.

    `unusable` says why it surely makes no node (P1), `doubts` why it perhaps makes none, or which ones nobody knows
    (P2). `base` are the pairs of type and offering that its own requirements and limits leave, as Karpenter sees them;
    `exist` those whose zone surely has a subnet, `candidates` the zones of which at least one has. `unknown` says what
    the pool asks for that the catalogue does not know. `added` are the types to which a NodeOverlay gives a resource.
    """

    pool: NodePool
    number: int
    requirements: Requirements
    well_known: frozenset[str]
    version: Version
    catalog: Catalog | None = None
    node_class: NodeClass | None = None
    grid: Grid | None = None
    base: Masks = Masks(0, 0)
    before_limits: int = 0
    exist: int = 0
    candidates: tuple[int, ...] = ()
    unusable: Obstacle | None = None
    doubts: tuple[Fact, ...] = ()
    assumptions: tuple[str, ...] = ()
    unknown: dict[str, str] = field(default_factory=dict)
    added: dict[str, int] = field(default_factory=dict)
    planned: Resources | None = None
    planned_ports: tuple[tuple[TakenPort, int], ...] = ()
    space: PoolSpace | None = None
    source: PoolSource = field(init=False)

    def __post_init__(self) -> None:
        self.source = PoolSource(self.pool)

    @property
    def name(self) -> str:
        """`NodePool/<name>`."""
        return self.source.owner

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The taints that Karpenter reckons with (`A-1`)."""
        return self.pool.taints

    @property
    def staying_taints(self) -> tuple[Taint, ...]:
        """The taints that kube-scheduler meets: also startup taints that surely nobody takes off (`A-3`, `A-8`)."""
        return (*self.pool.taints, *(t for t in self.pool.startup_taints if _never_removed(t)))


class ManagedPools:
    """The NodePools of an inventory, in the order in which Karpenter tries them (`karpenter.md` §1.7)."""

    def __init__(self, inventory: Inventory, settings: Settings, daemons: Daemons, catalogs: Sequence[Catalog]) -> None:
        self.inventory = inventory
        self.settings = settings
        self.daemons = daemons
        self.catalogs = catalogs
        self.version = release(settings.karpenter.version)
        self.strict = settings.karpenter.min_values_policy == "Strict"
        self._grids: dict[tuple[int, frozenset[str]], Grid] = {}
        self._reduced: dict[tuple[object, ...], Resources] = {}
        self._classes = {(c.group, c.kind, c.name): c for c in inventory.node_classes}
        self.region = settings.region or self._region_of_files()
        ordered = sorted(inventory.node_pools, key=lambda pool: pool.order)
        self.pools = tuple(self._managed(pool, number) for number, pool in enumerate(ordered))
        self.relaxes_taints = any(
            t.effect == "PreferNoSchedule" for p in self.pools if p.unusable is None for t in p.taints
        )
        known = frozenset(CORE_WELL_KNOWN)
        for one in self.pools:
            known |= one.well_known
        self.well_known = known

    @cached_property
    def perhaps(self) -> frozenset[str]:
        """Labels of add-ons of which nothing says that they run: there or not."""
        for volume in self.inventory.volumes:
            if volume.kind == "csi" and volume.source.get("driver") == _EBS:
                return frozenset()
        for workload in self.inventory.workloads:
            if workload.kind == "DaemonSet":
                texts = (workload.name, *(c.image for c in workload.template.spec.containers))
                if any("ebs-csi" in text for text in texts):
                    return frozenset()
        return ADDED_BY_ADD_ONS

    def _region_of_files(self) -> str | None:
        from unpend.catalog.aws import region_of

        names = [subnet.zone for c in self.inventory.node_classes for subnet in c.subnets or ()]
        names += self.settings.zones
        for pool in self.inventory.node_pools:
            for entry in pool.requirements:
                if entry.key == ZONE and entry.operator == "In":
                    names += entry.values
        regions = {region for name in names if (region := region_of(name)) is not None}
        return next(iter(regions)) if len(regions) == 1 else None

    def _managed(self, pool: NodePool, number: int) -> ManagedPool:
        ref = pool.node_class
        catalog = catalog_for(self.catalogs, ref.group, ref.kind, pool.name)
        well_known = frozenset(CORE_WELL_KNOWN)
        if ref.group == AWS_GROUP:
            well_known |= aws_well_known(self.version)
        elif catalog is not None:
            well_known |= catalog.well_known
        found = ManagedPool(pool, number, template_requirements(pool), well_known, self.version, catalog)
        found.node_class = self._classes.get((ref.group, ref.kind, ref.name))
        found.unusable = self._unusable(found)
        if found.unusable is not None:
            return found
        found.doubts = tuple(self._doubts(found))
        if catalog is not None and not any(d.name == "node-class" for d in found.doubts):
            self._build(found, catalog)
        return found

    # Whether it can be used at all

    def _unusable(self, found: ManagedPool) -> Obstacle | None:
        pool = found.pool
        for problem in (*pool.refusals, *pool.faults):
            return _unusable(found, f"{found.name} makes no nodes: {problem.message}", problem.semantics, problem.place)
        if pool.terminating:
            return _unusable(found, f"{found.name} is being deleted", "karpenter:§1.4", pool.place.at("metadata"))
        if pool.ready is False:
            reason = f" ({pool.not_ready_reason})" if pool.not_ready_reason else ""
            return _unusable(found, f"{found.name} is not ready{reason}", "karpenter:§1.4", pool.place.at("status"))
        if pool.replicas == 0:
            place = pool.place.at("spec", "replicas")
            return _unusable(found, f"{found.name} is static and keeps no node", "karpenter:S-1", place)
        return self._unusable_class(found)

    def _unusable_class(self, found: ManagedPool) -> Obstacle | None:
        ref, used = found.pool.node_class, found.node_class
        if used is None:
            if self.settings.world.classes == "open" or found.catalog is None:
                return None
            return _unusable(
                found,
                f"{found.name} uses {ref.kind} {ref.name!r}, which is not there",
                "karpenter:§1.4",
                ref.place.at("name"),
            )
        why = next((p.message for p in used.refusals), "")
        if used.terminating:
            why = "it is being deleted"
        elif used.ready is False:
            why = f"it is not ready{f' ({used.not_ready_reason})' if used.not_ready_reason else ''}"
        if not why:
            return None
        return _unusable(
            found, f"{ref.kind} {ref.name!r} of {found.name} cannot be used: {why}", "karpenter:§1.4", ref.place
        )

    def _doubts(self, found: ManagedPool) -> Iterator[Fact]:
        ref = found.pool.node_class
        if found.catalog is None:
            yield Fact(
                "instance-types",
                f"which nodes {found.name} makes: no catalogue has the instance types of {ref.group} {ref.kind}",
                ref.place,
            )
        elif found.node_class is None:
            yield Fact("node-class", f"whether {ref.kind} {ref.name!r} is there, and what it says", ref.place)

    # The nodes that it can make

    def _build(self, found: ManagedPool, catalog: Catalog) -> None:
        zones, exact = self._zones(found)
        node_class = found.node_class
        profile = None
        if found.pool.node_class.group == AWS_GROUP and node_class is not None:
            spec = node_class.object.data.get("spec")
            profile = profile_of(spec if isinstance(spec, dict) else {}, self.settings.karpenter)
        shapes = catalog.shapes(profile, self.region, zones)
        key = (id(shapes), found.well_known)
        grid = self._grids.get(key)
        if grid is None:
            grid = self._grids[key] = Grid(shapes, found.well_known, self.settings.zone_shift)
        found.grid = grid
        pool = found.pool
        sure = possible = grid.all
        for asked in found.requirements:
            answer = grid.planned(asked)
            sure &= answer.sure
            possible &= answer.possible
            text = catalog.unknown(asked.key, admitted(asked))
            if text is not None:
                found.unknown[asked.key] = text
        found.exist = grid.all if exact else 0
        if not exact:
            by_zone: dict[tuple[str, str], int] = {}
            for number, group in enumerate(grid.groups):
                place = (group.zone, group.zone_id)
                by_zone[place] = by_zone.get(place, 0) | group.possible << number * grid.width
            found.candidates = tuple(by_zone.values())
        found.before_limits = possible
        limits = self._within_limits(found, grid)
        within = possible & grid.spread(limits.possible)
        found.base = Masks(sure & grid.spread(limits.sure), within)
        if not within and not found.unknown:
            found.unusable = self._no_types(found, possible)
            return
        short = short_of_min_values(found, grid, possible) if self.strict else None
        if short is not None and not found.unknown:
            found.unusable = short
            return
        if pool.is_static:
            found.base = Masks(0, within)
        self._lay_daemons(found, grid, within)

    def _zones(self, found: ManagedPool) -> tuple[tuple[Zone, ...], bool]:
        """The zones of the pool, and whether they surely are (A2)."""
        settings, ref = self.settings, found.pool.node_class
        node_class = found.node_class
        if node_class is not None and node_class.subnets is not None:
            pairs = [(subnet.zone, subnet.zone_id) for subnet in node_class.subnets]
            return named_zones((name for name, _ in pairs if name), settings.zone_ids, pairs), True
        configured = settings.node_classes.get(ref.name, {}).get("zones")
        if configured:
            return named_zones(configured, settings.zone_ids), True
        listed = found.requirements.get(ZONE)
        if not listed.complement and listed.values:
            found.assumptions = ("A2",)
            return named_zones(sorted(listed.values), settings.zone_ids), True
        if settings.zones:
            return named_zones(settings.zones, settings.zone_ids), True
        by_id = found.requirements.get(AWS_ZONE_ID)
        if not by_id.complement and by_id.values:
            found.assumptions = ("A2",)
            names = {one: name for name, one in settings.zone_ids.items()}
            return tuple(Zone(names.get(one, ""), one) for one in sorted(by_id.values)), True
        if found.catalog is not None and found.pool.node_class.group != AWS_GROUP and found.catalog.complete:
            return (), True
        found.assumptions = ("A2",)
        return (), False

    def _within_limits(self, found: ManagedPool, grid: Grid) -> Fit:
        """The types whose capacity is within the limits: possibly within all of them, surely beside the nodes given."""
        limits = found.pool.limits
        every = grid.types
        if not limits or found.pool.is_static:
            return Fit(every, every)
        used = self._usage(found.pool)
        sure = possible = every
        for name, limit in limits.items():
            if name == "nodes":
                possible &= every if limit.milli >= 1000 else 0
                sure &= every if limit.milli - used.get(name, 0) >= 1000 else 0
                continue
            low, high = grid.shapes.capacity, limit.milli
            # The lower bound of memory is what Karpenter reckons with (A7).
            possible &= every & ~low.levels(name, high + 1)[0] if name in low.names else every
            left = high - used.get(name, 0)
            if name in low.names:
                sure &= every & ~low.levels(name, left + 1)[0]
        return Fit(sure & possible, possible)

    def _usage(self, pool: NodePool) -> dict[str, int]:
        used: dict[str, int] = {}
        for node in self.inventory.nodes:
            if belongs(node, pool):
                used["nodes"] = used.get("nodes", 0) + 1000
                for name, amount in node.capacity.items():
                    used[name] = used.get(name, 0) + amount.milli
        return used

    def _no_types(self, found: ManagedPool, before_limits: int) -> Obstacle:
        pool = found.pool
        if before_limits:
            place = pool.place.at("spec", "limits")
            listed = ", ".join(f"{name}: {amount.text}" for name, amount in pool.limits.items())
            return replace(
                _unusable(
                    found,
                    f"no instance type of {found.name} is within its limits ({listed}): "
                    "all available instance types exceed limits for nodepool",
                    "karpenter:L-4",
                    place,
                ),
                constraint="limits",
                cause="limits",
            )
        keys = impossible_keys(found.requirements, pool.node_class.group == AWS_GROUP)
        detail = f" (nothing is left of {', '.join(keys)})" if keys else ""
        return _unusable(
            found,
            f"the requirements of {found.name} leave no instance type{detail}: "
            "nodepool requirements filtered out all available instance types",
            "karpenter:§7.4",
            found.source.requirements(),
        )

    # DaemonSets on its nodes

    def _lay_daemons(self, found: ManagedPool, grid: Grid, within: int) -> None:
        resources = self._overlaid(found, grid)
        taken, ports = self._planned(found, grid, within)
        found.planned = self._less(resources, taken)
        found.planned_ports = ports
        alive = grid.collapse(within) & found.planned.usable.possible
        if any(group.resources is not None for group in grid.groups):
            alive = grid.collapse(within)
        within &= grid.spread(alive)
        labels = PoolLabelIndex(
            grid, within, found.requirements, self._custom(found), self._open_keys(found), self.perhaps
        )
        plain = PoolSpace(
            grid, within, labels, found.staying_taints, (resources, resources, resources), (), found.source
        )
        low: list[tuple[int, tuple[tuple[str, int], ...]]] = []
        high: list[tuple[int, tuple[tuple[str, int], ...]]] = []
        held: list[tuple[TakenPort, Masks]] = []
        plugins: list[tuple[Workload, int]] = []
        for daemon in self.daemons.actual:
            demand = daemon.demand
            plugins.append((daemon.workload, 0))
            if untolerated(demand.tolerations + demand.possible_tolerations, plain.pool_taints):
                continue
            masks = node_affinity.accepts(demand, plain)
            if untolerated(demand.tolerations, plain.pool_taints) or not daemon.sure:
                masks = Masks(0, masks.possible)
            if not masks.possible:
                continue
            plugins.append((daemon.workload, masks.possible))
            amounts = tuple(sorted(daemon.requests.items()))
            low.append((grid.collapse(masks.possible), amounts))
            sure = grid.types & ~grid.collapse(within & ~masks.sure)
            if sure:
                high.append((sure, amounts))
            held.extend((TakenPort(port, daemon.workload.id, daemon.sure), masks) for port in demand.ports)
        if self.settings.world.daemonsets == "closed":
            plain.devices = waiting(plugins, found.node_class)
        if not low:
            found.space = plain
            return
        found.space = PoolSpace(
            grid,
            within,
            labels,
            found.staying_taints,
            (resources, self._less(resources, low), self._less(resources, high)),
            held,
            found.source,
            plain.devices,
        )

    def _overlaid(self, found: ManagedPool, grid: Grid) -> Resources:
        """What the types give to pods, with what NodeOverlays add to it (`karpenter.md` §9.10)."""
        resources = grid.shapes.resources
        if not self.inventory.node_overlays or not self.settings.karpenter.gate("NodeOverlay"):
            return resources
        more: list[tuple[int, tuple[tuple[str, int], ...]]] = []
        for overlay in self.inventory.node_overlays:
            if overlay.refusals or overlay.ready is False or not overlay.capacity:
                continue
            types = grid.types
            for entry in overlay.requirements:
                asked = requirement(entry.key, entry.operator, entry.values)
                clash = found.requirements.get(asked.key).overlaps(asked)
                types &= grid.collapse(grid.planned(asked).possible) if clash else 0
            for name, amount in overlay.capacity.items():
                fresh = types & ~found.added.get(name, 0)
                more.append((fresh, ((name, -amount.milli),)))
                found.added[name] = found.added.get(name, 0) | fresh
        return self._less(resources, more)

    def _planned(
        self, found: ManagedPool, grid: Grid, within: int
    ) -> tuple[list[tuple[int, tuple[tuple[str, int], ...]]], tuple[tuple[TakenPort, int], ...]]:
        template = found.requirements
        if self.version >= (1, 14):
            template = template.narrowed(Requirements.of([one_of(REGISTERED, ["true"]), one_of(INITIALIZED, ["true"])]))
        taken = []
        ports: list[tuple[TakenPort, int]] = []
        for daemon in self.daemons.planned:
            if untolerated(daemon.tolerations, found.taints):
                continue
            types = 0
            for term in daemon.terms:
                asked = Requirements.of(term)
                if not template.is_compatible(asked, found.well_known):
                    continue
                mask = grid.types
                if self.version >= (1, 14):
                    for requirement in asked:
                        if grid.defines(requirement.key):
                            mask &= grid.collapse(grid.planned(requirement).possible)
                types |= mask
            if types:
                taken.append((types, tuple(sorted(daemon.requests.items()))))
                ports.extend((TakenPort(port, daemon.owner), types) for port in daemon.ports)
        return taken, tuple(ports)

    def _less(self, resources: Resources, taken: Sequence[tuple[int, tuple[tuple[str, int], ...]]]) -> Resources:
        """Resources without what DaemonSets take; pools on which the same ones run share them."""
        if not taken:
            return resources
        key = (id(resources), *taken)
        less = self._reduced.get(key)
        if less is None:
            less = self._reduced[key] = resources.without([(mask, dict(amounts)) for mask, amounts in taken])
        return less

    def _custom(self, found: ManagedPool) -> dict[str, ValueSet]:
        """The labels of the pool's nodes beside those of types and offerings."""
        assert found.grid is not None
        labels = {}
        for requirement in found.requirements:
            key = requirement.key
            if key == NODE_POOL or not (key in found.well_known or found.grid.defines(key)):
                labels[key] = label_of_any_node(requirement)
        for key in (REGISTERED, INITIALIZED):
            labels[key] = exactly(["true"])
        for label in found.pool.template_labels.values():
            # Put on the node as it is written, also under an older name.
            if label.key in labels or not found.grid.defines(label.key):
                labels[label.key] = exactly([label.value])
        ref = found.pool.node_class
        labels[node_class_key(ref.group, ref.kind)] = exactly([ref.name])
        return labels

    def _open_keys(self, found: ManagedPool) -> frozenset[str]:
        """Labels that something else may put on the nodes: as the settings say, or arguments in the user data."""
        keys = set(self.settings.known_labels)
        if found.node_class is not None and "node-labels" in found.node_class.user_data:
            keys.update(_words(found.node_class.user_data))
        return frozenset(keys)


def _words(text: str) -> Iterator[str]:
    for part in text.replace("=", " ").replace(",", " ").replace('"', " ").replace("'", " ").split():
        if "/" in part or part.isidentifier():
            yield part


def _never_removed(taint: Taint) -> bool:
    """Whether a startup taint is one of Karpenter's own keys with an effect that Karpenter does not remove."""
    return in_domain(taint.key, CORE_DOMAIN) and (taint.key, taint.effect) != (_UNREGISTERED, "NoExecute")


def belongs(node: Node, pool: NodePool) -> bool:
    """Whether a Node was made by a NodePool."""
    label = node.labels.get(NODE_POOL)
    return label is not None and label.value == pool.name


def short_of_min_values(found: ManagedPool, grid: Grid, mask: int) -> Obstacle | None:
    """Which `minValues` of the pool the types of a mask cannot meet, None when all are met (`karpenter.md` §2.8)."""
    types = grid.collapse(mask)
    for requirement in found.requirements:
        wanted = requirement.min_values
        if wanted is None:
            continue
        count = count_values(grid, requirement.key, types, mask)
        if count < wanted:
            place = next((r.place for r in found.pool.requirements if r.min_values == wanted), found.pool.place)
            return Obstacle(
                "pool",
                f"{found.name} wants at least {wanted} values of {requirement.key}, and the instance types that are left "
                f"have {count} (minValues requirement is not met for label(s))",
                "karpenter:§2.8",
                place.at("minValues"),
                Against(found.name, place),
                "pool-unusable",
            )
    return None


def count_values(grid: Grid, key: str, types: int, mask: int) -> int:
    """How many distinct values of a label the types have, those of offerings that they have elsewhere included."""
    count = sum(1 for having in grid.shapes.values(key).values() if having & types)
    if grid.shapes.unsaid(key):
        # Zones whose names are not known are as many as there are groups in different places.
        places = {(group.zone, group.zone_id) for group, _ in grid.groups_of(grid.spread(types))}
        count = max(count, len(places))
    return count


def _unusable(found: ManagedPool, message: str, semantics: str, place: Place) -> Obstacle:
    return Obstacle("pool", message, semantics, place, Against(found.name, place), "pool-unusable")
