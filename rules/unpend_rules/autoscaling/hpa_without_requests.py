"""An autoscaler by utilisation of a request that is not there.

## What it checks

Utilisation targets of cpu and memory in HorizontalPodAutoscalers (also the default one) and cpu and memory triggers
of ScaledObjects, against the requests of every container of the target, after limits and a LimitRange. Average
values, external and custom metrics need no request. Popeye reports it in a running cluster.

## Why it matters

Utilisation is a share of the request. If one container has none, the whole metric is missing ("missing request for
cpu") and the workload is never scaled.

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
          resources: {requests: {memory: 128Mi}}
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

- [Horizontal Pod Autoscaling, algorithm
  details](https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/#algorithm-details) -
  scheduler:S-1641
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.autoscaling import Target, target_of, utilisation_metrics
from unpend.model.inventory import Workload
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each metric, at the metric."""
    targets: dict[Target, Workload | None] = {}
    for one in facts.inventory.workloads:
        # Of several copies, in overlays, nobody knows which one counts.
        key = (one.kind, one.namespace, one.name)
        targets[key] = None if key in targets or one.refusals else one
    for autoscaler in facts.inventory.autoscalers:
        workload = targets.get(target_of(autoscaler))
        if workload is None:
            continue
        for metric in utilisation_metrics(autoscaler):
            spec = facts.effective(workload).spec
            containers = [*spec.containers, *(c for c in spec.init_containers if c.role == "sidecar")]
            blind = [
                c
                for c in containers
                if metric.container in (None, c.name)
                and metric.resource not in c.requests
                and metric.resource not in spec.pod_requests
            ]
            if blind:
                names = " and ".join(c.name for c in blind[:3])
                yield Finding(
                    metric.place,
                    f"{autoscaler.name} scales by {metric.resource} utilisation, and {names} of {workload.id} requests no "
                    f"{metric.resource}: the metric is missing and nothing is ever scaled.",
                    related=tuple(Related("no request here", c.place.at("resources")) for c in blind[:3]),
                    salient=metric.resource,
                    repair=f"request {metric.resource} in every container",
                )


RULE = Rule(
    name="hpa-without-requests",
    topic="autoscaling",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("autoscalers", "workloads"),
)
