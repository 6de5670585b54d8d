"""Protected pods on nodes that expire but may wait for ever.

## What it checks

Workloads with `karpenter.sh/do-not-disrupt: "true"` that do not end by themselves, where a NodePool that may take
them has no `terminationGracePeriod`. Where no such pool ever expires its nodes (`expireAfter: Never`) it is a hint.

## Why it matters

Expiration starts in spite of the annotation: the node is cordoned, and its drain waits for the pod. Without a grace
period it waits for ever, and you pay for a node that takes no pods. No other linter puts pod and pool side by side.

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
      terminationGracePeriod: 24h
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
  [kubernetes-sigs/karpenter#1789](https://github.com/kubernetes-sigs/karpenter/issues/1789) - karpenter:D-23,
  karpenter:E-2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.consolidation import named
from unpend.disruption.do_not_disrupt import DO_NOT_DISRUPT
from unpend.disruption.drain import is_finite
from unpend.disruption.landing import landing_of
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each protected workload, at its annotation."""
    landing = landing_of(facts)
    for workload in facts.inventory.workloads:
        mark = workload.template.annotations.get(DO_NOT_DISRUPT)
        if mark is None or mark.value != "true" or is_finite(workload):
            continue
        pools = tuple(p for p in landing.pools(workload) if p.termination_grace is None)
        expiring = tuple(p for p in pools if p.expire_after.seconds is not None)
        if pools:
            yield Finding(
                mark.place,
                f"A node of {named(expiring or pools)} that {'expires' if expiring else 'is deleted'} is cordoned and then "
                "waits for these pods without end: the pool sets no terminationGracePeriod.",
                related=tuple(
                    Related(f"{p.name} has no terminationGracePeriod", p.place) for p in (expiring or pools)[:3]
                ),
                severity=None if expiring else "info",
                workload=workload.id,
                repair="set terminationGracePeriod in the pool",
            )


RULE = Rule(
    name="do-not-disrupt-without-node-grace",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
)
