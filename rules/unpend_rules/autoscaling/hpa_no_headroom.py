"""An autoscaler that has no room to scale.

## What it checks

HorizontalPodAutoscalers and ScaledObjects whose maximum is less than `factor` times their minimum. A ScaledObject that
goes down to zero counts from one.

Polaris (`hpaMinAvailability`, `hpaMaxAvailability`) and kube-linter (`hpa-minimum-replicas`) ask for a least minimum; this
rule asks for the distance between the two.

## Why it matters

With equal numbers the autoscaler does nothing but write the same number again. With little room, load that doubles
while a new node is on its way meets the maximum before the node is there.

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
  minReplicas: 3
  maxReplicas: 3
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
  minReplicas: 3
  maxReplicas: 9
  metrics:
    - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}
```

## Options

`factor`: how many times the minimum the maximum has to be.

## References

- [Horizontal Pod autoscaling](https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/) -
  scheduler:S-1641
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Option, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each autoscaler, at its maximum."""
    for autoscaler in facts.inventory.autoscalers:
        least, most = max(autoscaler.lower_bound, 1), autoscaler.maximum
        if most is None or most < least or most >= least * options["factor"]:
            continue
        if most == least:
            message = f"It keeps {most} replicas whatever the load, and never scales."
        else:
            message = f"It may go from {least} replicas to {most} only, less than {options['factor']:g} times as many."
        yield Finding(
            autoscaler.place.at("spec", "maxReplicaCount" if autoscaler.kind == "ScaledObject" else "maxReplicas"),
            message,
            repair="raise the maximum, or drop the autoscaler and write the replicas",
        )


RULE = Rule(
    name="hpa-no-headroom",
    topic="autoscaling",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("autoscalers",),
    options=(Option("factor", 2.0, "how many times the minimum the maximum has to be", 1),),
    enabled=False,
    profiles=("reliability",),
)
