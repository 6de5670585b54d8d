"""Two autoscalers pull at the same resource.

## What it checks

VerticalPodAutoscalers that act (mode other than Off) and horizontal ones on one target, where the vertical one
changes the request that the horizontal one measures against. No other linter puts the two side by side.

## Why it matters

More load raises the request, a higher request lowers the utilisation, the horizontal one takes pods away, and the
load of each rises: the two chase each other, and nodes come and go with them.

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
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
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
---
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  resourcePolicy: {containerPolicies: [{containerName: "*", controlledResources: [memory]}]}
```

## Options

None.

## References

- [Vertical Pod Autoscaler, known
  limitations](https://github.com/kubernetes/autoscaler/blob/master/vertical-pod-autoscaler/docs/known-limitations.md)
  - scheduler:S-1641
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.autoscaling import Target, Vertical, target_of, utilisation_metrics, verticals
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each metric that a vertical autoscaler moves."""
    vertical: dict[Target, Vertical] = facts.memo("verticals", lambda: verticals(facts.inventory))
    for autoscaler in facts.inventory.autoscalers if vertical else ():
        found = vertical.get(target_of(autoscaler))
        for metric in utilisation_metrics(autoscaler) if found is not None else ():
            if found is not None and metric.resource in found.resources:
                yield Finding(
                    metric.place,
                    f"{autoscaler.name} scales by the share of the {metric.resource} request, and VerticalPodAutoscaler "
                    f"{found.name} changes that request.",
                    related=(Related("the other autoscaler", found.place.at("spec")),),
                    salient=metric.resource,
                    repair="let one of them handle the resource: controlledResources of the VPA, or another metric",
                )


RULE = Rule(
    name="hpa-vpa-conflict",
    topic="autoscaling",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("autoscalers",),
)
