"""NodeUnschedulable: a cordoned node only takes pods that tolerate the taint that stands for the cordon (P-301)."""

from __future__ import annotations

from unpend.algebra.taints import untolerated
from unpend.model.pod import Toleration
from unpend.placement.demand import Demand
from unpend.placement.space import Masks, Shape, Space
from unpend.placement.verdict import Against, Obstacle
from unpend.records import dataclass

EVENT = "node(s) were unschedulable"


@dataclass(frozen=True, slots=True)
class _Cordon:
    key: str = "node.kubernetes.io/unschedulable"
    value: str = ""
    effect: str = "NoSchedule"


CORDON = (_Cordon(),)


def tolerates_cordon(tolerations: tuple[Toleration, ...]) -> bool:
    """Whether these tolerations cover the synthetic taint of a cordoned node."""
    return not untolerated(tolerations, CORDON)


def accepts(demand: Demand, space: Space) -> Masks:
    """The shapes that the plugin lets pass."""
    if not space.cordoned or tolerates_cordon(demand.tolerations):
        return Masks(space.everything, space.everything)
    mask = space.everything & ~space.cordoned
    return Masks(mask, mask)


def obstacles(demand: Demand, shape: Shape) -> list[Obstacle]:
    """Why it refuses one shape; empty when it does not."""
    if not shape.unschedulable or tolerates_cordon(demand.tolerations):
        return []
    return [
        Obstacle(
            constraint="unschedulable",
            message=f"{shape.source.owner} is cordoned and the pod does not tolerate that ({EVENT})",
            semantics="scheduler:P-301",
            place=demand.tolerations_place,
            against=Against(shape.source.owner, shape.source.unschedulable()),
            cause="taint",
        )
    ]
