"""Without one zone no pool can hold the pods of a workload at all.

## What it checks

For each zone that pods can use: the cluster without it. Workloads that then find no place for a single pod, while other
zones exist. It is an error for several replicas and for workloads with a PodDisruptionBudget, a warning for one replica,
and a hint where a volume is the reason (`zonal-volume-immovable` speaks of those). Zones come from Nodes, requirements,
subnets and the configuration; they are not guessed. Silent in a cluster of one zone.

## Why it matters

A zone is what is lost, or shifted away from, as a whole. Workloads that are to survive it need nodes elsewhere that take
them: labels, taints and instance types of one zone only are easily overlooked.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a, disk: ssd}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: v1
kind: Node
metadata:
  name: n2
  labels: {kubernetes.io/hostname: n2, topology.kubernetes.io/zone: b}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {disk: ssd}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a, disk: ssd}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: v1
kind: Node
metadata:
  name: n2
  labels: {kubernetes.io/hostname: n2, topology.kubernetes.io/zone: b, disk: ssd}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {disk: ssd}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [EKS best practices: reliability](https://docs.aws.amazon.com/eks/latest/best-practices/data-plane.html)
- [Zonal shift in Amazon EKS](https://docs.aws.amazon.com/eks/latest/userguide/zone-shift.html)
- karpenter:Z-3, karpenter:Z-5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.selectors import matches
from unpend.model.inventory import Workload
from unpend.placement.domains import takes
from unpend.placement.zone_shift import zone_losses
from unpend.rule import Facts, Finding, Related, Rule, Severity


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at what ties it to the zone."""
    losses = zone_losses(facts)
    for workload in facts.inventory.workloads:
        zone = losses.only_zone(workload)
        if zone is None:
            continue
        verdict = facts.verdicts[workload.id]
        needed = verdict.replicas.needed
        severity: Severity = "error" if needed > 1 or _budgeted(facts, workload) else "warning"
        if losses.stranded(workload, zone):
            severity = "info"
        spec = workload.template.spec
        place = spec.place
        if spec.node_selector:
            place = spec.node_selector[0].place
        elif spec.affinity.required:
            place = spec.affinity.required[0].place
        pools = [pool for pool in verdict.pools if takes(pool) and pool.place is not None]
        yield Finding(
            place,
            f"Without zone {zone} no node can take these pods: "
            + (f"all {needed} replicas stay Pending" if needed > 1 else "the pod stays Pending")
            + " until the zone is back.",
            related=tuple(Related(f"{p.pool} takes them, in {zone} only", p.place) for p in pools[:3] if p.place),
            severity=severity,
            certainty="assumed",
            subject=("zone", workload.id),
            workload=workload.id,
            salient=zone,
            repair="give another zone nodes that take them",
        )


def _budgeted(facts: Facts, workload: Workload) -> bool:
    labels = {key: label.value for key, label in workload.template.labels.items()}
    return any(
        budget.namespace == workload.namespace
        and budget.selector is not None
        and matches(budget.selector.expressions, labels)
        for budget in facts.inventory.disruption_budgets
    )


RULE = Rule(
    name="zone-loss-unschedulable",
    topic="zones",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=60,
    competes=True,
    assumes_closed=("pools",),
)
