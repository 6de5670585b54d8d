"""A terminationGracePeriod that ends pods marked do-not-disrupt.

## What it checks

NodePools with `terminationGracePeriod` that may take workloads with `karpenter.sh/do-not-disrupt`.

## Why it matters

The grace period lets drift and expiration start on nodes with protected pods, and ends the pods by force when it is
over. Consolidation still stays away. That is often what is wanted, and often not known to whoever wrote the
annotation.

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
      terminationGracePeriod: 1h
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations:
        karpenter.sh/do-not-disrupt: "true"
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
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
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations:
        karpenter.sh/do-not-disrupt: "true"
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Karpenter: Disruption](https://karpenter.sh/docs/concepts/disruption/) -
  [kubernetes-sigs/karpenter#1961](https://github.com/kubernetes-sigs/karpenter/issues/1961) - karpenter §9.2,
  karpenter §9.8
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.do_not_disrupt import DO_NOT_DISRUPT, protection
from unpend.disruption.landing import landing_of
from unpend.model.pod import Label
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool, at its grace period."""
    landing = landing_of(facts)
    held: dict[str, list[Label]] = {}
    for workload in facts.inventory.workloads:
        mark = workload.template.annotations.get(DO_NOT_DISRUPT)
        if mark is not None and protection(mark.value, facts.settings.karpenter.version).kind != "nothing":
            for pool in landing.pools(workload):
                held.setdefault(pool.name, []).append(mark)
    for pool in facts.inventory.node_pools:
        grace, marks = pool.termination_grace, held.get(pool.name)
        if grace is not None and grace.place is not None and marks:
            yield Finding(
                grace.place,
                f"Pods marked do-not-disrupt are ended by force {grace.text} after a node of {pool.name} drifts or expires; "
                "only consolidation leaves them alone.",
                related=tuple(Related("a protected pod", mark.place) for mark in marks[:3]),
                repair="make it as long as the longest run of such a pod",
            )


RULE = Rule(
    name="node-grace-ends-protected-pods",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
)
