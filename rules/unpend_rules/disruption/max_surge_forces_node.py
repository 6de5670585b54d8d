"""Each update of a workload launches a node that is taken away minutes later.

## What it checks

Deployments whose update adds pods before old ones go (`maxSurge`, 25% unless written), and whose pod requests at least
half of the cpu or memory of the smallest node of a NodePool that it may land in and that is consolidated. Nodes that
are packed tightly have no such room left, so a new one is launched for the surge.

## Why it matters

The node costs its start for a few minutes of use, the update waits for it, and consolidation moves other pods about to
be rid of it again.

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
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m7i.large, m7i.xlarge]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 1500m, memory: 2Gi}, limits: {memory: 2Gi}}
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
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m7i.large, m7i.xlarge]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 4
  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 1500m, memory: 2Gi}, limits: {memory: 2Gi}}
```

## Options

None.

## References

- [Karpenter: disruption](https://karpenter.sh/docs/concepts/disruption/) - scheduler:S-1601
- [Deployments: max surge](https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#max-surge)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.quantity import render
from unpend.disruption.consolidation import consolidating
from unpend.disruption.landing import landing_of
from unpend.disruption.pool_shapes import pool_types
from unpend.placement.needed import autoscalers_by_target, replicas_of
from unpend.placement.replicas.update import surge_of
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each Deployment, at what it says of updates."""
    landing, scaled = landing_of(facts), autoscalers_by_target(facts.inventory)
    for workload in facts.inventory.workloads:
        autoscaler = scaled.get((workload.kind, workload.namespace, workload.name))
        surge = surge_of(workload, replicas_of(workload, autoscaler).needed)
        if surge is None or surge.extra == 0:
            continue
        requests = facts.effective(workload).requests
        for pool in consolidating(facts, landing.pools(workload)):
            types = pool_types(facts, pool)
            if types is None or any(requests.get(name, 0) > offered for name, offered in types.allocatable.items()):
                continue
            large = [n for n in ("cpu", "memory") if 0 < types.allocatable.get(n, 0) <= 2 * requests.get(n, 0)]
            if not large:
                continue
            name = large[0]
            strategy = workload.place.at("spec", "strategy")
            yield Finding(
                strategy if strategy.value is not None else workload.place,
                f"An update adds {surge.extra} {'pod' if surge.extra == 1 else 'pods'} of {render(requests[name], name)} "
                f"{name} each, and a {types.smallest} of {pool.name} has {render(types.allocatable[name], name)}: a node "
                "is launched for the surge, and consolidated when the update is over.",
                related=(Related("the pool", pool.place),),
                certainty="catalog",
                workload=workload.id,
                repair="set maxSurge to 0 and maxUnavailable to 1, or keep room for one pod",
            )
            break


RULE = Rule(
    name="max-surge-forces-node",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    enabled=False,
    profiles=("cost",),
)
