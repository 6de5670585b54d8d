"""A percentage that, rounded up, keeps all pods.

## What it checks

`minAvailable` as a percentage at the fewest replicas: the minimum of an HPA or ScaledObject, else `replicas`. The
disruption controller rounds up what has to stay. Polaris and kube-linter compare numbers only.

## Why it matters

75% of three pods are 2.25, so three have to stay and none may ever go. `maxUnavailable` is rounded up too, and so
always lets at least one go.

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
  minAvailable: 75%
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
  maxUnavailable: 25%
  selector: {matchLabels: {app: web}}
```

## Options

None.

## References

- [How percentages are
  rounded](https://kubernetes.io/docs/tasks/run-application/configure-pdb/#rounding-logic-when-specifying-percentages)
  - karpenter:D-31, scheduler:S-1643
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.pdb import coverage_of
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each budget, at `minAvailable`."""
    for ruling in coverage_of(facts).rulings():
        field = ruling.budget.min_available
        if ruling.blocked == "rounding" and field is not None and field.percent is not None:
            exact = f"{ruling.expected * field.percent / 100:g}"
            rounded = "" if exact == str(ruling.healthy) else f", rounded up {ruling.healthy}"
            yield Finding(
                field.place,
                f"{field.percent}% of {ruling.expected} {'pod is' if ruling.expected == 1 else 'pods are'} {exact}{rounded}: "
                f"{ruling.budget.name} never lets one go, and its node can be neither drained nor consolidated.",
                related=tuple(Related(f"it covers {w.id}", w.replicas_place or w.place) for w in ruling.workloads[:3]),
                repair="use maxUnavailable, which always allows at least one",
            )


RULE = Rule(
    name="pdb-percent-rounds-to-zero",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("pdbs", "workloads"),
)
