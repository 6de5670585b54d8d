"""A container without a cpu or memory request.

## What it checks

Containers and sidecars whose effective pod has no cpu or no memory request, after limits, defaults of a LimitRange
and pod-level resources; containers of a workload that lack the same are one finding. Workloads whose requests a
VerticalPodAutoscaler sets are left out.

kube-linter (`unset-cpu-requirements`), Polaris (`cpuRequestsMissing`), kube-score (`container-resources`) also ask
for limits and do not see a LimitRange; this rule asks for requests only, since these are what nodes are chosen by.

## Why it matters

kube-scheduler and every autoscaler take such a container for weightless: any number of them fits on any node, no node
is ever added for them, and when memory runs out they are killed first. Every verdict here is blind for them too.

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
          resources: {requests: {cpu: 100m}}
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
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

- `resources` (list): the resources that have to be requested; default cpu and memory.

## References

- [Resource Management for Pods and
  Containers](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/) - scheduler:P-712,
  scheduler:A-204
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.autoscaling import Target, Vertical, verticals
from unpend.model.inventory import Workload
from unpend.model.pod import Container
from unpend.rule import Facts, Finding, Option, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for the containers of a workload that lack the same requests."""
    vertical: dict[Target, Vertical] = facts.memo("verticals", lambda: verticals(facts.inventory))
    for workload in facts.inventory.workloads:
        # What the API refuses, such as a patch for Kustomize, is no whole workload.
        if workload.refusals or (workload.kind, workload.namespace, workload.name) in vertical:
            continue
        spec = workload.template.spec
        if all(all(r in c.requests for r in options["resources"]) for c in spec.containers):
            continue
        admitted = facts.effective(workload).spec
        lacking: dict[tuple[str, ...], list[Container]] = {}
        for written, container in zip(spec.containers, admitted.containers, strict=False):
            missing = tuple(
                r for r in options["resources"] if r not in container.requests and r not in admitted.pod_requests
            )
            if missing:
                lacking.setdefault(missing, []).append(written)
        for missing, containers in lacking.items():
            yield _finding(workload, missing, containers, every=len(missing) == len(options["resources"]))


def _finding(workload: Workload, missing: tuple[str, ...], containers: list[Container], *, every: bool) -> Finding:
    """A finding at the first of the containers; the others are related."""
    names = " and ".join(filter(None, (", ".join(c.name for c in containers[:-1]), containers[-1].name)))
    who, many = (
        (f"Container {names} requests", False) if len(containers) == 1 else (f"Containers {names} request", True)
    )
    if not every:
        effect = f"what {'they need' if many else 'it needs'} of it counts for nothing when nodes are chosen"
    else:
        effect = f"{'they count' if many else 'it counts'} as weightless when nodes are chosen"
        # No node is ever added for a pod of a DaemonSet.
        if workload.kind != "DaemonSet":
            effect += f", and no node is added for {'them' if many else 'it'}"
    return Finding(
        containers[0].place.at("resources"),
        f"{who} no {' and no '.join(missing)}: {effect}.",
        related=tuple(Related(f"container {c.name}", c.place.at("resources")) for c in containers[1:]),
        workload=workload.id,
        salient=f"{' '.join(c.name for c in containers)} {' '.join(missing)}",
        repair=f"request what the container{'s need' if many else ' needs'} under load",
    )


RULE = Rule(
    name="missing-requests",
    topic="resources",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    options=(Option("resources", ("cpu", "memory"), "the resources that have to be requested"),),
)
