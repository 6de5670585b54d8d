"""A Pod without a controller keeps its node under Cluster Autoscaler.

## What it checks

Pod objects that are not owned, do not end by themselves and may land on nodes of Cluster Autoscaler, without
`safe-to-evict: "true"`. Test hooks and pods that an API server already took are left out.

kube-linter and hardeneks (`avoid_running_singleton_pods`) report bare pods everywhere; what they cost depends on the
autoscaler.

## Why it matters

Nobody would start the pod again, so Cluster Autoscaler does not remove its node.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-east-1}
managedNodeGroups:
  - {name: workers, instanceType: m5.large, minSize: 1, maxSize: 5}
---
apiVersion: v1
kind: Pod
metadata: {name: debug, namespace: shop, labels: {app: debug}}
spec:
  containers:
    - name: app
      image: registry.example.com/debug:1
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
metadata: {name: debug, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: debug}}
  template:
    metadata: {labels: {app: debug}}
    spec:
      containers:
        - name: app
          image: registry.example.com/debug:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Cluster Autoscaler FAQ](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md) -
  autoscaler §4.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.landing import autoscaled, landing_of
from unpend.disruption.scale_down import is_owned, is_settled
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each bare pod, at its metadata."""
    if not autoscaled(facts):
        return
    landing = landing_of(facts)
    for workload in facts.inventory.workloads:
        if workload.kind != "Pod" or workload.api_version != "v1" or workload.admitted or is_settled(workload):
            continue
        if not is_owned(workload) and landing.on_groups(workload):
            yield Finding(
                workload.place.at("metadata"),
                f"No controller would start {workload.name} again, so Cluster Autoscaler never removes the node that it is on.",
                subject=("bare-pod", f"{id(workload.object):x}"),
                workload=workload.id,
                repair='make it a Deployment, or annotate the pod with safe-to-evict: "true"',
            )


RULE = Rule(
    name="ca-bare-pod",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodegroups"),
    rank=10,
    competes=True,
)
