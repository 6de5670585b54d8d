"""What each pool is: whether it makes nodes, which ones, who reaches it, and which other pools take the same pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from unpend.model.inventory import Inventory
from unpend.model.node_labels import ARCH, CAPACITY_TYPES, INSTANCE_TYPE, ZONE
from unpend.placement.pool_summary import MachineType, PoolReport, Reach, Size, by_size
from unpend.placement.pools import ALL_NODES, MOST_SHOWN
from unpend.placement.verdict import Verdict, WorkloadVerdict
from unpend.records import replace
from unpend.settings import Settings

_REACHING: tuple[Verdict, ...] = ("fits", "conditional", "loop")


def pool_reports(
    inventory: Inventory, settings: Settings, verdicts: Iterable[WorkloadVerdict] = ()
) -> tuple[PoolReport, ...]:
    """One report per pool: NodePools in the order in which Karpenter tries them, node groups, Nodes.

    Above 20 Nodes they are one report. `verdicts` are those of the same inventory.
    """
    found: list[PoolReport] = []
    if inventory.node_pools:
        from unpend.placement.karpenter.report import node_pool_reports

        found.extend(node_pool_reports(inventory, settings))
    if inventory.node_groups:
        from unpend.placement.cluster_autoscaler.report import node_group_reports

        found.extend(node_group_reports(inventory, settings))
    found.extend(_nodes(inventory, settings))
    reach = _reached(verdicts)
    return tuple(replace(report, reach=reach.get(report.pool, ())) for report in found)


def _reached(verdicts: Iterable[WorkloadVerdict]) -> dict[str, tuple[Reach, ...]]:
    found: dict[str, dict[str, Reach]] = {}
    for verdict in verdicts:
        for pool in verdict.pools:
            if pool.verdict in _REACHING:
                found.setdefault(pool.pool, {})[verdict.workload] = Reach(verdict.workload, pool.verdict)
    ordered = {
        pool: sorted(reached.values(), key=lambda r: (_REACHING.index(r.verdict), r.workload))
        for pool, reached in found.items()
    }
    return {pool: tuple(reached) for pool, reached in ordered.items()}


def _nodes(inventory: Inventory, settings: Settings) -> tuple[PoolReport, ...]:
    nodes = inventory.nodes
    if not nodes:
        return ()
    singles = tuple(
        PoolReport(
            pool=f"Node/{node.name}",
            kind="Node",
            cluster=settings.cluster,
            usable="no" if node.unschedulable else "yes",
            why="it is cordoned (spec.unschedulable)" if node.unschedulable else "",
            semantics="scheduler:P-301" if node.unschedulable else "",
            types=1 if _label(node.labels, INSTANCE_TYPE) else None,
            architectures=_labels([node.labels], ARCH),
            zones=_labels([node.labels], ZONE),
            capacity_types=_labels([node.labels], *CAPACITY_TYPES),
            largest=MachineType(
                _label(node.labels, INSTANCE_TYPE) or node.name,
                {name: amount.milli for name, amount in node.allocatable.items()},
            ),
            size=Size(1, 1),
            taints=node.taints,
            place=node.place,
        )
        for node in nodes
    )
    if len(nodes) <= MOST_SHOWN:
        return singles
    usable = [node for node in nodes if not node.unschedulable]
    labels = [node.labels for node in usable]
    types = _labels(labels, INSTANCE_TYPE)
    return (
        PoolReport(
            pool=ALL_NODES,
            kind="Node",
            cluster=settings.cluster,
            usable="yes" if usable else "no",
            why="" if usable else "all of them are cordoned (spec.unschedulable)",
            types=len(types) or None,
            architectures=_labels(labels, ARCH),
            zones=_labels(labels, ZONE),
            capacity_types=_labels(labels, *CAPACITY_TYPES),
            largest=max((s.largest for s in singles if s.largest), key=by_size, default=None),
            size=Size(len(usable), len(usable)),
            place=None,
        ),
    )


def _label(labels: Mapping[str, Any], key: str) -> str:
    label = labels.get(key)
    return "" if label is None else str(label.value)


def _labels(nodes: Sequence[Mapping[str, Any]], *keys: str) -> tuple[str, ...]:
    return tuple(sorted({value for labels in nodes for key in keys if (value := _label(labels, key))}))
