"""A kube-system workload without a PodDisruptionBudget delays scale-down.

## What it checks

Workloads of kube-system that may land on nodes of Cluster Autoscaler and that no PodDisruptionBudget covers.
DaemonSets, workloads that end by themselves and pods with `safe-to-evict: "true"` are left out, and everything with
`clusterAutoscaler.skipNodesWithSystemPods: false`. Where the budgets are not known to be complete it is a hint.

## Why it matters

Cluster Autoscaler does not move a kube-system pod without a budget until an hour after it started, and a pod that is
moved starts anew. No other linter ties the budget to the namespace.

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
metadata:
  name: metrics
  namespace: kube-system
spec:
  replicas: 2
  selector: {matchLabels: {app: metrics}}
  template:
    metadata: {labels: {app: metrics}}
    spec:
      containers:
        - name: app
          image: registry.example.com/metrics:1
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
metadata: {name: metrics, namespace: kube-system}
spec:
  replicas: 2
  selector: {matchLabels: {app: metrics}}
  template:
    metadata: {labels: {app: metrics}}
    spec:
      containers:
        - name: app
          image: registry.example.com/metrics:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: kube-system}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: metrics}}
```

## Options

None.

## References

- [Cluster Autoscaler FAQ](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md) -
  [kubernetes/autoscaler#64](https://github.com/kubernetes/autoscaler/issues/64) - autoscaler §4.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.landing import autoscaled, landing_of
from unpend.disruption.pdb import coverage_of
from unpend.disruption.scale_down import is_settled, is_system, scale_down_flags
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its namespace."""
    if not autoscaled(facts) or not scale_down_flags(facts).system_pods:
        return
    landing, budgets = landing_of(facts), coverage_of(facts).of_workload
    for workload in facts.inventory.workloads:
        if is_system(workload, budgets) and not is_settled(workload) and landing.on_groups(workload):
            yield Finding(
                workload.place.at("metadata", "namespace"),
                f"No PodDisruptionBudget covers {workload.name}: for an hour after each start Cluster Autoscaler does not "
                "move a kube-system pod, and its node stays.",
                workload=workload.id,
                repair="add a budget with maxUnavailable: 1",
            )


RULE = Rule(
    name="ca-kube-system-without-pdb",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodegroups"),
    assumes_closed=("pdbs",),
)
