"""A pod affinity term without a label selector.

## What it checks

Required and preferred anti-affinity terms, and preferred affinity terms, without `labelSelector`. (A *required
affinity* to nothing keeps the pod Pending, which the rules about placement report.)

## Why it matters

An absent selector matches no pod, so the term does nothing: replicas that were to be kept apart may share a node. An
empty one (`{}`) would match every pod. Schema validators accept both.

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
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
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
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: {matchLabels: {app: web}}
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Inter-pod affinity and
  anti-affinity](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity)
  - scheduler §9.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each term."""
    for workload in facts.inventory.workloads:
        affinity = workload.template.spec.affinity
        for term in (*affinity.anti_required, *affinity.anti_preferred, *affinity.pod_preferred):
            if term.selector is None:
                yield Finding(
                    term.place,
                    "Without labelSelector the term matches no pod and does nothing: pods may share "
                    f"one {term.topology_key} all the same.",
                    workload=workload.id,
                    salient=term.topology_key,
                    repair="add a labelSelector with the labels of the pods",
                )


RULE = Rule(
    name="selector-matches-nothing",
    topic="affinity",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads",),
)
