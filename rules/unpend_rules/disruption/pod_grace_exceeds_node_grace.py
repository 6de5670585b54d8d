"""A pod wants more time to stop than its node gives.

## What it checks

`terminationGracePeriodSeconds` (30 when not written) of each workload against the `terminationGracePeriod` of the
NodePools that may take it.

## Why it matters

Karpenter deletes such a pod at the very moment the drain begins, budgets and do-not-disrupt or not, so that its grace
still fits before the deadline; if it does not fit, the rest is cut off. No other linter compares the two.

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
      terminationGracePeriod: 5m
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
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 3600
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
      terminationGracePeriod: 2h
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
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 3600
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Karpenter: NodePools, terminationGracePeriod](https://karpenter.sh/docs/concepts/nodepools/) - karpenter §9.8
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.drain import grace_place, grace_seconds
from unpend.disruption.landing import landing_of
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its grace period."""
    shortest = min(
        (p.termination_grace.seconds or 0 for p in facts.inventory.node_pools if p.termination_grace), default=None
    )
    if shortest is None:
        return
    landing = landing_of(facts)
    for workload in facts.inventory.workloads:
        spec = workload.template.spec
        grace = grace_seconds(spec)
        if grace <= shortest:
            continue
        for pool in landing.pools(workload):
            given = pool.termination_grace
            if given is not None and given.place is not None and grace > (given.seconds or 0):
                yield Finding(
                    grace_place(spec),
                    f"The pod wants {grace} s to stop, a node of {pool.name} gives {given.text}: when the node drains, the "
                    "pod is deleted at once and its time is cut short.",
                    related=(Related(f"the grace period of {pool.name}", given.place),),
                    workload=workload.id,
                    salient=pool.name,
                    repair=f"raise terminationGracePeriod of {pool.name} above {grace} s, or lower that of the pod",
                )


RULE = Rule(
    name="pod-grace-exceeds-node-grace",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
)
