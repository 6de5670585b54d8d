"""Required pod affinity to pods that do not exist.

## What it checks

Required pod affinity terms against the labels of all workloads and running pods: one pod has to satisfy all terms of a
pod together, in a namespace that the terms mean (without `namespaces` and `namespaceSelector`: the pod's own). A pod that
satisfies its own terms may go first. Where other workloads may exist the finding is a hint.

## Why it matters

The pod stays Pending until such a pod runs: "node(s) didn't match pod affinity rules".

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
            - topologyKey: kubernetes.io/hostname
              labelSelector: {matchLabels: {app: cache}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
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
metadata: {name: cache}
spec:
  replicas: 1
  selector: {matchLabels: {app: cache}}
  template:
    metadata: {labels: {app: cache}}
    spec:
      containers: [{name: cache, image: cache:1, resources: {requests: {cpu: 100m}}}]
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
            - topologyKey: kubernetes.io/hostname
              labelSelector: {matchLabels: {app: cache}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Inter-pod affinity and anti-affinity](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/)
- scheduler:S-901, scheduler:S-911, scheduler:S-915, karpenter:T-33
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.peers import Wish, peers_of
from unpend.rule import Facts, Finding, Rule, placement


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its first term."""
    for wish in peers_of(facts).missing:
        workload = wish.workload
        if facts.effective(workload).refusals:
            continue
        yield Finding(
            wish.terms[0].place,
            f"Required pod affinity wants a pod that {_wanted(wish)}, and no workload has such pods: this one stays Pending.",
            subject=placement(workload.id),
            workload=workload.id,
            verdict="never",
            repair="select labels that the other workload has, and name its namespace",
        )


def _wanted(wish: Wish) -> str:
    if len(wish.terms) > 1:
        return f"satisfies all {len(wish.terms)} terms at once"
    term = wish.terms[0]
    if term.selector is None:
        return "a missing labelSelector matches (it matches none)"
    where = ""
    if not term.namespaces and term.namespace_selector is None and wish.workload.namespace:
        where = f" in namespace {wish.workload.namespace}"
    if term.namespaces:
        where = f" in namespace {' or '.join(term.namespaces)}"
    parts = []
    for e in term.selector.expressions:
        one = e.operator == "In" and len(e.values) == 1
        values = f" [{', '.join(e.values)}]" if e.values else ""
        parts.append(f"{e.key}={e.values[0]}" if one else f"{e.key} {e.operator}{values}")
    return f"has {', '.join(parts)}{where}" if parts else f"runs{where}"


RULE = Rule(
    name="pod-affinity-target-missing",
    topic="affinity",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    rank=45,
    competes=True,
    assumes_closed=("workloads",),
    when=("pod-affinity",),
)
