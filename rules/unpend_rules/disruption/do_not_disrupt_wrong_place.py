"""A do-not-disrupt on an object that Karpenter does not look at.

## What it checks

`karpenter.sh/do-not-disrupt` in the metadata of a workload that makes pods from a template, or of a NodePool itself,
where the template does not carry it.

## Why it matters

Karpenter reads the annotations of pods and nodes. On the Deployment or the NodePool it neither protects a pod nor
holds a node, although it looks as if it did. No other linter checks where it stands.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
  annotations:
    karpenter.sh/do-not-disrupt: "true"
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Instead

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations:
        karpenter.sh/do-not-disrupt: "true"
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Karpenter: Disruption](https://karpenter.sh/docs/concepts/disruption/) -
  [kubernetes-sigs/karpenter#1168](https://github.com/kubernetes-sigs/karpenter/issues/1168) - karpenter §9.3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.do_not_disrupt import DO_NOT_DISRUPT
from unpend.rule import Edit, Facts, Finding, Fix, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each annotation on the wrong object."""
    for workload in facts.inventory.workloads:
        mark = workload.annotations.get(DO_NOT_DISRUPT)
        if mark is None or not workload.template_path or DO_NOT_DISRUPT in workload.template.annotations:
            continue
        inner = workload.template.place.at("metadata", "annotations", DO_NOT_DISRUPT)
        move = (Edit("remove", mark.place), Edit("add", inner, mark.value))
        yield Finding(
            mark.place,
            f"On the {workload.kind} itself the annotation does nothing: Karpenter reads it on pods only.",
            workload=workload.id,
            fixes=(Fix("Move the annotation to the pod template", "unsafe", move),),
            repair=f"put it under {workload.template_path}.metadata.annotations",
        )
    for pool in facts.inventory.node_pools:
        mark = pool.annotations.get(DO_NOT_DISRUPT)
        if mark is not None and DO_NOT_DISRUPT not in pool.template_annotations:
            yield Finding(
                mark.place,
                "On the NodePool itself the annotation does nothing: Karpenter reads it on nodes.",
                repair="put it under spec.template.metadata.annotations",
            )


RULE = Rule(
    name="do-not-disrupt-wrong-place",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
)
