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

from unpend.disruption.pdb import coverage_of, floor_of
from unpend.model.inventory import Workload
from unpend.placement.needed import autoscalers_by_target
from unpend.rule import Facts, Finding, Rule

KINDS = ("Deployment", "StatefulSet", "Rollout")


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its name."""
    covered = coverage_of(facts).of_workload
    autoscalers = autoscalers_by_target(facts.inventory)
    services = _selectors(facts)
    for workload in facts.inventory.workloads:
        if workload.kind not in KINDS or workload.id in covered:
            continue
        replicas = floor_of(workload, autoscalers).replicas
        if replicas < 2 or not _serves(workload, services):
            continue
        yield Finding(
            workload.place.at("metadata"),
            f"No PodDisruptionBudget covers {workload.name}: a drain may take all {replicas} replicas at once.",
            workload=workload.id,
            repair="add a budget with maxUnavailable: 1",
        )


def _selectors(facts: Facts) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for item in facts.inventory.others:
        if item.kind == "Service":
            spec = item.object.data.get("spec")
            selector = spec.get("selector") if isinstance(spec, dict) else None
            if isinstance(selector, dict) and selector:
                found.setdefault(item.namespace, []).append(selector)
    return found


def _serves(workload: Workload, services: dict[str, list[dict[str, Any]]]) -> bool:
    if any(c.ports for c in workload.template.spec.containers):
        return True
    labels = {key: label.value for key, label in workload.template.labels.items()}
    return any(s.items() <= labels.items() for s in services.get(workload.namespace, ()))


RULE = Rule(
    name="pdb-missing",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    enabled=False,
    profiles=("reliability",),
    assumes_closed=("pdbs",),
)
