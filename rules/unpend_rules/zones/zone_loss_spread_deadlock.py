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
from unpend.placement.zone_shift import READINGS, Reading, zone_losses
from unpend.rule import Facts, Finding, Rule, Severity
from unpend.source.place import Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at the constraint."""
    for workload in facts.inventory.workloads:
        place = _constraint(workload)
        if place is None:
            continue
        gone, shifted = (_worst(facts, workload, reading) for reading in READINGS)
        found = gone or shifted
        if found is None:
            continue
        most, zone = found
        severity: Severity | None = None
        if gone is None and not facts.settings.karpenter.zonal_shift:
            severity = "info"
        needed = facts.verdicts[workload.id].replicas.needed
        how = f"Without zone {zone}" if gone else f"While zone {zone} is out but still listed"
        yield Finding(
            place,
            f"{how} this spread leaves room for {most} of {needed} replicas: the others stay Pending.",
            severity=severity,
            certainty="assumed",
            workload=workload.id,
            salient=zone,
            repair="use ScheduleAnyway, a wider maxSkew, or minDomains of one zone less",
        )


def _constraint(workload: Workload) -> Place | None:
    for constraint in workload.template.spec.spread:
        if constraint.when_unsatisfiable == "DoNotSchedule" and constraint.topology_key == ZONE:
            return constraint.place
    return None


def _worst(facts: Facts, workload: Workload, reading: Reading) -> tuple[int, str] | None:
    """The fewest replicas that a spread leaves without one zone, and the zone; None where it leaves room for all."""
    losses = zone_losses(facts)
    zones = losses.zones_of(workload) or ()
    found = [(losses.by_rules(workload, zone, reading), zone) for zone in zones if len(zones) > 1]
    needed = facts.verdicts[workload.id].replicas.needed if found else 0
    short = [(most, zone) for (most, cause), zone in found if cause == "topology" and most < needed]
    return min(short, default=None)


RULE = Rule(
    name="zone-loss-spread-deadlock",
    topic="zones",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    assumes_closed=("pools",),
    when=("spread",),
)
