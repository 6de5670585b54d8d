"""An autoscaler's maximum that the pools can never hold.

## What it checks

The maximum of HorizontalPodAutoscalers and ScaledObjects against the Nodes, the maximum sizes of node groups and the
limits of NodePools that take the pods. Other pods are not counted: there is less room still. Silent where a pool grows
without a bound.

Popeye (codes 602 to 605) compares what an autoscaler may ask for with the capacity that a cluster has now; this rule
compares it with the limits that the pools may grow to.

## Why it matters

Replicas above that stay Pending, when the load is at its highest.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 10
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 1}}}]
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
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 4
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 1}}}]
```

## Options

None.

## References

- [Horizontal Pod Autoscaling](https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/)
- scheduler:P-721, karpenter:L-1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.placement.domains import takes
from unpend.placement.needed import autoscalers_by_target
from unpend.rule import Facts, Finding, Related, Rule
from unpend.source.place import Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each autoscaler, at its maximum."""
    autoscalers = autoscalers_by_target(facts.inventory)
    for workload in facts.inventory.workloads:
        autoscaler = autoscalers.get((workload.kind, workload.namespace, workload.name))
        verdict = facts.verdicts.get(workload.id)
        if autoscaler is None or not autoscaler.maximum or verdict is None:
            continue
        if verdict.verdict not in ("fits", "conditional"):
            continue
        counted = verdict.replicas.maximum
        bounds = [] if counted is None or counted.at_most is None else [counted.at_most]
        limited = _by_limits(facts, workload)
        if limited is not None:
            bounds.append(limited[0])
        most = min(bounds, default=None)
        if most is None or most >= autoscaler.maximum or most < verdict.replicas.needed:
            continue
        related = () if limited is None or most != limited[0] else (Related("the limits of the pool", limited[1]),)
        yield Finding(
            autoscaler.place.at("spec", "maxReplicas" if autoscaler.kind != "ScaledObject" else "maxReplicaCount"),
            f"The pools that take these pods hold {most} of the {autoscaler.maximum} replicas that it may ask for, even "
            "if nothing else runs there.",
            related=related,
            certainty="assumed",
            subject=("maximum", workload.id),
            workload=workload.id,
            repair=f"lower the maximum to {most}, or give the pools more room",
        )


def _by_limits(facts: Facts, workload: Workload) -> tuple[int, Place] | None:
    """How many pods the limits of the NodePools allow together, None where some pool has none that bounds them."""
    verdict = facts.verdicts[workload.id]
    taking = {pool.pool for pool in verdict.pools if takes(pool)}
    pools = [pool for pool in facts.inventory.node_pools if f"NodePool/{pool.name}" in taking]
    if not pools or len(pools) != len(taking):
        return None
    requests = facts.effective(workload).requests
    total = 0
    for pool in pools:
        bounds = [limit.milli // requests[name] for name, limit in pool.limits.items() if requests.get(name)]
        if not bounds:
            return None
        total += min(bounds)
    return total, next(iter(pools[0].limits.values())).place


RULE = Rule(
    name="hpa-max-exceeds-capacity",
    topic="autoscaling",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools", "autoscalers"),
    rank=60,
    competes=True,
    assumes_closed=("pools",),
)
