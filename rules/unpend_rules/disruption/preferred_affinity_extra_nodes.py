"""A preferred affinity for which Karpenter opens nodes that kube-scheduler would not need.

## What it checks

Preferred node affinity and preferred pod affinity of workloads that may land in a NodePool that is consolidated.
Silent with `preferencePolicy: Ignore`.

## Why it matters

kube-scheduler scores a preference and takes a node that is there. Karpenter, asked for room, treats it as required
first: it launches a node that meets it, although a pod would have fitted on another one, and gives preferences up in
a fixed order only when nothing else works. No other linter looks at this.

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
    metadata: {labels: {app: web}}
    spec:
      affinity:
        nodeAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 10
              preference:
                matchExpressions: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
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
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {karpenter.sh/capacity-type: spot}
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Karpenter: Scheduling](https://karpenter.sh/docs/concepts/scheduling/) -
  [kubernetes-sigs/karpenter#1300](https://github.com/kubernetes-sigs/karpenter/issues/1300) - karpenter §3.4,
  karpenter §3.5, karpenter §9.6
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.consolidation import named, wishes_held
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each preferred term of node or pod affinity."""
    for held in wishes_held(facts, ("affinity", "node-affinity")):
        yield Finding(
            held.wish.place,
            f"Karpenter first treats this preference as required: it opens a node in {named(held.pools)} that meets it "
            "before it uses room on one that does not.",
            workload=held.workload.id,
            repair="require what the pod needs and drop the rest, or set preferencePolicy: Ignore",
        )


RULE = Rule(
    name="preferred-affinity-extra-nodes",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    enabled=False,
    profiles=("cost",),
)
