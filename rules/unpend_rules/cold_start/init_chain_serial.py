"""Init containers run one after the other in front of every start.

## What it checks

Pods with at least `count` init containers, and init containers that wait in a loop for something else (`until … sleep`, `wait-for`,
`kubectl wait`). Sidecars among them count: the next one waits until a sidecar has started.

## Why it matters

Each init container is pulled, started and finished before the next one, on every node and at every restart of the pod. A loop that waits for
another service has no end of its own: the pod takes room on a node while it waits, and starts no earlier than what it waits for.

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
      initContainers:
        - {name: step-1, image: "example.com/step:1"}
        - {name: step-2, image: "example.com/step:1"}
        - {name: step-3, image: "example.com/step:1"}
        - {name: step-4, image: "example.com/step:1"}
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
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
      initContainers:
        - {name: step-1, image: "example.com/step:1"}
        - {name: step-2, image: "example.com/step:1"}
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
```

## Options

- `count` (4): the least number of init containers that is reported.

## References

- [Kubernetes: init containers](https://kubernetes.io/docs/concepts/workloads/pods/init-containers/)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Option, Rule
from unpend.startup.probes import waits


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each long chain, and for each loop that waits."""
    for workload in facts.inventory.workloads:
        spec = workload.template.spec
        if not spec.init_containers:
            continue
        count = len(spec.init_containers)
        if count >= options["count"]:
            yield Finding(
                spec.place.at("initContainers"),
                f"{count} init containers run one after the other before the pod starts.",
                workload=workload.id,
                salient="chain",
                repair="join them, or let what can start at the same time be sidecars",
            )
        for container in spec.init_containers:
            if container.role == "init" and waits(container.place.value):
                yield Finding(
                    container.place,
                    f"Init container {container.name} waits in a loop for something else: nothing bounds how long the pod takes to start.",
                    certainty="heuristic",
                    workload=workload.id,
                    salient=container.name,
                    repair="let the program itself retry, and tell by its readiness probe when it can serve",
                )


RULE = Rule(
    name="init-chain-serial",
    topic="cold-start",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    options=(Option("count", 4, "the least number of init containers that is reported", 2),),
    enabled=False,
    profiles=("strict",),
)
