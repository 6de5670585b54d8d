"""Workloads that wait for each other by required pod affinity.

## What it checks

Who needs whom by required pod affinity. A pod that satisfies its own terms may go first; workloads that only satisfy each
other's terms never start, nor do those that wait for one of them. Where other workloads may exist the finding is a hint.

## Why it matters

On a fresh cluster all of them stay Pending. On a running one they do as soon as the nodes of both are gone at the same time.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
              labelSelector: {matchLabels: {app: cache}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cache}
spec:
  replicas: 1
  selector: {matchLabels: {app: cache}}
  template:
    metadata: {labels: {app: cache}}
    spec:
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
              labelSelector: {matchLabels: {app: web}}
      containers: [{name: cache, image: cache:1, resources: {requests: {cpu: 100m}}}]
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
              labelSelector: {matchLabels: {app: cache}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cache}
spec:
  replicas: 1
  selector: {matchLabels: {app: cache}}
  template:
    metadata: {labels: {app: cache}}
    spec:
      containers: [{name: cache, image: cache:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Inter-pod affinity and anti-affinity](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/)
- scheduler:S-913, scheduler:S-917, karpenter:T-34
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.peers import peers_of
from unpend.rule import Facts, Finding, Related, Rule, placement


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that cannot start, at its first term."""
    for group in peers_of(facts).stuck:
        for number, wish in enumerate(group):
            workload = wish.workload
            if len(group) > 1:
                other = group[(number + 1) % len(group)]
                names = " and ".join(one.workload.id for one in group if one is not wish)
                message = (
                    f"{workload.id} waits for pods of {names}, which wait for its pods: none of them can start first."
                )
                related = (Related(f"the affinity of {other.workload.id}", other.terms[0].place),)
            else:
                target = wish.targets[0]
                message = f"{workload.id} waits for pods of {target.id}, which can never start themselves."
                related = (Related(f"the affinity of {target.id}", _place_of(target)),)
            yield Finding(
                wish.terms[0].place,
                message,
                related=related,
                subject=placement(workload.id),
                workload=workload.id,
                verdict="never",
                repair="make one of the affinities preferred, or let a workload satisfy its own terms",
            )


def _place_of(target: Any) -> Any:
    terms = target.template.spec.affinity.pod_required
    return terms[0].place if terms else target.place


RULE = Rule(
    name="pod-affinity-deadlock",
    topic="affinity",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    rank=46,
    competes=True,
    assumes_closed=("workloads",),
    when=("pod-affinity",),
)
