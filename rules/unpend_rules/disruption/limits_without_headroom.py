"""A NodePool so near its limit that no node can be replaced.

## What it checks

`limits` of NodePools that are consolidated against the capacity of the Nodes given that belong to the pool and the
smallest instance type that it could launch. Needs Node objects, such as an export of the cluster.

## Why it matters

A replacement is launched before the old node goes, so both have to fit under the limit. Where they do not,
consolidation and drift can only delete: nodes keep their size and their old image. No other linter reckons with it.

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
  limits:
    cpu: "8"
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
---
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {karpenter.sh/nodepool: general, node.kubernetes.io/instance-type: m7i.xlarge, kubernetes.io/hostname: n1}
status:
  capacity: {cpu: "4", memory: 16Gi, pods: "58"}
  allocatable: {cpu: "4", memory: 15Gi, pods: "58"}
---
apiVersion: v1
kind: Node
metadata:
  name: n2
  labels: {karpenter.sh/nodepool: general, node.kubernetes.io/instance-type: m7i.xlarge, kubernetes.io/hostname: n2}
status:
  capacity: {cpu: "4", memory: 16Gi, pods: "58"}
  allocatable: {cpu: "4", memory: 15Gi, pods: "58"}
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
  limits: {cpu: "16"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
---
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {karpenter.sh/nodepool: general, node.kubernetes.io/instance-type: m7i.xlarge, kubernetes.io/hostname: n1}
status:
  capacity: {cpu: "4", memory: 16Gi, pods: "58"}
  allocatable: {cpu: "4", memory: 15Gi, pods: "58"}
---
apiVersion: v1
kind: Node
metadata:
  name: n2
  labels: {karpenter.sh/nodepool: general, node.kubernetes.io/instance-type: m7i.xlarge, kubernetes.io/hostname: n2}
status:
  capacity: {cpu: "4", memory: 16Gi, pods: "58"}
  allocatable: {cpu: "4", memory: 15Gi, pods: "58"}
```

## Options

None.

## References

- [Karpenter: NodePools, limits](https://karpenter.sh/docs/concepts/nodepools/#speclimits) - karpenter:C-8,
  karpenter:L-1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.quantity import render
from unpend.disruption.consolidation import why_not_consolidated
from unpend.disruption.pool_shapes import pool_types
from unpend.model.karpenter_labels import NODE_POOL
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each limit that leaves no room for a node."""
    for pool in facts.inventory.node_pools:
        nodes = [n for n in facts.inventory.nodes if NODE_POOL in n.labels and n.labels[NODE_POOL].value == pool.name]
        if not nodes or not pool.limits or pool.is_static or why_not_consolidated(pool) is not None:
            continue
        types = pool_types(facts, pool)
        for name, limit in pool.limits.items():
            if name == "nodes":
                used, least = 1000 * len(nodes), 1000
            elif types is not None and types.capacity.get(name):
                used = sum(n.capacity[name].milli for n in nodes if name in n.capacity)
                least = types.capacity[name][0]
            else:
                continue
            if used <= limit.milli < used + least:
                yield Finding(
                    limit.place,
                    f"{render(used, name)} of {limit.text} are used, and the smallest node has {render(least, name)}: no node of "
                    f"{pool.name} can be replaced, since the new one has to start before the old one goes.",
                    certainty="catalog",
                    salient=name,
                    repair="leave room for one node more",
                )


RULE = Rule(
    name="limits-without-headroom",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("nodepools", "nodes"),
)
