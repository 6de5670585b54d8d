"""A pod whose eviction costs nothing, so that its node counts as empty.

## What it checks

The eviction cost of each pod from its deletion cost and its priority, as Karpenter reckons it from 1.14 on, where the
pod may land in a NodePool. Pods that hold room for others on purpose, with a negative priority, are what it is for.

## Why it matters

A node with nothing but such pods is removed as empty, under `WhenEmpty` too: at once, without a place for them
elsewhere. Whoever set a very low deletion cost, to be first in a scale-in, rarely meant that.

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
        controller.kubernetes.io/pod-deletion-cost: "-2147483647"
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
        controller.kubernetes.io/pod-deletion-cost: "-100"
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Pod deletion cost](https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/#pod-deletion-cost) -
  karpenter:C-3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.eviction_cost import DELETION_COST, eviction_cost
from unpend.disruption.landing import landing_of
from unpend.model.karpenter_labels import release
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at what makes it cheap."""
    if release(facts.settings.karpenter.version) < (1, 14):
        return
    landing = landing_of(facts)
    for workload in facts.inventory.workloads:
        mark = workload.template.annotations.get(DELETION_COST)
        spec = workload.template.spec
        if workload.kind == "DaemonSet" or (mark is None and not spec.priority_class and spec.priority is None):
            continue
        priority = facts.effective(workload).spec.priority
        if eviction_cost(mark.value if mark else None, priority) > 0 or not landing.pools(workload):
            continue
        place = mark.place if mark else spec.place.at("priorityClassName" if spec.priority_class else "priority")
        yield Finding(
            place,
            "Karpenter reckons that evicting this pod costs nothing: a node with only such pods counts as empty and is "
            "removed.",
            workload=workload.id,
            repair="raise the deletion cost above -134217728 and the priority above -33554432, if the pod is to be moved",
        )


RULE = Rule(
    name="pod-counts-as-empty",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    enabled=False,
    profiles=("reliability",),
)
