"""nodeSelector and required node affinity of a pod exclude each other.

## What it checks

All constraints on one label key are put together: `nodeSelector` and every expression of a required node affinity term
must hold at once, while the terms are alternatives. If every alternative asks for something that no label value can be,
no node of any cluster can take the pod.

## Why it matters

The pod stays Pending with "node(s) didn't match Pod's node affinity/selector", whatever nodes there are or an autoscaler
could start. Most often two expressions that were meant as "this or that" stand in one term, where both must hold.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: topology.kubernetes.io/zone, operator: In, values: [eu-1a]}
                  - {key: topology.kubernetes.io/zone, operator: In, values: [eu-1b]}
      containers: [{name: web, image: web:1}]
```

## Instead

Name both values in one expression, or use two terms.

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: topology.kubernetes.io/zone, operator: In, values: [eu-1a, eu-1b]}
      containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Assigning Pods to Nodes](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/)
- scheduler:P-504, scheduler:P-505, scheduler:P-508, scheduler:P-510, scheduler:P-514
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.contradictions import dead_alternatives
from unpend.placement.demand import demand_of
from unpend.rule import Facts, Finding, Related, Rule, placement


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload all of whose alternatives are impossible, at the first of them."""
    for workload in facts.inventory.workloads:
        spec = workload.template.spec
        if spec.affinity.required is None:
            continue  # nodeSelector alone has one value a key and cannot contradict itself.
        demand = demand_of(facts.effective(workload))
        dead = list(dead_alternatives(demand))
        if not dead or len(dead) < len(demand.alternatives):
            continue
        first = dead[0][1]
        every = "" if len(dead) == 1 else f" (and each of the other {len(dead) - 1} terms is impossible too)"
        yield Finding(
            first.place,
            f"No node can match: {first.message}{every}.",
            related=tuple(Related(text, place) for text, place in first.others),
            subject=placement(workload.id),
            workload=workload.id,
            verdict="never",
            repair="put values that may stand for each other into one expression, or into terms of their own",
        )


RULE = Rule(
    name="contradictory-node-affinity",
    topic="labels",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    rank=10,
    competes=True,
)
