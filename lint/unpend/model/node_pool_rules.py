"""What makes a NodePool illegal (`N-1`, `N-2`, `N-7`, `N-8`) or useless though it is there (`N-9` to `N-13`)."""

from __future__ import annotations

from collections.abc import Iterator

from unpend.model.fields import under
from unpend.model.inventory import Problem
from unpend.model.karpenter import NodePool
from unpend.model.karpenter_labels import (
    AWS_DOMAIN,
    AWS_NODE_CLASS,
    CAPACITY_TYPE,
    CORE_DOMAIN,
    CORE_WELL_KNOWN,
    HOSTNAME,
    KNOWN_VALUES,
    NODE_POOL,
    Version,
    aws_well_known,
    in_closed_kubernetes_domain,
    is_restricted,
)
from unpend.model.problems import Problems, is_placeholder
from unpend.source.place import Part, Place

_STATIC_SINCE: Version = (1, 8)
_KNOWN_VALUES_SINCE: Version = (1, 5)


def check_admission(pool: NodePool, place: Place, weight: int | None, problems: Problems, version: Version) -> None:
    """Report what the API server refuses beyond the types and values of single fields; `place` is `spec`."""
    for key, where, part in _keys(pool):
        fault = _refused_key(key, pool, version)
        if fault is not None:
            problems.refuse(where, fault[0], fault[1], part)
    if weight is not None and not 1 <= weight <= 100:
        problems.refuse(under(place, "weight"), f"`weight` must be from 1 to 100, this is {weight}", "karpenter:§1.1")
    if pool.replicas is not None:
        _check_static(pool, place, weight, problems, version)


def _check_static(pool: NodePool, place: Place, weight: int | None, problems: Problems, version: Version) -> None:
    if version < _STATIC_SINCE:
        problems.note(
            under(place, "replicas"), "`replicas` of a NodePool is known to Karpenter from 1.8 on", "karpenter:S-1"
        )
    if pool.replicas is not None and pool.replicas < 0:
        problems.refuse(under(place, "replicas"), "`replicas` may not be negative", "karpenter:N-7")
    if weight is not None:
        problems.refuse(under(place, "weight"), "`weight` and `replicas` exclude each other", "karpenter:N-7")
    for name, amount in pool.limits.items():
        if name != "nodes":
            problems.refuse(
                amount.place, f"with `replicas` only `limits.nodes` may be set, not {name}", "karpenter:N-7", "entry"
            )


def _keys(pool: NodePool) -> Iterator[tuple[str, Place, Part]]:
    """Every label key that the pool names: labels of its nodes, then requirements."""
    for label in pool.template_labels.values():
        yield label.key, label.place, "key"
    for requirement in pool.requirements:
        yield requirement.key, under(requirement.place, "key"), "value"


def _refused_key(key: str, pool: NodePool, version: Version) -> tuple[str, str] | None:
    """Why the API server refuses a key, and by which rule."""
    if key in (NODE_POOL, HOSTNAME):
        return f'a NodePool may not name "{key}": every node has its own', "karpenter:N-1"
    # A plain test of the end, as the schema has it: `mykarpenter.sh/x` is refused too.
    domain = key.partition("/")[0] if "/" in key else ""
    if domain.endswith(CORE_DOMAIN) and key != CAPACITY_TYPE:
        return (
            f'domains that end with {CORE_DOMAIN} are closed, as in "{key}"; only {CAPACITY_TYPE} may be named',
            "karpenter:N-1",
        )
    if _is_aws(pool) and domain.endswith(AWS_DOMAIN) and key not in aws_well_known(version) | {AWS_NODE_CLASS}:
        return f'"{key}" is none of the labels that Karpenter knows under {AWS_DOMAIN}', "karpenter:N-2"
    if in_closed_kubernetes_domain(key, version):
        return f'"{key}" lies in a domain that a NodePool may name from Karpenter 1.9 on', "karpenter:N-8"
    return None


def _is_aws(pool: NodePool) -> bool:
    return pool.node_class.group in (AWS_DOMAIN, "")


def faults(pool: NodePool, version: Version) -> tuple[Problem, ...]:
    """Why Karpenter skips the pool at run time though the API server took it (`ValidationSucceeded` is False).

    Only what is not refused already is listed.
    """
    problems = Problems()
    well_known = aws_well_known(version) if _is_aws(pool) else CORE_WELL_KNOWN
    for key, where, part in _keys(pool):
        # Other providers add well-known keys of their own, below domains that nobody but them restricts.
        if is_restricted(key, well_known, version) and _refused_key(key, pool, version) is None:
            if not _is_aws(pool) and not key.partition("/")[0].endswith(CORE_DOMAIN):
                continue
            problems.note(
                where,
                f'no NodePool may name "{key}": Karpenter skips the pool as not ready',
                "karpenter:N-9",
                part=part,
            )
    _check_taint_pairs(pool, problems)
    if version >= _KNOWN_VALUES_SINCE:
        _check_known_values(pool, problems)
    return tuple(problem for problem in problems.found if problem.severity == "error")


def _check_taint_pairs(pool: NodePool, problems: Problems) -> None:
    seen: set[tuple[str, str]] = set()
    for taint in (*pool.taints, *pool.startup_taints):
        pair = (taint.key, taint.effect)
        if pair in seen:
            problems.note(
                taint.place,
                f"the taint {taint.key}:{taint.effect} is there twice in `taints` and `startupTaints` together: "
                "Karpenter skips the pool as not ready",
                "karpenter:N-11",
            )
        seen.add(pair)


def _check_known_values(pool: NodePool, problems: Problems) -> None:
    for requirement in pool.requirements:
        known = KNOWN_VALUES.get(requirement.key)
        if known is None or requirement.operator != "In" or not requirement.values:
            continue
        if any(is_placeholder(value) for value in requirement.values):
            continue
        left = known.intersection(requirement.values)
        wanted = requirement.min_values or 1
        if len(left) >= wanted:
            continue
        listed = ", ".join(sorted(known))
        said = "none of these values is known" if not left else f"only {len(left)} of these values is known"
        problems.note(
            under(requirement.place, "values"),
            f"{said} for {requirement.key} ({listed}): Karpenter skips the pool as not ready",
            "karpenter:N-12",
        )


def unknown_values(pool: NodePool) -> tuple[Problem, ...]:
    """Values of a key with known values that Karpenter only logs, since another value beside them is known (`N-12`)."""
    problems = Problems()
    for requirement in pool.requirements:
        known = KNOWN_VALUES.get(requirement.key)
        if known is None or requirement.operator not in ("In", "NotIn"):
            continue
        if requirement.operator == "In" and not known.intersection(requirement.values):
            continue
        for index, value in enumerate(requirement.values):
            if value not in known and not is_placeholder(value):
                problems.note(
                    under(requirement.place, "values").at(index),
                    f'"{value}" is no value of {requirement.key}; it is one of {", ".join(sorted(known))}',
                    "karpenter:N-12",
                    "warning",
                )
    return tuple(problems.found)
