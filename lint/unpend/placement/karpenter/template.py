"""The requirements that every node of a NodePool has to meet (`karpenter.md` §2.6), before any pod is looked at."""

from __future__ import annotations

from unpend.model.karpenter import NodePool
from unpend.model.karpenter_labels import ARCH, CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, OS, ZONE
from unpend.placement.karpenter.requirement import one_of, requirement
from unpend.placement.karpenter.requirements import Requirements

_ON_EVERY_TYPE = (INSTANCE_TYPE, ARCH, OS, ZONE, CAPACITY_TYPE)
"""Keys that every instance type of every provider carries."""

_ON_EVERY_AWS_TYPE = tuple(
    f"karpenter.k8s.aws/instance-{name}" for name in ("cpu", "memory", "hypervisor", "encryption-in-transit-supported")
)


def node_class_key(group: str, kind: str) -> str:
    """The label key under which a node carries the name of its node class."""
    return f"{group}/{kind.lower()}"


def template_requirements(pool: NodePool) -> Requirements:
    """Requirements of the pool, labels of its nodes, its own name and that of its node class, all together."""
    ref = pool.node_class
    written = [requirement(r.key, r.operator, r.values, r.min_values) for r in pool.requirements]
    labels = [one_of(label.key, (label.value,)) for label in pool.template_labels.values()]
    own = [one_of(NODE_POOL, (pool.name,)), one_of(node_class_key(ref.group, ref.kind), (ref.name,))]
    return Requirements.of([*written, *labels, *own])


def impossible_keys(requirements: Requirements, aws: bool) -> tuple[str, ...]:
    """Keys that every instance type carries and that must be absent here: the pool can make no node at all.

    Needs no catalogue (`karpenter.md` §12, step 3). A key is here because its entries contradict each other, or because
    it was asked to be absent.
    """
    keys = (*_ON_EVERY_TYPE, *_ON_EVERY_AWS_TYPE) if aws else _ON_EVERY_TYPE
    return tuple(key for key in keys if key in requirements and requirements.get(key).operator == "DoesNotExist")
