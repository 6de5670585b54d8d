"""What single NodePools are, for rules that speak of the pool and not of a pod: types left, devices, DaemonSets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unpend.algebra.taints import FILTERING_EFFECTS, untolerated
from unpend.catalog.catalog import Catalog
from unpend.catalog.index import Shapes, bits
from unpend.catalog.load import catalogs_of
from unpend.model.inventory import Inventory
from unpend.model.karpenter import PoolRequirement
from unpend.model.karpenter_labels import ARCH, OS, WINDOWS_BUILD
from unpend.placement.karpenter.daemons import daemons_of
from unpend.placement.karpenter.grid import Grid, admitted
from unpend.placement.karpenter.managed import ManagedPool, ManagedPools
from unpend.placement.karpenter.requirement import requirement
from unpend.placement.karpenter.requirements import Requirements
from unpend.placement.karpenter.template import impossible_keys
from unpend.records import dataclass
from unpend.settings import Settings

_OF_THE_CLASS = (OS, WINDOWS_BUILD)
_NO_DEVICE = "vpc.amazonaws.com/"
_DEVICE_LABELS = ("karpenter.k8s.aws/instance-gpu-name", "karpenter.k8s.aws/instance-accelerator-name")
_MEMORY = "karpenter.k8s.aws/instance-memory"


def managed_pools(inventory: Inventory, settings: Settings) -> ManagedPools:
    """The NodePools of an inventory with the nodes that they could make."""
    return ManagedPools(inventory, settings, daemons_of(inventory, settings), catalogs_of(settings))


def is_legal(found: ManagedPool) -> bool:
    """Whether the API server and Karpenter take the NodePool: otherwise other rules have said what is wrong."""
    return not (found.pool.refusals or found.pool.faults)


def grid_of(found: ManagedPool, pools: ManagedPools) -> Grid | None:
    """The types of a pool with their offerings; under a default node class where its own is not given."""
    if found.grid is not None or found.catalog is None:
        return found.grid
    return Grid(found.catalog.shapes(None, pools.region, ()), found.well_known, ())


class NoTypes(NamedTuple):
    """Requirements that together leave no instance type, in the order of the text.

    `keys` are labels that no value is left for, whatever the catalogue says. `news` is what they ask for that the
    catalogue does not know, None when it knows everything. `hint` says what was probably meant.
    """

    requirements: tuple[PoolRequirement, ...]
    keys: tuple[str, ...]
    news: str | None
    catalog: Catalog | None
    hint: str = ""


def no_types(found: ManagedPool, pools: ManagedPools) -> NoTypes | None:
    """Why the requirements of a pool leave no instance type, None when they leave some or nobody can tell (§7.4)."""
    written = found.pool.requirements
    aws = found.pool.node_class.group == "karpenter.k8s.aws"
    keys = impossible_keys(found.requirements, aws)
    if keys:
        guilty = tuple(r for r in written if requirement(r.key, "Exists").key in keys)
        return NoTypes(guilty, keys, None, None, _hint(guilty))
    grid = grid_of(found, pools)
    if grid is None:
        return None
    asked = [r for r in written if found.grid is not None or r.key not in _OF_THE_CLASS]
    if _left(asked, grid):
        return None
    for one in tuple(asked):
        rest = [r for r in asked if r is not one]
        if not _left(rest, grid):
            asked = rest
    news = None
    for folded in found.requirements:
        if found.catalog is not None and any(requirement(r.key, "Exists").key == folded.key for r in asked):
            news = news or found.catalog.unknown(folded.key, admitted(folded))
    return NoTypes(tuple(asked), (), news, found.catalog, _hint(asked))


def _left(written: Sequence[PoolRequirement], grid: Grid) -> int:
    mask = grid.all
    for folded in Requirements.of(requirement(r.key, r.operator, r.values) for r in written):
        mask &= grid.planned(folded).possible
    return mask


def _hint(guilty: Sequence[PoolRequirement]) -> str:
    bounds = [r.values[0] for r in guilty if r.key == _MEMORY and r.operator in ("Gt", "Lt", "Gte", "Lte") and r.values]
    if bounds and all(bound.isdigit() and int(bound) < 1024 for bound in bounds):
        return "instance-memory counts MiB: 16 GiB is 16384"
    return ""


class ShortOfValues(NamedTuple):
    """A `minValues` that the types of a pool cannot meet: they carry `carried` values of the key."""

    requirement: PoolRequirement
    carried: int
    custom: bool


def short_of_values(found: ManagedPool, pools: ManagedPools) -> tuple[ShortOfValues, ...]:
    """Every `minValues` that the types left by the requirements cannot meet (`karpenter.md` §2.8)."""
    wanted = [r for r in found.pool.requirements if r.min_values is not None]
    if not wanted:
        return ()
    grid = grid_of(found, pools)
    short = []
    for one in wanted:
        key = requirement(one.key, "Exists").key
        custom = key not in found.well_known
        if custom and (grid is None or not grid.defines(key)):
            short.append(ShortOfValues(one, 0, True))
        elif grid is not None and not found.unknown and not grid.shapes.unsaid(key):
            types = grid.collapse(_left([r for r in found.pool.requirements if _asks(r, found)], grid))
            count = sum(1 for having in grid.shapes.values(key).values() if having & types)
            if types and count < (one.min_values or 0):
                short.append(ShortOfValues(one, count, False))
    return tuple(short)


def _asks(one: PoolRequirement, found: ManagedPool) -> bool:
    return found.grid is not None or one.key not in _OF_THE_CLASS


def device_types(shapes: Shapes) -> int:
    """The types with a GPU or another accelerator."""
    mask = 0
    for name in shapes.resources.names:
        if "/" in name and not name.startswith(_NO_DEVICE):
            mask |= shapes.resources.levels(name, 1)[1]
    for key in _DEVICE_LABELS:
        for having in shapes.values(key).values():
            mask |= having
    return mask


def types_of(found: ManagedPool) -> int:
    """The types that a usable pool may launch; 0 where its types are not known."""
    if found.grid is None or found.unusable is not None:
        return 0
    return found.grid.collapse(found.base.possible)


def only_devices(found: ManagedPool) -> bool:
    """Whether every instance type that the pool may launch has a GPU or another accelerator."""
    types = types_of(found)
    return bool(types) and found.grid is not None and not types & ~device_types(found.grid.shapes)


def architectures(found: ManagedPool) -> tuple[str, ...]:
    """The processor architectures of the types that a pool may launch, sorted."""
    return architectures_of(found, types_of(found))


def architectures_of(found: ManagedPool, types: int) -> tuple[str, ...]:
    """The processor architectures of some types of a pool, sorted."""
    if found.grid is None:
        return ()
    return tuple(sorted(name for name, having in found.grid.shapes.values(ARCH).items() if having & types))


@dataclass(frozen=True, slots=True)
class DaemonShare:
    """What DaemonSets take of the smallest type of a pool: thousandths of `allocatable`, and who takes how much."""

    type: str
    resource: str
    taken: int
    allocatable: int
    daemons: tuple[tuple[str, int], ...]

    @property
    def share(self) -> float:
        """The part that they take, 1 being all."""
        return self.taken / self.allocatable if self.allocatable > 0 else float("inf")


def daemon_share(found: ManagedPool, pools: ManagedPools, resource: str) -> DaemonShare | None:
    """How much of a resource DaemonSets take of the smallest type that a pool may launch, None when unknown.

    Types on which the DaemonSets do not fit are not launched (`I-5`).
    """
    if found.grid is None or found.planned is None:
        return None
    types = types_of(found) & found.planned.usable.possible
    if not types:
        return None
    whole, left = found.grid.shapes.resources, found.planned
    number = min(
        bits(types), key=lambda n: (whole.amount(resource, n)[0], found.grid.shapes.names[n] if found.grid else "")
    )
    allocatable = whole.amount(resource, number)[0]
    taken = allocatable - left.amount(resource, number)[0]
    daemons = [
        (daemon.owner, daemon.requests.get(resource, 0))
        for daemon in pools.daemons.planned
        if daemon.requests.get(resource) and not untolerated(daemon.tolerations, found.taints, FILTERING_EFFECTS)
    ]
    daemons.sort(key=lambda pair: (-pair[1], pair[0]))
    return DaemonShare(found.grid.shapes.names[number], resource, taken, allocatable, tuple(daemons))
