"""Placeholder pods that keep no room for the pods they are meant for.

## What it checks

Workloads whose only container is the pause image: their priority has to be below 0, so that ordinary pods take their place, and not
below the cutoff of Cluster Autoscaler where it scales the nodes, so that a node is added for them. They also need a request.

## Why it matters

With priority 0 or above they are never preempted by ordinary pods and waste the room for ever. Below the cutoff (-10) no node is
ever added for them. Without a request they keep nothing free.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
managedNodeGroups:
  - name: workers
    minSize: 0
    maxSize: 5
    iam: {withAddonPolicies: {autoScaler: true}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: placeholder}
value: 0
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: headroom, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: headroom}}
  template:
    metadata: {labels: {app: headroom}}
    spec:
      priorityClassName: placeholder
      containers:
        - name: pause
          image: registry.k8s.io/pause:3.10
          resources: {requests: {cpu: "1", memory: 1Gi}}
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
managedNodeGroups:
  - name: workers
    minSize: 0
    maxSize: 5
    iam: {withAddonPolicies: {autoScaler: true}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: placeholder}
value: -5
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: headroom, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: headroom}}
  template:
    metadata: {labels: {app: headroom}}
    spec:
      priorityClassName: placeholder
      containers:
        - name: pause
          image: registry.k8s.io/pause:3.10
          resources: {requests: {cpu: "1", memory: 1Gi}}
```

## Options

None.

## References

- [Cluster Autoscaler FAQ: overprovisioning](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md)
- autoscaler:C-501, autoscaler:C-104
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.placement.facts import node_groups_of
from unpend.placement.placeholders import is_placeholder
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each placeholder with the wrong priority, or without a request."""
    placeholders = [w for w in facts.inventory.workloads if _may_be_one(w) and is_placeholder(facts.effective(w))]
    if not placeholders:
        return

    groups = node_groups_of(facts)
    scaled = any(group.scaler == "cluster-autoscaler" for group in groups.groups)
    cutoff = groups.flags.cutoff
    for workload in placeholders:
        pod = facts.effective(workload)
        spec = workload.template.spec
        if pod.unknown:
            continue
        priority = pod.spec.priority or 0
        found = facts.inventory.priority_classes.get(spec.priority_class or "")
        place = spec.place.at("priorityClassName") if spec.priority_class else spec.place
        related = () if found is None else (Related("where the priority is from", found.place.at("value")),)
        if priority >= 0:
            yield Finding(
                place,
                f"These placeholder pods have priority {priority}: ordinary pods (0) never take their place.",
                related=related,
                workload=workload.id,
                repair=f"use a PriorityClass with a value from {cutoff} to -1",
            )
        elif scaled and priority < cutoff:
            yield Finding(
                place,
                f"Cluster Autoscaler adds no node for placeholder pods of priority {priority}, below its cutoff {cutoff}.",
                related=related,
                workload=workload.id,
                repair=f"use a PriorityClass with a value from {cutoff} to -1",
            )
        if not any(amount > 0 for amount in pod.requests.values()):
            yield Finding(
                spec.place.at("containers", 0),
                "These placeholder pods request nothing, so they keep no room.",
                workload=workload.id,
                salient="requests",
                repair="request as much as the pods that they stand for",
            )


def _may_be_one(workload: Workload) -> bool:
    return workload.kind != "DaemonSet" and (workload.kind != "Pod" or workload.namespace != "kube-system")


RULE = Rule(
    name="placeholder-pods-ineffective",
    topic="nodegroups",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
)
