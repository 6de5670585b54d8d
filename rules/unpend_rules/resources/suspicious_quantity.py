"""An amount that was probably meant in another unit.

## What it checks

Requests and limits: memory and storage below `smallest-memory` (such as `512m`, half a byte, or `128`, 128 bytes),
and cpu of `largest-cpu` or more cores (such as `500` for 500m, or `2M` for two million).

## Why it matters

`m` is thousandths for every resource, memory included: 512m of memory is less than a byte. The pod is placed anywhere
and killed at once. A cpu without its `m` asks for a thousand times as much and fits on no node. Schema validators
accept both.

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
          resources:
            requests:
              cpu: 100m
              memory: 512m
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
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 512Mi}}
```

## Options

- `smallest-memory` (quantity, default 1Mi): memory and storage below it are reported. - `largest-cpu` (cores, default
  200): cpu from it on is reported.

## References

- [Resource units in
  Kubernetes](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#resource-units-in-kubernetes)
  - scheduler:A-742
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.quantity import milli
from unpend.rule import Facts, Finding, Option, Rule

BYTES = ("memory", "ephemeral-storage")


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each amount that nobody means."""
    least, most = milli(options["smallest-memory"]), options["largest-cpu"] * 1000
    for workload in facts.inventory.workloads:
        spec = workload.template.spec
        for container in (*spec.containers, *spec.init_containers):
            for amounts in (container.requests, container.limits):
                for resource, amount in amounts.items():
                    why = None
                    if resource in BYTES and 0 < amount.milli < least:
                        from decimal import Decimal

                        why = f"{Decimal(amount.milli) / 1000:f} bytes of {resource}"
                    elif resource == "cpu" and amount.milli >= most:
                        why = f"{amount.milli // 1000} cores"
                    if why:
                        yield Finding(
                            amount.place,
                            f"{amount.text} is {why}; {hint(amount.text, resource)}",
                            workload=workload.id,
                            salient=amount.text,
                        )


def hint(text: str, resource: str) -> str:
    """What was probably meant."""
    number = text.rstrip("mMkKGgi")
    if resource == "cpu":
        return f"did you mean {number}m?"
    return f"did you mean {number}Mi?"


RULE = Rule(
    name="suspicious-quantity",
    topic="resources",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    options=(
        Option("smallest-memory", "1Mi", "memory and storage below it are reported"),
        Option("largest-cpu", 200, "cores from which on cpu is reported", 1),
    ),
)
