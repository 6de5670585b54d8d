"""Probes make up most of a start: a long fixed delay, or a start that may last minutes.

## What it checks

Containers whose startup or readiness probe has an `initialDelaySeconds` of at least `delay`: nobody is served before, however fast the program
is. And startup probes that allow at least `longest` seconds (delay + period × threshold): with a rolling update that goes on pod by pod,
the update lasts as many times that.

kube-score (`pod-probes`), Polaris, hardeneks and Datree ask whether probes are there; this rule does not, it adds up
the time that they cost.

## Why it matters

A fixed delay is waited for by every start. A startup probe asks early and often and ends the wait as soon as the program answers; what it
allows at most is how long a pod that hangs goes unnoticed.

## Example

```yaml
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: example.com/web:1
          startupProbe: {httpGet: {path: /ready, port: 8080}, periodSeconds: 5, failureThreshold: 62}
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
          startupProbe: {httpGet: {path: /ready, port: 8080}, periodSeconds: 2, failureThreshold: 30}
```

## Options

- `delay` (20): the least `initialDelaySeconds` that is reported.
- `longest` (120): the least number of seconds that a startup probe allows.

## References

- [Kubernetes: liveness, readiness and startup probes](https://kubernetes.io/docs/concepts/workloads/pods/probes/)
- [Kubernetes: rolling updates](https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import IntOrPercent, Workload
from unpend.rule import Facts, Finding, Option, Rule
from unpend.startup.probes import Probe, probes_of
from unpend.startup.stages import shown


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each delay and each long startup probe."""
    for workload in facts.inventory.workloads:
        for container in workload.template.spec.containers:
            probes = probes_of(container)
            for probe in (probes.startup, probes.readiness):
                if probe is None or not probe.literal or probe.place is None or probe.delay < options["delay"]:
                    continue
                yield Finding(
                    probe.place.at("initialDelaySeconds"),
                    f"Container {container.name} is not ready before {probe.delay:.0f} s have passed, however fast it starts.",
                    workload=workload.id,
                    repair="use a startupProbe with a short period instead of the delay",
                )
            startup = probes.startup
            if startup is None or not startup.literal or startup.longest < options["longest"]:
                continue
            yield Finding(
                probes.startup.place if probes.startup and probes.startup.place else container.place,
                _long(container.name, startup, workload),
                workload=workload.id,
                repair="make the start faster, or allow only what it takes",
            )


def _long(name: str, probe: Probe, workload: Workload) -> str:
    delay = f"{probe.delay:.0f} s + " if probe.delay else ""
    text = (
        f"Container {name} may take {shown(probe.longest)} to start ({delay}{probe.failures} x {probe.period:.0f} s) before it counts as "
        "failed"
    )
    strategy = workload.strategy
    replicas = 1 if workload.replicas is None else workload.replicas
    if strategy is None or strategy.kind != "RollingUpdate" or workload.kind != "Deployment" or replicas < 2:
        return text + "."
    surge, unavailable = _number(strategy.max_surge, replicas, True), _number(strategy.max_unavailable, replicas, False)
    at_once = max(1, surge + unavailable)
    rounds = -(-replicas // at_once)
    if rounds < 2:
        return text + "."
    return (
        f"{text}; an update of {replicas} replicas with maxSurge {surge} and maxUnavailable {unavailable} goes through {rounds} such "
        f"starts one after the other, up to {shown(rounds * probe.longest)}."
    )


def _number(value: IntOrPercent | None, replicas: int, up: bool) -> int:
    """How many pods a bound means; 25 % where it is not written. Percentages of the surge are rounded up, others down."""
    if value is not None and value.number is not None:
        return value.number
    percent = 25 if value is None or value.percent is None else value.percent
    return -(-replicas * percent // 100) if up else replicas * percent // 100


RULE = Rule(
    name="slow-probe-path",
    topic="cold-start",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    options=(
        Option("delay", 20, "the least initialDelaySeconds that is reported", 1),
        Option("longest", 120, "the least number of seconds that a startup probe allows", 1),
    ),
    enabled=False,
    profiles=("strict",),
)
