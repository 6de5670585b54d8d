"""A spread constraint without a selector: it counts no pods.

## What it checks

Topology spread constraints without `labelSelector`. (An empty one, `{}`, is another thing: kube-scheduler counts nothing
for it either, Karpenter all pods of the namespace.)

kube-score (`pod-topology-spread-constraints`) also looks at the fields of a constraint; the rules `spread-*` go on to
compare it with the pods it counts and with the domains that the pools offer.

## Why it matters

Nothing is spread: of the constraint only "the node has the label" is left. And because the pod has a constraint of its
own, the cluster's default constraints do not apply to it.

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
          whenUnsatisfiable: DoNotSchedule
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
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Topology spread constraints](https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/)
- scheduler:S-810, scheduler:S-802, karpenter:T-16
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each constraint without a selector."""
    for workload in facts.inventory.workloads:
        for constraint in workload.template.spec.spread:
            selector = constraint.selector
            if selector is not None and selector.expressions:
                continue
            empty = selector is not None
            yield Finding(
                selector.place if selector is not None else constraint.place,
                "An empty labelSelector counts no pods for kube-scheduler, and all pods of the namespace for Karpenter: "
                "the replicas are not spread."
                if empty
                else f"This spread over {constraint.topology_key} has no labelSelector: it counts no pods and spreads none.",
                workload=workload.id,
                salient=constraint.topology_key,
                repair="select the labels of the pod template",
            )


RULE = Rule(
    name="spread-selector-missing",
    topic="topology",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    when=("spread",),
)
