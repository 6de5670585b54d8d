"""A pod wants more time to stop than Cluster Autoscaler gives.

## What it checks

`terminationGracePeriodSeconds` of workloads that may land on nodes of Cluster Autoscaler, against
`max-graceful-termination-sec`, which is 600 unless the config says otherwise. DaemonSets are left out.

## Why it matters

When it removes a node, Cluster Autoscaler waits that long and no longer: the rest of the grace period is cut off, and
work that was to be finished is lost. No other linter knows the limit.

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
      terminationGracePeriodSeconds: 600
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Cluster Autoscaler FAQ](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md) -
  autoscaler §4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.landing import autoscaled, landing_of
from unpend.disruption.scale_down import scale_down_flags
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its grace period."""
    if not autoscaled(facts):
        return
    landing, longest = landing_of(facts), scale_down_flags(facts).longest_grace
    for workload in facts.inventory.workloads:
        grace = workload.template.spec.grace_seconds
        if grace is None or grace <= longest or workload.kind == "DaemonSet" or not landing.on_groups(workload):
            continue
        yield Finding(
            workload.template.spec.place.at("terminationGracePeriodSeconds"),
            f"The pod wants {grace} s to stop, Cluster Autoscaler gives it {longest} s when it removes a node.",
            workload=workload.id,
            repair=f"stop within {longest} s, or raise --max-graceful-termination-sec",
        )


RULE = Rule(
    name="ca-grace-over-ten-minutes",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodegroups"),
)
