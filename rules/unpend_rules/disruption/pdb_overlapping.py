"""Two PodDisruptionBudgets over one pod.

## What it checks

Budgets of one namespace whose selectors both match the pods of a workload, match expressions included. It is reported
at the budget that comes later. Popeye finds this in a running cluster; this rule finds it before.

## Why it matters

The eviction API refuses a pod that more than one budget covers, whatever they allow. The node can be neither drained
nor consolidated. It happens when a chart brings a budget and the team adds its own.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
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
metadata: {name: web-chart, namespace: shop}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: web}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web-team, namespace: shop}
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
  replicas: 3
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
metadata: {name: web-chart, namespace: shop}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: web}}
```

## Options

None.

## References

- [API-initiated Eviction](https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/) - karpenter:D-9,
  scheduler:S-1643
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.pdb import coverage_of
from unpend.model.inventory import Workload
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each set of budgets that meet on a workload."""
    coverage = coverage_of(facts)
    by_id = {w.id: w for found in coverage.workloads for w in found}
    meeting: dict[tuple[int, ...], list[Workload]] = {}
    for name, budgets in coverage.of_workload.items():
        if len(budgets) > 1:
            meeting.setdefault(tuple(id(b) for b in budgets), []).append(by_id[name])
    for workloads in meeting.values():
        *others, last = coverage.of_workload[workloads[0].id]
        names = " and ".join(b.name for b in others)
        more = f" and {len(workloads) - 1} more" if len(workloads) > 1 else ""
        yield Finding(
            last.place.at("spec", "selector"),
            f"{last.name} and {names} both cover the pods of {workloads[0].id}{more}: such pods cannot be evicted at all, "
            "and their nodes can be neither drained nor consolidated.",
            related=(
                *(Related(f"{b.name} covers them too", b.place.at("spec", "selector")) for b in others),
                Related("the pods", workloads[0].template.place),
            ),
            salient=" ".join(sorted(w.id for w in workloads)),
            repair="keep one of the budgets",
        )


RULE = Rule(
    name="pdb-overlapping",
    topic="disruption",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("pdbs", "workloads"),
)
