"""A preStop hook that sleeps as long as the pod has to stop.

## What it checks

preStop hooks with a literal sleep (`sleep:` or a `sleep N` command outside conditions and loops) against
`terminationGracePeriodSeconds`, 30 when not written.

## Why it matters

The hook counts against the grace period. When it is used up the kubelet sends SIGTERM with two seconds left, then
SIGKILL: the application never gets to stop cleanly, in every rollout and every drain.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
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
          lifecycle: {preStop: {sleep: {seconds: 60}}}
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
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 90
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
          lifecycle: {preStop: {sleep: {seconds: 60}}}
```

## Options

None.

## References

- [Container Lifecycle Hooks](https://kubernetes.io/docs/concepts/containers/container-lifecycle-hooks/) - karpenter
  §9.8
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.drain import grace_place, grace_seconds, pre_stops
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each hook that leaves no time."""
    for workload in facts.inventory.workloads:
        spec = workload.template.spec
        for hook in pre_stops(spec):
            grace = grace_seconds(spec)
            if hook.seconds >= grace > 0:
                yield Finding(
                    hook.place,
                    f"The hook of {hook.container} sleeps {hook.seconds:g} s and the pod has {grace} s to stop: the "
                    "application is killed before it can end by itself.",
                    related=(Related("the grace period of the pod", grace_place(spec)),),
                    workload=workload.id,
                    repair=f"set terminationGracePeriodSeconds above {hook.seconds:g} plus the time that the application needs",
                )


RULE = Rule(
    name="prestop-exceeds-grace",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
)
