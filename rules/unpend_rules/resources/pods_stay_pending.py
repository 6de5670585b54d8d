"""Some or all pods of a workload stay Pending, for a reason that no other rule names.

## What it checks

The verdict of every workload. Where it is `never`, `loop` or `partial` and no rule with a more precise explanation speaks (ports
that are taken, cordoned nodes, room for fewer replicas than wanted), this one does, so that no such verdict goes unsaid.

## Why it matters

Pods that cannot be placed serve nobody; a rollout waits for them until its deadline.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web:1, resources: {requests: {cpu: "1"}}}]
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web:1, resources: {requests: {cpu: "1"}}}]
```

## Options

None.

## References

- [Scheduling, Preemption and Eviction](https://kubernetes.io/docs/concepts/scheduling-eviction/)
- scheduler:P-713, scheduler:S-602, scheduler:P-301
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.blame import blame
from unpend.rule import Facts, Finding, Related, Rule, against, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload some of whose pods cannot be placed."""
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or verdict.verdict not in ("never", "loop", "partial") or verdict.cause == "rejected":
            continue
        place = workload.template.spec.place
        related: tuple[Related, ...] = ()
        if verdict.verdict == "partial":
            counts = verdict.replicas
            place = workload.replicas_place or place
            what = verdict.conflict[0].message if verdict.conflict else f"the limit is {verdict.cause}"
            message = f"At most {counts.at_most} of {counts.needed} replicas can run at once: {what}."
        else:
            found = blame(verdict)
            if found is None:
                message = "No pool can take this pod."
            else:
                place = found.obstacle.place or place
                message = f"No pool can take this pod: {found.obstacle.message}{found.elsewhere()}."
                related = against(found.obstacle, f"of {found.pool.pool}")
        yield unplaced(verdict, place, message, related)


RULE = Rule(
    name="pods-stay-pending",
    topic="resources",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=900,
    competes=True,
    assumes_closed=("pools",),
)
