"""What a user should know when nothing that makes nodes was given: then nothing is said of where pods can run."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from unpend.engine.result import Notice
from unpend.engine.run import ClusterInput
from unpend.model.inventory import Inventory
from unpend.source.document import Object
from unpend.source.place import Place

_HOW = "name what makes nodes with --pools PATH, or as pools of a cluster in .unpend.yaml"


def capacity_notice(cluster: ClusterInput, named: Collection[str], *, explain: bool) -> Notice | None:
    """Where to find fault: files `named` for their capacity that have none, or no capacity in any file.

    None where there is capacity, or no workload that would need it.
    """
    inventory = cluster.inventory
    if not inventory.workloads or any(True for _ in _unplaced(inventory)):
        return None
    where = f" of cluster {cluster.name}" if cluster.name else ""
    if named:
        if any(_uri(place) in named for place in _capacity(inventory)):
            return None
        files = ", ".join(sorted(named)[:3]) + (" and others" if len(named) > 3 else "")
        what = f"no Node, NodePool or node group is in what is named as pools{where} ({files})"
    elif any(True for _ in _capacity(inventory)):
        return None
    else:
        what = f"no Node, NodePool or node group is among the files{where}"
    nothing = not any(True for _ in _capacity(inventory))
    if nothing and explain:
        return Notice(f"{what}: every workload is judged as if there were no nodes; {_HOW}", severity="warning")
    if nothing:
        return Notice(f"{what}: whether pods can be placed is not judged; {_HOW}", severity="warning")
    return Notice(f"{what}: only what the checked files have is looked at; {_HOW}", severity="warning")


def _capacity(inventory: Inventory) -> Iterator[Place]:
    """The places of what makes nodes; what is named for it is read last."""
    yield from (pool.place for pool in reversed(inventory.node_pools))
    yield from (group.place for group in reversed(inventory.node_groups))
    yield from (node.place for node in reversed(inventory.nodes))


def _unplaced(inventory: Inventory) -> Iterator[object]:
    """Capacity that has no nodes to look at: kinds that are not understood, and Fargate."""
    yield from inventory.unread_capacity
    yield from inventory.fargate


def _uri(place: Place) -> str:
    return place.object.document.uri if isinstance(place.object, Object) else ""
