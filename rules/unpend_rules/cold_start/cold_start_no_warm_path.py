"""A latency-critical workload may always wait for a new node: nothing keeps room for it.

## What it checks

Workloads that are marked as critical, by the annotation `unpend.dev/cold-start-budget` or a PriorityClass of at least `priority`: every pool
that takes them makes its nodes on demand and may be empty, no placeholder pods have room there, and there is no CapacityBuffer.

## Why it matters

When a pod comes and no node has room, it waits for one: about a minute at least, often two or three. Room that is kept free brings this down
to seconds, and is paid for all the time.

## Example

```yaml
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
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, annotations: {unpend.dev/cold-start-budget: 30s}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
```

## Instead

```yaml
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
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, annotations: {unpend.dev/cold-start-budget: 30s}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: placeholder}
value: -5
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: headroom, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: headroom}}
  template:
    metadata: {labels: {app: headroom}}
    spec:
      priorityClassName: placeholder
      containers:
        - {name: pause, image: "registry.k8s.io/pause:3.10", resources: {requests: {cpu: "2", memory: 2Gi}}}
```

## Options

- `priority` (1000): the least value of a PriorityClass that marks a workload as critical; those of Kubernetes itself do not.

## References

- [Karpenter blueprints: overprovision](https://github.com/aws-samples/karpenter-blueprints/tree/main/blueprints/overprovision)
- [Cluster Autoscaler FAQ: overprovisioning](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md), autoscaler:C-501, autoscaler:C-503
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.placement.placeholders import is_placeholder
from unpend.rule import Facts, Finding, Option, Related, Rule
from unpend.startup.analysis import starts_in
from unpend.startup.budget import written
from unpend.startup.stages import shown_range

_BY_KUBERNETES = "system-"


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each critical workload without a warm path."""
    critical = [w for w in facts.inventory.workloads if _is_critical(w, facts, options["priority"])]
    if not critical or any(other.kind == "CapacityBuffer" for other in facts.inventory.others):
        return
    kept = _kept(facts)
    starts = starts_in(facts)
    for workload in critical:
        if is_placeholder(facts.effective(workload)):
            continue
        start = starts.of(workload)
        pools = [starts.pools[pool.pool] for pool in start.pools]
        slowest = start.slowest
        if slowest is None or any(not pool.makes or pool.keeps or pool.name in kept for pool in pools):
            continue
        yield Finding(
            workload.template.spec.place,
            f"Nothing keeps room for this workload: where no node has any left, it waits for a new one "
            f"({shown_range(slowest.longest.total)}).",
            related=tuple(Related(f"{p.name} may be empty", p.place) for p in pools if p.place is not None),
            certainty="heuristic",
            workload=workload.id,
            repair="keep room with placeholder pods of negative priority, a CapacityBuffer, or nodes that are always there",
        )


def _is_critical(workload: Workload, facts: Facts, least: int) -> bool:
    if workload.kind == "DaemonSet":
        return False
    if written(workload) is not None:
        return True
    name = workload.template.spec.priority_class
    found = facts.inventory.priority_classes.get(name) if name and not name.startswith(_BY_KUBERNETES) else None
    return found is not None and found.value >= least


def _kept(facts: Facts) -> set[str]:
    """Pools in which placeholder pods have room."""
    found: set[str] = set()
    for workload in facts.inventory.workloads:
        if workload.kind != "DaemonSet" and is_placeholder(facts.effective(workload)):
            verdict = facts.verdicts[workload.id]
            found |= {pool.pool for pool in verdict.pools if pool.verdict in ("fits", "conditional")}
    return found


RULE = Rule(
    name="cold-start-no-warm-path",
    topic="cold-start",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    options=(Option("priority", 1000, "the least value of a PriorityClass that marks a workload as critical", 0),),
    enabled=False,
    profiles=("strict",),
    assumes_closed=("pools", "workloads"),
)
