"""A PodDisruptionBudget under which crashing pods hold their nodes.

## What it checks

Budgets without `unhealthyPodEvictionPolicy`. Quorum stores may want the default on purpose. kube-linter asks the same
(`pdb-unhealthy-pod-eviction-policy`).

## Why it matters

By default a pod that is running but not ready counts against the budget: a crash-looping workload then holds every
node that it stands on, and so does one whose further replicas are Pending. `AlwaysAllow` lets unready pods go.

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
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: web}}
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
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector: {matchLabels: {app: web}}
```

## Options

None.

## References

- [Unhealthy Pod Eviction
  Policy](https://kubernetes.io/docs/tasks/run-application/configure-pdb/#unhealthy-pod-eviction-policy) -
  karpenter:D-34, scheduler:S-1644
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Edit, Facts, Finding, Fix, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each budget."""
    for budget in facts.inventory.disruption_budgets:
        if not budget.unhealthy_policy:
            where = budget.place.at("spec", "unhealthyPodEvictionPolicy")
            yield Finding(
                where,
                f"{budget.name} also protects pods that are not ready: a crash-looping pod holds its node.",
                fixes=(Fix("Let unready pods go", "unsafe", (Edit("add", where, "AlwaysAllow"),)),),
                repair="set unhealthyPodEvictionPolicy: AlwaysAllow",
            )


RULE = Rule(
    name="pdb-unhealthy-policy",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("pdbs",),
    enabled=False,
)
