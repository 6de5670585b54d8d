"""A limit that is many times its request.

## What it checks

Limit ÷ request of cpu and memory for each container, against a highest ratio per resource. Where
`non-cpu-request-limit-mismatch` speaks of the same value, this rule is silent.

Gatekeeper's `K8sContainerRatios` refuses one ratio for all resources at admission; this rule has one per resource and
needs no cluster.

## Why it matters

Schedulers and autoscalers look at requests only. A limit of thirty times the request says that nobody knows what the
container needs: nodes are packed by the small number and run by the large one.

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
            requests: {cpu: 100m, memory: 128Mi}
            limits:
              cpu: "4"
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
          resources:
            requests: {cpu: "1", memory: 128Mi}
            limits: {cpu: "4"}
```

## Options

- `cpu-ratio` (number, default 10): the highest limit ÷ request of cpu. - `memory-ratio` (number, default 4): the same
  for memory.

## References

- [Resource Management for Pods and
  Containers](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/) - scheduler:P-712
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.limits import limits_above
from unpend.rule import Facts, Finding, Option, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each limit above the ratio of its resource."""
    for workload in facts.inventory.workloads:
        for one in limits_above(workload.template.spec):
            highest = options.get(f"{one.resource}-ratio")
            if highest is not None and one.limit.milli > highest * one.request.milli:
                yield Finding(
                    one.limit.place,
                    f"The {one.resource} limit {one.limit.text} is {one.ratio} the request {one.request.text}, more than "
                    f"{highest} times: nodes are chosen and packed by the request.",
                    related=(Related("the request", one.request.place),),
                    subject=("limit-above-request", f"{id(workload.object):x}", str(one.limit.place)),
                    workload=workload.id,
                    repair="raise the request to what the container needs under load",
                )


RULE = Rule(
    name="limit-request-ratio-high",
    topic="resources",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    options=(
        Option("cpu-ratio", 10.0, "the highest limit divided by request of cpu", 1),
        Option("memory-ratio", 4.0, "the highest limit divided by request of memory", 1),
    ),
    enabled=False,
    profiles=("cost", "reliability"),
    rank=20,
    competes=True,
)
