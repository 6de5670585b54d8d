"""Why a NodePool makes no nodes, or why nobody can say which (P1, P2)."""

from __future__ import annotations

from collections.abc import Iterator

from unpend.placement.karpenter.pool import AWS_GROUP, ManagedPool, unusable
from unpend.placement.karpenter.template import impossible_keys
from unpend.placement.verdict import Fact, Obstacle
from unpend.records import replace


def why_unusable(found: ManagedPool, classes_closed: bool) -> Obstacle | None:
    """Why a pool surely makes no node, before its instance types are looked at; None when nothing is wrong."""
    pool = found.pool
    for problem in (*pool.refusals, *pool.faults):
        return unusable(found, f"{found.name} makes no nodes: {problem.message}", problem.semantics, problem.place)
    if pool.terminating:
        return unusable(found, f"{found.name} is being deleted", "karpenter:§1.4", pool.place.at("metadata"))
    if pool.ready is False:
        reason = f" ({pool.not_ready_reason})" if pool.not_ready_reason else ""
        return unusable(found, f"{found.name} is not ready{reason}", "karpenter:§1.4", pool.place.at("status"))
    if pool.replicas == 0:
        place = pool.place.at("spec", "replicas")
        return unusable(found, f"{found.name} is static and keeps no node", "karpenter:S-1", place)
    return _unusable_class(found, classes_closed)


def _unusable_class(found: ManagedPool, classes_closed: bool) -> Obstacle | None:
    ref, used = found.pool.node_class, found.node_class
    if used is None:
        if not classes_closed or found.catalog is None:
            return None
        return unusable(
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
    return unusable(
        found, f"{ref.kind} {ref.name!r} of {found.name} cannot be used: {why}", "karpenter:§1.4", ref.place
    )


def doubts(found: ManagedPool) -> Iterator[Fact]:
    """Why it cannot be said which nodes a pool makes (P2)."""
    ref = found.pool.node_class
    if found.catalog is None:
        yield Fact(
            "instance-types",
            f"which nodes {found.name} makes: no catalogue has the instance types of {ref.group} {ref.kind}",
            ref.place,
        )
    elif found.node_class is None:
        yield Fact("node-class", f"whether {ref.kind} {ref.name!r} is there, and what it says", ref.place)


def no_types(found: ManagedPool, before_limits: int) -> Obstacle:
    """Why the requirements and limits of a pool leave no instance type."""
    pool = found.pool
    if before_limits:
        place = pool.place.at("spec", "limits")
        listed = ", ".join(f"{name}: {amount.text}" for name, amount in pool.limits.items())
        return replace(
            unusable(
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
    return unusable(
        found,
        f"the requirements of {found.name} leave no instance type{detail}: "
        "nodepool requirements filtered out all available instance types",
        "karpenter:§7.4",
        found.source.requirements(),
    )


def no_image(found: ManagedPool) -> Obstacle:
    """Why no image of the node class boots on what the requirements of a pool leave (§7.7)."""
    ref = found.pool.node_class
    return unusable(
        found,
        f"no image in the status of {ref.kind} {ref.name!r} fits an instance type of {found.name}: "
        "no instance types satisfy requirements of amis",
        "karpenter:§7.7",
        ref.place,
    )
