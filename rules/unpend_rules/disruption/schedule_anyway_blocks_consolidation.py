"""A ScheduleAnyway spread that Karpenter holds like a requirement when it removes nodes.

## What it checks

Spread constraints with `whenUnsatisfiable: ScheduleAnyway` over the pods of the workload itself, where a NodePool
that may take them is consolidated. A spread over hostnames is a warning, one over zones a hint. Silent with
`preferencePolicy: Ignore`, for pools without consolidation and for one replica.

kube-score (`pod-topology-spread-constraints`) and Polaris (`topologySpreadConstraint`) ask for any constraint; none
tells what a soft one does to consolidation.

## Why it matters

Karpenter honours preferences first and gives them up only when a pod cannot be placed at all. A hundred small pods
with a soft spread over hostnames end on up to a hundred nodes, and consolidation cannot merge them.

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
  replicas: 100
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: {matchLabels: {app: web}}
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
  replicas: 100
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 10
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

- `exempt` (list of names): workloads that are left out.

## References

- [Karpenter: Disruption](https://karpenter.sh/docs/concepts/disruption/) -
  [kubernetes-sigs/karpenter#666](https://github.com/kubernetes-sigs/karpenter/issues/666) - karpenter §9.6,
  karpenter:U-8
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.consolidation import named, wishes_held
from unpend.rule import Facts, Finding, Option, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each soft spread constraint."""
    for held in wishes_held(facts, ("spread",), options["exempt"]):
        yield Finding(
            held.wish.place,
            f"ScheduleAnyway over {held.wish.key} is kept like a requirement while Karpenter adds and removes nodes of "
            f"{named(held.pools)}: up to {held.replicas} pods stay apart, and their nodes are not merged.",
            related=tuple(Related(f"{pool.name} is consolidated", pool.place) for pool in held.pools[:3]),
            severity=None if held.wish.per_node else "info",
            workload=held.workload.id,
            salient=held.wish.key,
            repair="use DoNotSchedule with the skew you can afford, or preferencePolicy: Ignore",
        )


RULE = Rule(
    name="schedule-anyway-blocks-consolidation",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    options=(Option("exempt", ("coredns", "kube-dns"), "names of workloads that are left out"),),
)
