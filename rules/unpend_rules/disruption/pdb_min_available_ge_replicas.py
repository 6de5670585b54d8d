"""A PodDisruptionBudget that keeps as many pods as there are.

## What it checks

`minAvailable` as a whole number, at or above the fewest replicas of all workloads that the budget covers: the minimum
of an HPA or ScaledObject if one targets them (never its maximum), else `replicas`. For a single replica, and where
`replicas` is not written so that an autoscaler elsewhere may set it, it is a warning.

kube-linter (`pdb-min-available`) and Polaris (`pdbMinAvailableGreaterThanHPAMinReplicas`) compare with one workload;
this rule adds up all that the selector covers.

## Why it matters

The arithmetic leaves no pod that may go. With one replica there are two ways out, and both cost something: run two
replicas, or allow a short downtime whenever the node is drained.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec:
  minAvailable: 1
  selector: {matchLabels: {app: web}}
```

## Instead

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec:
  minAvailable: 1
  selector: {matchLabels: {app: web}}
```

## Options

None.

## References

- [Specifying a Disruption Budget](https://kubernetes.io/docs/tasks/run-application/configure-pdb/) -
  [kubernetes-sigs/karpenter#2600](https://github.com/kubernetes-sigs/karpenter/issues/2600) - karpenter:D-31,
  scheduler:S-1641, scheduler:S-1643
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.pdb import coverage_of
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each budget, at `minAvailable`."""
    coverage = coverage_of(facts)
    for ruling in coverage.rulings():
        field = ruling.budget.min_available
        if ruling.blocked != "replicas" or field is None:
            continue
        single = ruling.expected == 1
        where = "there is one replica" if single else f"there are {ruling.expected} replicas at the least"
        if not ruling.sure:
            where += " (no replicas are written, and no autoscaler is here)"
        floors = [coverage.floors[w.id] for w in ruling.workloads]
        related = [Related(f"it covers {w.id}", w.replicas_place or w.place) for w in ruling.workloads[:3]]
        related += [
            Related("the minimum of its autoscaler counts", f.autoscaler.place) for f in floors[:3] if f.autoscaler
        ]
        yield Finding(
            field.place,
            f"{ruling.budget.name} keeps {ruling.healthy} available, but {where}: no pod may ever be evicted, and its node "
            "can be neither drained nor consolidated.",
            related=tuple(related),
            severity="warning" if single or not ruling.sure else None,
            repair="run two replicas, or drop the budget and accept a short downtime when a node goes"
            if single
            else f"use maxUnavailable: 1, or minAvailable: {max(ruling.expected - 1, 0)}",
        )


RULE = Rule(
    name="pdb-min-available-ge-replicas",
    topic="disruption",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("pdbs", "workloads"),
)
