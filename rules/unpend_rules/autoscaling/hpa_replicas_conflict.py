"""A workload that writes its replicas although an autoscaler owns them.

## What it checks

`replicas` of workloads that a HorizontalPodAutoscaler or ScaledObject targets; `replicas: 0`, which switches the
autoscaler off, is left alone. Where a GitOps tool ignores the field, switch the rule off. kube-score checks the same
(`deployment-targeted-by-hpa-does-not-have-replicas-configured`).

## Why it matters

Each time the manifest is applied, the workload jumps back to the written number, pods are killed under load, and
nodes come and go.

## Example

```yaml
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
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 6
  metrics:
    - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}
```

## Instead

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 6
  metrics:
    - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}
```

## Options

None.

## References

- [Migrating Deployments to horizontal
  autoscaling](https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#migrating-deployments-and-statefulsets-to-horizontal-autoscaling)
  - scheduler:S-1641
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.needed import autoscalers_by_target
from unpend.rule import Edit, Facts, Finding, Fix, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its replicas."""
    autoscalers = autoscalers_by_target(facts.inventory)
    for workload in facts.inventory.workloads:
        if not workload.replicas or workload.replicas_place is None:
            continue
        found = autoscalers.get((workload.kind, workload.namespace, workload.name))
        if found is not None:
            yield Finding(
                workload.replicas_place,
                f"{found.kind} {found.name} owns the replicas, and every apply sets them back to {workload.replicas}.",
                related=(Related("the autoscaler", found.place.at("spec", "scaleTargetRef")),),
                workload=workload.id,
                fixes=(
                    Fix("Leave the replicas to the autoscaler", "unsafe", (Edit("remove", workload.replicas_place),)),
                ),
                repair="leave `replicas` out",
            )


RULE = Rule(
    name="hpa-replicas-conflict",
    topic="autoscaling",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("autoscalers", "workloads"),
)
