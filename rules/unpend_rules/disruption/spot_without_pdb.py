"""A workload on spot nodes of which all replicas may be drained at once.

## What it checks

Deployments and StatefulSets with at least two replicas that a Service selects or that declare container ports, that
no PodDisruptionBudget covers, and that may land on spot nodes of a NodePool. Where the budgets are not known to be
complete it is a hint. It speaks in place of `pdb-missing`.

## Why it matters

Spot nodes are taken back in groups, since one pool of capacity runs out for all of them. When Karpenter hears the
notice it drains each node as fast as the budgets allow: without one, all replicas go in the same minute.

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
metadata: {name: spot}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
          ports: [{containerPort: 80}]
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
metadata: {name: spot}
spec:
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
          ports: [{containerPort: 80}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: web}}
```

## Options

None.

## References

- [EKS Best Practices: Karpenter](https://docs.aws.amazon.com/eks/latest/best-practices/karpenter.html) -
  karpenter:E-3, karpenter §9.4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.consolidation import named
from unpend.disruption.landing import landing_of
from unpend.disruption.serving import uncovered
from unpend.model.karpenter_labels import CAPACITY_TYPE
from unpend.placement.karpenter.grid import admitted
from unpend.placement.karpenter.template import template_requirements
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its name."""
    spot = {
        p.name
        for p in facts.inventory.node_pools
        if admitted(template_requirements(p).get(CAPACITY_TYPE)).admits("spot")
    }
    landing = landing_of(facts)
    for workload, replicas in uncovered(facts) if spot else ():
        pools = tuple(p for p in landing.pools(workload) if p.name in spot)
        if pools:
            yield Finding(
                workload.place.at("metadata"),
                f"No PodDisruptionBudget covers {workload.name}, and {named(pools)} may put it on spot nodes: when capacity "
                f"is taken back, all {replicas} replicas may go at once.",
                subject=("pdb-missing", workload.id),
                workload=workload.id,
                repair="add a budget with maxUnavailable: 1",
            )


RULE = Rule(
    name="spot-without-pdb",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    enabled=False,
    profiles=("reliability",),
    rank=10,
    competes=True,
    assumes_closed=("pdbs",),
)
