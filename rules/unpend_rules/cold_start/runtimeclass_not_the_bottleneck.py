"""The runtime is a small part of the longest start: another RuntimeClass would change little.

## What it checks

Workloads with a RuntimeClass whose runtime is known, and a pool that makes nodes for them: the runtime typically takes less than `percent` of
the start on a new node. `unpend startup -w …` shows the whole path, and where the runtime does count: on a warm node with the image on it.

## Why it matters

Where a start waits two minutes for a node, a runtime that starts 100 ms sooner saves 0.1 % of it. Room that is kept free, smaller images and
earlier probes are what shortens such a start.

## Example

```yaml
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: wasm}
handler: spin
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      runtimeClassName: wasm
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
```

## Instead

```yaml
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: wasm}
handler: spin
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      runtimeClassName: wasm
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
---
apiVersion: v1
kind: Node
metadata: {name: worker-1, labels: {kubernetes.io/hostname: worker-1}}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}}
```

## Options

- `percent` (5): how much of the start the runtime has to take to count.

## References

- [Cold starts](../cold-start.md)
- [Kubernetes: RuntimeClass](https://kubernetes.io/docs/concepts/containers/runtime-class/)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Option, Rule
from unpend.startup.analysis import starts_in
from unpend.startup.stages import shown


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each such workload, at the name of its RuntimeClass."""
    for workload in facts.inventory.workloads:
        spec = workload.template.spec
        if not spec.runtime_class or workload.kind == "DaemonSet":
            continue
        start = starts_in(facts).of(workload)
        slowest = start.slowest
        path = slowest.path("new-node") if slowest is not None else None
        runtime = path.stage("runtime") if path is not None else None
        if start.family is None or path is None or runtime is None or path.dominating is None:
            continue
        whole, part = path.total.typical, runtime.interval.typical
        if part * 100 >= options["percent"] * whole:
            continue
        share = part / whole * 100
        yield Finding(
            spec.place.at("runtimeClassName"),
            f"On a new node a start typically takes {shown(whole)}, and {start.family} {shown(part)} of it ({share:.1g} %): no other runtime "
            f"saves more than {shown(runtime.interval.worst)}. Most of it: {path.dominating.title} "
            f"({shown(path.dominating.interval.typical)}).",
            certainty="heuristic",
            workload=workload.id,
            repair="to start faster, keep room free or make the image smaller",
        )


RULE = Rule(
    name="runtimeclass-not-the-bottleneck",
    topic="cold-start",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    options=(Option("percent", 5, "how much of the start the runtime has to take to count", 0),),
    enabled=False,
    profiles=("strict",),
)
