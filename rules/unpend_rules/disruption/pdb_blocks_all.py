"""A PodDisruptionBudget that never allows an eviction.

## What it checks

Budgets that say so by themselves: `maxUnavailable` 0 or "0%", `minAvailable` "100%", neither field at all; and
budgets by `maxUnavailable` or by percentage over DaemonSets, Jobs and bare Pods, for which the controller has no
expected number and allows none. A budget of a closed world that covers no pod is left to `pdb-selects-nothing`.

kube-linter (`pdb-max-unavailable`), Polaris (`pdbDisruptionsIsZero`) and Popeye know the first form; what holds for
kinds without a scale, and what it does to the node, is added here.

## Why it matters

Every eviction is refused. Karpenter does not consolidate a node with such a pod, Cluster Autoscaler does not remove
it, an upgrade hangs, and an expired node without `terminationGracePeriod` is drained for ever.

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
  maxUnavailable: 0
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
metadata: {name: web, namespace: shop}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: web}}
```

## Options

None.

## References

- [Specifying a Disruption Budget](https://kubernetes.io/docs/tasks/run-application/configure-pdb/) - karpenter:D-31,
  karpenter:D-32, karpenter:D-33, scheduler:S-1643
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.pdb import Ruling, coverage_of
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each budget, at the field that blocks."""
    closed = facts.settings.world.workloads == "closed"
    for ruling in coverage_of(facts).rulings():
        budget = ruling.budget
        if ruling.blocked not in ("form", "no-scale", "unset") or budget.selector is None:
            continue
        if closed and not ruling.workloads:
            continue
        field = budget.max_unavailable or budget.min_available
        yield Finding(
            field.place if field else budget.place.at("spec"),
            _message(ruling),
            related=tuple(Related(f"it covers {w.id}", w.place) for w in ruling.workloads[:3]),
            repair=REPAIRS[ruling.blocked],
        )


REPAIRS = {
    "form": "allow one: maxUnavailable: 1",
    "unset": "set maxUnavailable: 1",
    "no-scale": "use minAvailable with a whole number, or no budget",
}


def _message(ruling: Ruling) -> str:
    budget = ruling.budget
    effect = "every node that one of its pods stands on can be neither drained nor consolidated"
    if ruling.blocked == "no-scale":
        kinds = " and ".join(sorted({w.kind for w in ruling.workloads}))
        return (
            f"{budget.name} covers pods of a {kinds}, for which no expected number is known: by maxUnavailable or by "
            f"percentage it allows no eviction at all, and {effect}."
        )
    if ruling.blocked == "unset":
        return f"{budget.name} has neither minAvailable nor maxUnavailable and allows no eviction: {effect}."
    field = budget.max_unavailable or budget.min_available
    name = "maxUnavailable" if budget.max_unavailable else "minAvailable"
    return f"{budget.name} allows no eviction ({name}: {field.place.value if field else ''}): {effect}."


RULE = Rule(
    name="pdb-blocks-all",
    topic="disruption",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("pdbs",),
)
