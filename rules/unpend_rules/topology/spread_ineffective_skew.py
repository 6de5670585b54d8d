"""A spread that lets all replicas share one domain.

## What it checks

Constraints over the pods of the workload itself whose `maxSkew` is at least the number of replicas (of an autoscaler's
minimum, where one scales it): all of them may be in one zone, or on one node. Silent where the number of replicas is
not written and nothing scales the workload, and for one replica.

## Why it matters

The constraint looks like protection and gives none until there are more pods than its skew.

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
        - maxSkew: 5
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
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
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Topology spread constraints](https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/)
- [aws/karpenter-provider-aws#3800](https://github.com/aws/karpenter-provider-aws/issues/3800) - scheduler:S-807,
  scheduler:S-812
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.needed import autoscalers_by_target, replicas_of
from unpend.placement.peers import counts_itself
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each constraint, at its maxSkew."""
    autoscalers = autoscalers_by_target(facts.inventory)
    for workload in facts.inventory.workloads:
        spec = workload.template.spec
        if not spec.spread or workload.kind not in ("Deployment", "StatefulSet", "ReplicaSet"):
            continue
        autoscaler = autoscalers.get((workload.kind, workload.namespace, workload.name))
        replicas = replicas_of(workload, autoscaler).needed
        if (workload.replicas is None and autoscaler is None) or replicas < 2:
            continue
        pod = facts.effective(workload)
        for constraint in spec.spread:
            if constraint.max_skew < replicas or not counts_itself(pod, constraint.selector):
                continue
            where = autoscaler.place if autoscaler is not None else workload.replicas_place
            yield Finding(
                constraint.place.at("maxSkew"),
                f"maxSkew {constraint.max_skew} lets all {replicas} replicas share one {constraint.topology_key}: "
                "it spreads nothing.",
                related=(Related(f"{replicas} replicas", where),) if where is not None else (),
                workload=workload.id,
                salient=constraint.topology_key,
                repair="set maxSkew to 1",
            )


RULE = Rule(
    name="spread-ineffective-skew",
    topic="topology",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    enabled=False,
    profiles=("reliability",),
    when=("spread",),
)
