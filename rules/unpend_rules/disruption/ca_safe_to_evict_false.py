"""A long-running workload that Cluster Autoscaler never moves.

## What it checks

`cluster-autoscaler.kubernetes.io/safe-to-evict: "false"` on workloads that do not end by themselves. As a hint: any
value of the annotation on the object instead of the pod template, where it does nothing, and "false" where all nodes
are Karpenter's, which does not read it.

## Why it matters

The pod keeps its node for as long as it lives, which is for ever. For Jobs that is what the annotation is for.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-east-1}
managedNodeGroups:
  - {name: workers, instanceType: m5.large, minSize: 1, maxSize: 5}
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
        cluster-autoscaler.kubernetes.io/safe-to-evict: "false"
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-east-1}
managedNodeGroups:
  - {name: workers, instanceType: m5.large, minSize: 1, maxSize: 5}
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
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Cluster Autoscaler FAQ](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md) -
  autoscaler:C-411, autoscaler:C-414, karpenter:D-24
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.do_not_disrupt import DO_NOT_DISRUPT, SAFE_TO_EVICT
from unpend.disruption.drain import is_finite
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each annotation."""
    only_karpenter = _only_karpenter(facts)
    for workload in facts.inventory.workloads:
        outer = workload.annotations.get(SAFE_TO_EVICT)
        mark = workload.template.annotations.get(SAFE_TO_EVICT)
        if outer is not None and workload.template_path and mark is None:
            yield Finding(
                outer.place,
                f"On the {workload.kind} itself the annotation does nothing: Cluster Autoscaler reads it on pods.",
                severity="info",
                workload=workload.id,
                repair=f"put it under {workload.template_path}.metadata.annotations",
            )
        if mark is None or mark.value != "false" or is_finite(workload):
            continue
        if only_karpenter:
            yield Finding(
                mark.place,
                "Karpenter does not read this annotation: the pod is evicted like any other.",
                severity="info",
                workload=workload.id,
                repair=f"use {DO_NOT_DISRUPT}, if it has to be protected",
            )
        else:
            yield Finding(
                mark.place,
                "Cluster Autoscaler never removes a node with one of these pods on it, and they never end by themselves.",
                workload=workload.id,
                repair="drop the annotation and protect the pods with a PodDisruptionBudget",
            )


def _only_karpenter(facts: Facts) -> bool:
    if not facts.inventory.node_pools:
        return False
    from unpend.disruption.landing import autoscaled

    return not autoscaled(facts)


RULE = Rule(
    name="ca-safe-to-evict-false",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
)
