"""An autoscaler of something that is not there.

## What it checks

`scaleTargetRef` of HorizontalPodAutoscalers and ScaledObjects against all objects of the same namespace. Where the
workloads are not known to be complete it is a warning. kube-score, kube-linter (`dangling-horizontalpodautoscaler`)
and Kubescape (C-0300) check the same; this rule knows kinds of other controllers too.

## Why it matters

The autoscaler reports FailedGetScale and scales nothing: the workload that it was written for stays at its replicas.

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
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: wbe}
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

## Options

None.

## References

- [Horizontal Pod Autoscaling](https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/) -
  scheduler:S-1641
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.autoscaling import target_of
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each autoscaler, at its target."""
    inventory = facts.inventory
    known = {(w.kind, w.namespace, w.name) for w in inventory.workloads}
    known |= {(o.kind, o.namespace, o.name) for o in (*inventory.others, *inventory.unread_capacity)}
    closed = facts.settings.world.workloads == "closed"
    for autoscaler in inventory.autoscalers:
        target = target_of(autoscaler)
        if target in known or not autoscaler.target_name or not (closed or _is_near(facts, autoscaler.namespace)):
            continue
        kind, namespace, name = target
        close = [n for k, s, n in known if s == namespace and n == name]
        hint = " (there is another kind of that name)" if close else ""
        where = "" if closed else " among the files found here"
        yield Finding(
            autoscaler.place.at("spec", "scaleTargetRef"),
            f"{autoscaler.name} scales {kind} {name}, and there is none{f' in {namespace}' if namespace else ''}{where}{hint}.",
            severity=None if closed else "warning",
            repair="correct kind and name, or remove the autoscaler",
        )


def _is_near(facts: Facts, namespace: str) -> bool:
    """Whether there are workloads of the namespace at all: an autoscaler alone may belong to another repository."""
    return any(w.namespace == namespace for w in facts.inventory.workloads)


RULE = Rule(
    name="hpa-target-missing",
    topic="autoscaling",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("autoscalers",),
)
