"""The instance types that the images of a node class boot on (`karpenter.md` §7.7)."""

from __future__ import annotations

from unpend.model.karpenter import NodeClass
from unpend.placement.karpenter.grid import Grid
from unpend.placement.karpenter.requirement import requirement


def bootable(node_class: NodeClass | None, grid: Grid) -> int:
    """The pairs of type and offering that some image of `status.amis` fits; all of them where it says nothing.

    Karpenter does not look at images when it plans. It leaves the other types out when it launches, and where none is
    left the NodeClaim fails and is made again.
    """
    if node_class is None or node_class.images is None:
        return grid.all
    found = 0
    for image in node_class.images:
        mask = grid.all
        for one in image.requirements:
            mask &= grid.planned(requirement(one.key, one.operator, one.values)).possible
        found |= mask
    return found
