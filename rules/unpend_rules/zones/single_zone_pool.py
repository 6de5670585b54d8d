"""A pool of nodes in one zone, and no other pool like it.

## What it checks

NodePools whose requirements leave one zone, and node groups that list one, where no other pool with the same taints and
labels covers another zone. One node group a zone is what Cluster Autoscaler wants with zonal disks; then the others are
there. What a node class leaves is the matter of `nodeclass-single-zone-subnets`.

## Why it matters

Pods that need this pool stay Pending as long as the zone is lost, or has no capacity of these types left.

## Example

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}
```

## Instead

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
```

## Options

None.

## References

- [EKS best practices: Cluster Autoscaler](https://docs.aws.amazon.com/eks/latest/best-practices/cas.html)
- [EKS best practices: Karpenter](https://docs.aws.amazon.com/eks/latest/best-practices/karpenter.html)
- karpenter:Z-5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from unpend.model.inventory import Inventory
from unpend.model.karpenter_labels import NODE_POOL, ZONE
from unpend.rule import Facts, Finding, Rule
from unpend.source.place import Place


class Pool(NamedTuple):
    """A pool with its zones (None: not listed) and what else tells its nodes from those of other pools."""

    name: str
    zones: frozenset[str] | None
    traits: tuple[object, ...]
    place: Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool, at its zone."""
    pools = list(_pools(facts.inventory))
    for pool in pools:
        if pool.zones is None or len(pool.zones) != 1:
            continue
        if any(other.traits == pool.traits and other.zones != pool.zones for other in pools):
            continue
        (zone,) = pool.zones
        yield Finding(
            pool.place,
            f"{pool.name} makes nodes in {zone} only, and no other pool has such nodes elsewhere.",
            repair="allow further zones, or add a pool for each",
        )


def _pools(inventory: Inventory) -> Iterator[Pool]:
    for pool in inventory.node_pools:
        listed = next((r for r in pool.requirements if r.key == ZONE and r.operator == "In"), None)
        taints = frozenset((t.key, t.value, t.effect) for t in pool.taints)
        labels = frozenset((k, v.value) for k, v in pool.template_labels.items() if k not in (ZONE, NODE_POOL))
        custom = frozenset(
            (r.key, r.operator, tuple(sorted(r.values)))
            for r in pool.requirements
            if "kubernetes.io/" not in r.key and "karpenter" not in r.key
        )
        zones = frozenset(listed.values) if listed is not None else None
        place = listed.place if listed is not None else pool.place
        yield Pool(f"NodePool/{pool.name}", zones, ("NodePool", taints, labels, custom), place)
    for group in inventory.node_groups:
        known = group.all_zones and group.zones
        taints = frozenset((t.key, t.value, t.effect) for t in group.taints)
        labels = frozenset((k, v.value) for k, v in group.labels.items() if k != ZONE)
        zones = frozenset(z.name for z in group.zones) if known else None
        yield Pool(group.id, zones, ("NodeGroup", taints, labels), group.zones_place or group.place)


RULE = Rule(
    name="single-zone-pool",
    topic="zones",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("pools",),
    enabled=False,
    profiles=("reliability",),
)
