"""A do-not-disrupt that protects nothing, because of its value.

## What it checks

The value of `karpenter.sh/do-not-disrupt` on pods: `"true"`, or from Karpenter 1.12 on a positive Go duration (`30m`,
`4h`, `1h30m`). On nodes, which take it from the NodePool's template, durations are not read at all. `"false"` is a
hint.

## Why it matters

Anything else counts as if it were not there: the pod is evicted in the middle of what it was to be protected for.
Karpenter only leaves an event on the pod. No other linter looks at the value.

## Example

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
        karpenter.sh/do-not-disrupt: 4 hours
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
        karpenter.sh/do-not-disrupt: 4h
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Karpenter: Disruption](https://karpenter.sh/docs/concepts/disruption/) - karpenter:D-5, karpenter:D-20
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.do_not_disrupt import DO_NOT_DISRUPT, protection
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each value without effect."""
    for workload in facts.inventory.workloads:
        mark = workload.template.annotations.get(DO_NOT_DISRUPT)
        if mark is None:
            continue
        found = protection(mark.value, facts.settings.karpenter.version)
        if found.kind == "nothing":
            yield Finding(
                mark.place,
                f'"{mark.value}" protects nothing: {found.reason}.',
                severity="info" if mark.value == "false" else None,
                workload=workload.id,
            )
    for pool in facts.inventory.node_pools:
        mark = pool.template_annotations.get(DO_NOT_DISRUPT)
        if mark is not None and mark.value not in ("true", "false"):
            yield Finding(mark.place, f'"{mark.value}" protects nothing: on nodes only "true" counts.')


RULE = Rule(
    name="do-not-disrupt-invalid-duration",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
)
