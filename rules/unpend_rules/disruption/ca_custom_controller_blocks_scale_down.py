"""Pods of a custom controller, for which Cluster Autoscaler keeps the node.

## What it checks

Workloads of kinds that are known to own their pods themselves (`kinds`), without `safe-to-evict: "true"`, where
Cluster Autoscaler resizes the nodes.

## Why it matters

Cluster Autoscaler moves pods of ReplicaSets, Jobs, StatefulSets and ReplicationControllers. It does not know whether
any other controller would start the pod again, and keeps the node, unless it runs with
`--skip-nodes-with-custom-controller-pods=false`.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-east-1}
managedNodeGroups:
  - {name: workers, instanceType: m5.large, minSize: 1, maxSize: 5}
---
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
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

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-east-1}
managedNodeGroups:
  - {name: workers, instanceType: m5.large, minSize: 1, maxSize: 5}
---
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict: "true"}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

- `kinds` (list): kinds whose pods they own themselves.

## References

- [Cluster Autoscaler FAQ](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md) -
  autoscaler:C-415, autoscaler §4.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.landing import autoscaled, landing_of
from unpend.disruption.scale_down import is_settled, scale_down_flags
from unpend.rule import Facts, Finding, Option, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload."""
    if not autoscaled(facts) or not scale_down_flags(facts).custom_controllers:
        return
    landing = landing_of(facts)
    for workload in facts.inventory.workloads:
        if workload.kind not in options["kinds"] or is_settled(workload) or not landing.on_groups(workload):
            continue
        yield Finding(
            workload.place,
            f"A {workload.kind} owns its pods itself, and Cluster Autoscaler removes no node with such a pod on it.",
            workload=workload.id,
            repair='annotate the pods with safe-to-evict: "true"',
        )


RULE = Rule(
    name="ca-custom-controller-blocks-scale-down",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodegroups"),
    options=(
        Option(
            "kinds", ("CloneSet", "GameServer", "SparkApplication", "StrimziPodSet"), "kinds that own pods themselves"
        ),
    ),
)
