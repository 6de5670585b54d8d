"""Two autoscalers of replicas on one target.

## What it checks

HorizontalPodAutoscalers and ScaledObjects with the same target; a ScaledObject makes a HorizontalPodAutoscaler of its
own. It is reported at the one that comes later. Popeye finds it in a running cluster.

## Why it matters

From Kubernetes 1.26 on both stop with AmbiguousSelector and scale nothing; before, they set the replicas in turn.

## Example

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
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web-2, namespace: shop}
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

- [Horizontal Pod Autoscaling](https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/) -
  scheduler:S-1641
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.autoscaling import Target, target_of
from unpend.model.inventory import Autoscaler
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each further autoscaler, at its target."""
    first: dict[Target, Autoscaler] = {}
    for autoscaler in facts.inventory.autoscalers:
        if not autoscaler.target_name:
            continue
        known = first.setdefault(target_of(autoscaler), autoscaler)
        if known is autoscaler or (known.kind, known.name) == (autoscaler.kind, autoscaler.name):
            continue
        yield Finding(
            autoscaler.place.at("spec", "scaleTargetRef"),
            f"{known.kind} {known.name} scales {autoscaler.target_kind} {autoscaler.target_name} too: neither works.",
            related=(Related("the other autoscaler", known.place.at("spec", "scaleTargetRef")),),
            salient=known.name,
            repair="keep one, with the metrics of both",
        )


RULE = Rule(
    name="duplicate-hpa",
    topic="autoscaling",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("autoscalers",),
)
