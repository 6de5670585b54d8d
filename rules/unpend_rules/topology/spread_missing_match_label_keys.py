"""A hard spread that counts the old and the new pods of a rollout together.

## What it checks

`DoNotSchedule` constraints over the pods of the Deployment itself, without `pod-template-hash` in `matchLabelKeys`. Silent
for `Recreate`, for StatefulSets (they replace pod by pod), for one replica, for Kubernetes before 1.27 and where the
selector looks at the revision already.

## Why it matters

While the old pods still run they count. The new revision can end uneven, and where a zone is full the new pods wait for
old ones to go.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
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

## Instead

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
          matchLabelKeys: [pod-template-hash]
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Topology spread constraints](https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/)
- scheduler:S-817, scheduler:S-818, karpenter:T-17, karpenter:T-20
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.needed import autoscalers_by_target, replicas_of
from unpend.placement.peers import means_itself
from unpend.placement.replicas.update import surge_of
from unpend.rule import Facts, Finding, Rule

HASH = "pod-template-hash"


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each such constraint."""
    if facts.settings.kubernetes < (1, 27):
        return
    autoscalers = autoscalers_by_target(facts.inventory)
    for workload in facts.inventory.workloads:
        spec = workload.template.spec
        if not spec.spread or workload.kind != "Deployment":
            continue
        replicas = replicas_of(workload, autoscalers.get((workload.kind, workload.namespace, workload.name)))
        surge = surge_of(workload, replicas.needed)
        if surge is None or not surge.extra or replicas.needed < 2:
            continue
        pod = facts.effective(workload)
        for constraint in spec.spread:
            told_apart = HASH in constraint.match_label_keys or any(
                e.key == HASH for e in (constraint.selector.expressions if constraint.selector else ())
            )
            if constraint.when_unsatisfiable != "DoNotSchedule" or told_apart:
                continue
            selector = constraint.selector
            if selector is None or not selector.expressions or not means_itself(pod, selector):
                continue
            yield Finding(
                constraint.place,
                f"During a rollout the old and the new pods count together for this spread over {constraint.topology_key}: "
                "the new ones may end uneven, or wait for old ones to go.",
                workload=workload.id,
                salient=constraint.topology_key,
                repair=f"add matchLabelKeys: [{HASH}]",
            )


RULE = Rule(
    name="spread-missing-match-label-keys",
    topic="topology",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    enabled=False,
    profiles=("reliability",),
    when=("spread",),
)
