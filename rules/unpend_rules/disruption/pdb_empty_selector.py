"""A PodDisruptionBudget over a whole namespace.

## What it checks

`selector: {}` in policy/v1, which selects every pod of the namespace (in policy/v1beta1 it selected none).

The budget checks of kube-linter, kube-score and Polaris look at the numbers of a budget; none of them asks how much
the selector takes in.

## Why it matters

One number rules over pods that have nothing to do with each other, Jobs and DaemonSets included; for those no
expected number is known, so that a `maxUnavailable` or a percentage may allow nothing at all. Every further budget of
the namespace overlaps with it, and then its pods cannot be evicted. No other linter tells the two versions of the API
apart.

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
metadata: {name: web, namespace: shop}
spec:
  maxUnavailable: 1
  selector: {}
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
metadata: {name: web, namespace: shop}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: web}}
```

## Options

None.

## References

- [Specifying a Disruption Budget](https://kubernetes.io/docs/tasks/run-application/configure-pdb/) - karpenter:D-30,
  scheduler:S-1643
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each budget, at its selector."""
    for budget in facts.inventory.disruption_budgets:
        if budget.selector is not None and not budget.selector.expressions:
            yield Finding(
                budget.selector.place,
                f"{budget.name} covers every pod of {budget.namespace or 'its namespace'}: one budget for all of them, which "
                "any other budget there overlaps.",
                repair="select the pods of one workload",
            )


RULE = Rule(
    name="pdb-empty-selector",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("pdbs",),
)
