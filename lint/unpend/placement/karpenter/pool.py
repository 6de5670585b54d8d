"""One NodePool made ready to be asked."""

from __future__ import annotations

from unpend.catalog.catalog import Catalog
from unpend.catalog.index import Resources
from unpend.model.inventory import Node
from unpend.model.karpenter import NodeClass, NodePool
from unpend.model.karpenter_labels import CORE_DOMAIN, NODE_POOL, Version, in_domain
from unpend.model.pod import Taint
from unpend.placement.karpenter.grid import Grid
from unpend.placement.karpenter.requirements import Requirements
from unpend.placement.karpenter.space import PoolSpace
from unpend.placement.space import Masks, TakenPort
from unpend.placement.verdict import Against, Fact, Obstacle
from unpend.records import dataclass, field
from unpend.source.place import Place

AWS_GROUP = "karpenter.k8s.aws"
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
    `user_taints` are what user data adds to the nodes and nobody takes off (`A-5`).
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
    user_taints: tuple[Taint, ...] = ()
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
        return (
            *self.pool.taints,
            *(t for t in self.pool.startup_taints if _never_removed(t)),
            *self.user_taints,
        )


def _never_removed(taint: Taint) -> bool:
    """Whether a startup taint is one of Karpenter's own keys with an effect that Karpenter does not remove."""
    return in_domain(taint.key, CORE_DOMAIN) and (taint.key, taint.effect) != (_UNREGISTERED, "NoExecute")


def belongs(node: Node, pool: NodePool) -> bool:
    """Whether a Node was made by a NodePool."""
    label = node.labels.get(NODE_POOL)
    return label is not None and label.value == pool.name


def unusable(found: ManagedPool, message: str, semantics: str, place: Place) -> Obstacle:
    """Why a pool makes no nodes (P1)."""
    return Obstacle("pool", message, semantics, place, Against(found.name, place), "pool-unusable")
