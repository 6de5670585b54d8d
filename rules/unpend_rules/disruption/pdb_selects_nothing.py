"""A PodDisruptionBudget that covers no workload.

## What it checks

Budgets whose selector matches the pods of no workload of their namespace. Where the workloads are not known to be
complete it is a hint; so it is where the selector names a label that no pod template there carries, since operators
set such labels (a role, a primary) at run time. Popeye and kube-linter (`dangling-…`) report any.

## Why it matters

The pods that it was written for are not protected: a drain may take all of them at once. And a kube-system workload
that it was meant to cover still holds its node under Cluster Autoscaler.

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
  selector: {matchLabels: {app: webb}}
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

from unpend.disruption.pdb import coverage_of
from unpend.model.inventory import Workload
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each budget, at its selector."""
    coverage = coverage_of(facts)
    near: dict[str, list[Workload]] = {}
    for workload in facts.inventory.workloads:
        near.setdefault(workload.namespace, []).append(workload)
    custom = {item.namespace for item in facts.inventory.others if "." in item.api_version.partition("/")[0]}
    for budget, covered in zip(coverage.budgets, coverage.workloads, strict=True):
        workloads = near.get(budget.namespace, [])
        if covered or not (workloads or facts.settings.world.workloads == "closed"):
            continue
        where = budget.place.at("spec", "selector")
        if budget.selector is None:
            yield Finding(where, f"{budget.name} has no selector and covers no pod.", severity="info")
            continue
        keys = {key for w in workloads for key in w.template.labels}
        strange = [e.key for e in budget.selector.expressions if e.key not in keys and e.operator in ("In", "Exists")]
        why = f"; no pod template here carries the label {strange[0]}, which may be set at run time" if strange else ""
        hint = bool(strange) or budget.namespace in custom
        yield Finding(
            where,
            f"{budget.name} covers no workload of {budget.namespace or 'its namespace'}{why}.",
            severity="info" if hint else None,
            repair="compare the selector with the labels of the pod template",
        )


RULE = Rule(
    name="pdb-selects-nothing",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("pdbs", "workloads"),
    assumes_closed=("workloads",),
)
