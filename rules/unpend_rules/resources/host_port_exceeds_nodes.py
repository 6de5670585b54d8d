"""More replicas than nodes, and each needs a host port of its own.

## What it checks

Workloads with `hostPort`, or `hostNetwork` with container ports (which makes each of them a host port), whose replicas
surely outnumber the nodes that have the port free: because there are too few, or because a DaemonSet takes it on all of
them. Silent where nodes can be added without a bound.

## Why it matters

A port of a node is taken once: "node(s) didn't have free ports for the requested pod ports". The other replicas stay Pending.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: v1
kind: Node
metadata:
  name: n2
  labels: {kubernetes.io/hostname: n2, topology.kubernetes.io/zone: a}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web:1, ports: [{containerPort: 80, hostPort: 80}]}]
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: v1
kind: Node
metadata:
  name: n2
  labels: {kubernetes.io/hostname: n2, topology.kubernetes.io/zone: a}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web:1, ports: [{containerPort: 80}]}]
```

## Options

None.

## References

- [Configuration best practices](https://kubernetes.io/docs/concepts/configuration/overview/)
- scheduler:S-602, scheduler:S-604, scheduler:A-205
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.domains import shortfall
from unpend.rule import Facts, Finding, Related, Rule, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at the port."""
    for workload in facts.inventory.workloads:
        if workload.kind == "DaemonSet":
            continue
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or shortfall(verdict) != "ports":
            continue
        pod = facts.effective(workload)
        ports = [port for port in pod.host_ports if port.host_port]
        if not ports:
            continue
        counts, port = verdict.replicas, ports[0]
        written = any(p.host_port for c in workload.template.spec.containers for p in c.ports)
        by_network = pod.spec.host_network and not written
        why = "hostNetwork makes its container port a host port" if by_network else "each takes it on its node"
        taken = next((o for o in verdict.conflict if o.constraint == "hostPort"), None)
        if counts.at_most <= 0:
            why = taken.message if taken is not None else "others have it"
        size = workload.replicas_place if workload.replicas is not None else None
        related = (Related(f"{counts.needed} replicas", size),) if size is not None else ()
        if taken is not None and taken.against is not None:
            related = (Related(f"of {taken.against.object}", taken.against.place),)
        yield unplaced(
            verdict,
            workload.template.spec.place.at("hostNetwork") if by_network else port.place,
            f"{counts.at_most} of {counts.needed} replicas find a node with port {port.host_port} free: {why}.",
            related,
            repair=f"drop the host port, or run {counts.at_most} replicas"
            if counts.at_most > 0
            else "use another port",
        )


RULE = Rule(
    name="host-port-exceeds-nodes",
    topic="resources",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=50,
    competes=True,
    assumes_closed=("pools",),
)
