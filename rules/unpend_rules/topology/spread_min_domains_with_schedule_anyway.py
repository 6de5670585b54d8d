"""`minDomains` beside `ScheduleAnyway`: the API refuses the pod.

## What it checks

Topology spread constraints that set `minDomains` and anything but `whenUnsatisfiable: DoNotSchedule`.

## Why it matters

The API server refuses the Pod. A Deployment is taken, and its ReplicaSet then fails to create pods (FailedCreate): there
is nothing Pending to see.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: {matchLabels: {app: web}}
          minDomains: 3
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Instead

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
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

## Options

None.

## References

- [Topology spread constraints](https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/)
- scheduler:A-1523
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule, rejection


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each such constraint, at its minDomains."""
    for workload in facts.inventory.workloads:
        for constraint in workload.template.spec.spread:
            if constraint.min_domains is None or constraint.when_unsatisfiable != "ScheduleAnyway":
                continue
            place = constraint.place.at("minDomains")
            yield Finding(
                place,
                "minDomains goes with DoNotSchedule only; beside ScheduleAnyway the API refuses the pod.",
                subject=rejection(place, "scheduler:A-1523"),
                workload=workload.id,
                verdict="never",
                repair="set whenUnsatisfiable to DoNotSchedule, or drop minDomains",
            )


RULE = Rule(
    name="spread-min-domains-with-schedule-anyway",
    topic="topology",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    rank=40,
    competes=True,
    when=("spread",),
)
