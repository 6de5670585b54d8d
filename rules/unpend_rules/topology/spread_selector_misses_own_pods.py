"""A spread constraint that does not count the pods of its own workload.

## What it checks

Topology spread constraints whose `labelSelector` (with `matchLabelKeys`) does not match the labels of the pod template.
A constraint over the pods of another workload is read the same way; where it is meant, suppress the finding.

kube-score (`pod-topology-spread-constraints`) looks at the fields of a constraint; this rule also asks whether its
selector counts the pods that carry it.

## Why it matters

The pod is then placed by where other pods are: its own replicas may all share one zone. Mostly it is a copied selector.

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
          labelSelector: {matchLabels: {app: wep}}
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
- scheduler:S-811, scheduler:S-807, karpenter:T-16
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.selectors import matches
from unpend.algebra.values import from_expression
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each constraint, at the first part of its selector that the pod does not meet."""
    for workload in facts.inventory.workloads:
        spec = workload.template.spec
        if not spec.spread:
            continue
        pod = facts.effective(workload)
        if pod.refusals or workload.unknown:
            continue
        labels = pod.labels
        for constraint in spec.spread:
            selector = constraint.selector
            if selector is None or matches(selector.expressions, labels):
                continue
            wrong = next(
                e for e in selector.expressions if not from_expression(e.operator, e.values).admits(labels.get(e.key))
            )
            own = workload.template.labels.get(wrong.key)
            if own is None and wrong.key in _SET_BY_CONTROLLERS:
                continue
            has = f"{wrong.key}={own.value}" if own is not None else f"no label {wrong.key}"
            hard = constraint.when_unsatisfiable == "DoNotSchedule"
            yield Finding(
                wrong.place,
                f"The selector of this spread over {constraint.topology_key} does not match the pods themselves, which "
                f"have {has}: they are placed by where other pods are, and nothing keeps them apart.",
                related=(Related("the label of the pods", own.place),) if own is not None else (),
                severity=None if hard else "info",
                workload=workload.id,
                salient=f"{constraint.topology_key} {wrong.key}",
                repair="select the labels of the pod template",
            )


_SET_BY_CONTROLLERS = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-completion-index",
        "batch.kubernetes.io/job-name",
        "controller-revision-hash",
        "controller-uid",
        "job-name",
        "pod-template-hash",
        "statefulset.kubernetes.io/pod-name",
    }
)


RULE = Rule(
    name="spread-selector-misses-own-pods",
    topic="topology",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    when=("spread",),
)
