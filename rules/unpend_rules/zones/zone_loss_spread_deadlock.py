"""Without one zone a hard spread keeps replicas Pending although there is room.

## What it checks

For each zone that pods can use: the cluster without it, in two readings.

- The zone is gone: nodes, pools and subnets list the others only. Then `minDomains` above what is left holds every domain
  at `maxSkew`.
- Nothing is launched in the zone, but pools still list it (a zonal shift, an outage of its capacity): it counts as an empty
  domain, and the others take `maxSkew` each. This alone is a hint, and a warning where Karpenter runs with zonal shift.

## Why it matters

The pods of the lost zone are not replaced in the others as long as the outage lasts, which is when they are needed.

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
apiVersion: v1
kind: Node
metadata:
  name: n3
  labels: {kubernetes.io/hostname: n3, topology.kubernetes.io/zone: c}
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
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
          minDomains: 3
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
apiVersion: v1
kind: Node
metadata:
  name: n2
  labels: {kubernetes.io/hostname: n2, topology.kubernetes.io/zone: b}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: v1
kind: Node
metadata:
  name: n3
  labels: {kubernetes.io/hostname: n3, topology.kubernetes.io/zone: c}
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
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: {matchLabels: {app: web}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Zonal shift in Amazon EKS](https://docs.aws.amazon.com/eks/latest/userguide/zone-shift.html)
- [Karpenter: Scheduling, zonal shift](https://karpenter.sh/docs/concepts/scheduling/)
- karpenter:Z-4, karpenter:T-15, scheduler:S-812, scheduler:S-814
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.model.karpenter_labels import ZONE
from unpend.placement.zone_shift import Cell, zone_losses
from unpend.rule import Facts, Finding, Rule, Severity
from unpend.source.place import Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at the constraint."""
    for workload, row in zone_losses(facts).rows(lambda w: _constraint(w) is not None):
        place = _constraint(workload)
        if place is None:
            continue
        gone = [c for c in row.cells if c.loss.cause == "topology" and 0 < c.loss.at_most < row.needed]
        shifted = [c for c in row.cells if c.shift.cause == "topology" and 0 < c.shift.at_most < row.needed]
        if not gone and not shifted:
            continue
        severity: Severity | None = None
        if not gone and not facts.settings.karpenter.zonal_shift:
            severity = "info"
        cell, most = _worst(gone, "loss") if gone else _worst(shifted, "shift")
        how = f"Without zone {cell.zone}" if gone else f"While zone {cell.zone} is out but still listed"
        yield Finding(
            place,
            f"{how} this spread leaves room for {most} of {row.needed} replicas: the others stay Pending.",
            severity=severity,
            certainty="assumed",
            workload=workload.id,
            salient=cell.zone,
            repair="use ScheduleAnyway, a wider maxSkew, or minDomains of one zone less",
        )


def _constraint(workload: Workload) -> Place | None:
    for constraint in workload.template.spec.spread:
        if constraint.when_unsatisfiable == "DoNotSchedule" and constraint.topology_key == ZONE:
            return constraint.place
    return None


def _worst(cells: list[Cell], reading: str) -> tuple[Cell, int]:
    found = [(cell, cell.loss.at_most if reading == "loss" else cell.shift.at_most) for cell in cells]
    return min(found, key=lambda pair: (pair[1], pair[0].zone))


RULE = Rule(
    name="zone-loss-spread-deadlock",
    topic="zones",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    assumes_closed=("pools",),
)
