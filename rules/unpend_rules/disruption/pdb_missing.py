"""A workload that serves, with several replicas and no PodDisruptionBudget.

## What it checks

Deployments and StatefulSets with at least two replicas (at the minimum of their autoscaler) that a Service selects or
that declare container ports, and that no budget covers. Jobs and DaemonSets are left out. Needs all budgets: else it
is a hint.

kube-score (`deployment-has-poddisruptionbudget`) and Polaris (`missingPodDisruptionBudget`) ask the same of every
workload.

## Why it matters

Consolidation and upgrades drain several nodes at once. Without a budget all replicas may be evicted together, and two
replicas are as good as one.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
```

## Instead

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: web}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
```

## Options

None.

## References

- [EKS Best Practices: Reliability](https://docs.aws.amazon.com/eks/latest/best-practices/application.html) -
  karpenter §9.4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.serving import uncovered
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its name."""
    for workload, replicas in uncovered(facts):
        yield Finding(
            workload.place.at("metadata"),
            f"No PodDisruptionBudget covers {workload.name}: a drain may take all {replicas} replicas at once.",
            subject=("pdb-missing", workload.id),
            workload=workload.id,
            repair="add a budget with maxUnavailable: 1",
        )


RULE = Rule(
    name="pdb-missing",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    enabled=False,
    profiles=("reliability",),
    rank=20,
    competes=True,
    assumes_closed=("pdbs",),
)
