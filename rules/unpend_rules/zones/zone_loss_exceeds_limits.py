"""Without one zone the other zones have no room for all replicas.

## What it checks

For each zone that pods can use: the cluster without it. Workloads that then run short of room, in nodes, maximum sizes of
node groups or limits of NodePools. Silent for pools that grow without a bound.

## Why it matters

The replicas of the lost zone have to go somewhere. Without headroom in the others they stay Pending for as long as it
takes.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}
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
  replicas: 6
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
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 1}}}]
```

## Options

None.

## References

- [EKS best practices: reliability](https://docs.aws.amazon.com/eks/latest/best-practices/data-plane.html)
- karpenter:L-1, karpenter:Z-3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.zone_shift import zone_losses
from unpend.rule import Facts, Finding, Rule

ROOM = ("resources", "limits", "ports")


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its replicas."""
    for workload, row in zone_losses(facts).rows(readings=("loss",)):
        short = [c for c in row.cells if c.loss.cause in ROOM and 0 < c.loss.at_most < row.needed]
        crowded = [c for c in row.cells if c.loss.cause == "contention"]
        verdict = facts.verdicts[workload.id]
        if not short and (not crowded or verdict.cause == "contention"):
            continue
        place = workload.replicas_place if workload.replicas is not None else None
        cell = min(short, key=lambda c: (c.loss.at_most, c.zone)) if short else crowded[0]
        what = (
            f"there is room for {cell.loss.at_most} of the {row.needed} replicas"
            if short
            else "there is no room for all workloads together"
        )
        yield Finding(
            place or workload.template.spec.place,
            f"Without zone {cell.zone} {what}.",
            certainty="assumed",
            workload=workload.id,
            salient=cell.zone,
            repair="keep room for the pods of one zone in the others",
        )


RULE = Rule(
    name="zone-loss-exceeds-limits",
    topic="zones",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    enabled=False,
    profiles=("reliability",),
    assumes_closed=("pools",),
)
