"""The liveness probe can end a container before its readiness probe is asked for the first time.

## What it checks

Containers without a startup probe whose liveness and readiness probes ask the same thing (the same path, port or command): the last failure
that liveness allows comes before the `initialDelaySeconds` of readiness has passed. Probes that ask different things are left alone: a program
may be alive long before it is ready. So are numbers that are not written as numbers.

kube-score (`pod-probes`, `pod-probes-identical`), Polaris, hardeneks and Datree ask whether probes are there; this
rule does not, it reckons with their numbers.

## Why it matters

The readiness delay says that the program may need that long. Until it answers, liveness fails too, and kubelet ends the container: it
never gets as far as being ready, and restarts over and over (CrashLoopBackOff), first of all on slow or cold nodes.

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
        - name: web
          image: example.com/web:1
          readinessProbe: {httpGet: {path: /healthz, port: 8080}, initialDelaySeconds: 60}
          livenessProbe: {httpGet: {path: /healthz, port: 8080}, initialDelaySeconds: 10, periodSeconds: 10, failureThreshold: 3}
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
        - name: web
          image: example.com/web:1
          startupProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 5, failureThreshold: 24}
          readinessProbe: {httpGet: {path: /healthz, port: 8080}}
          livenessProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 10, failureThreshold: 3}
```

## Options

None.

## References

- [Kubernetes: liveness, readiness and startup probes](https://kubernetes.io/docs/concepts/workloads/pods/probes/)
- [EKS Best Practices: reliability, probes](https://docs.aws.amazon.com/eks/latest/best-practices/application.html)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each such container."""
    for workload in facts.inventory.workloads:
        for container in workload.template.spec.containers:
            data = container.place.value
            if not isinstance(data, Mapping) or "livenessProbe" not in data or "readinessProbe" not in data:
                continue
            from unpend.startup.probes import probes_in
            from unpend.startup.stages import shown

            probes = probes_in(data, container.place)
            liveness, readiness = probes.liveness, probes.readiness
            if probes.startup is not None or liveness is None or readiness is None:
                continue
            if not (liveness.literal and readiness.literal) or liveness.handler is None:
                continue
            ends = liveness.gives_up + liveness.timeout
            if liveness.handler != readiness.handler or ends >= readiness.delay:
                continue
            assert liveness.place is not None
            assert readiness.place is not None
            yield Finding(
                liveness.place,
                f"Liveness ends container {container.name} after {shown(ends)}, before readiness is asked for the first time "
                f"({shown(readiness.delay)}); both ask the same thing.",
                related=(Related("readiness allows this long", readiness.place.at("initialDelaySeconds")),),
                workload=workload.id,
                repair="add a startupProbe, which liveness and readiness then wait for",
            )


RULE = Rule(
    name="liveness-before-startup",
    topic="cold-start",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
)
