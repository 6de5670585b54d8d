"""Fewer replicas than zones, although the pods are to be spread over zones.

## What it checks

Workloads with a zone spread over their own pods, hard or soft, and fewer replicas (an autoscaler's minimum counts) than
zones that the pods can reach.

kube-linter (`minimum-replicas`), kube-score (`deployment-replicas`), Polaris (`deploymentMissingReplicas`) and
hardeneks (`run_multiple_replicas`) compare with a fixed number; this rule compares with the zones that the workload
can use.

## Why it matters

Some zones have no replica. One that is lost takes a larger share of the capacity with it, and traffic crosses zones.

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
  labels: {kubernetes.io/hostname: n2, topology.kubernetes.io/zone: b}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: v1
kind: Node
metadata:
  name: n3
  labels: {kubernetes.io/hostname: n3, topology.kubernetes.io/zone: c}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: {matchLabels: {app: web}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
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
  labels: {kubernetes.io/hostname: n2, topology.kubernetes.io/zone: b}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: v1
kind: Node
metadata:
  name: n3
  labels: {kubernetes.io/hostname: n3, topology.kubernetes.io/zone: c}
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
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: {matchLabels: {app: web}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [EKS best practices: reliability](https://docs.aws.amazon.com/eks/latest/best-practices/application.html)
- scheduler:S-805
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.karpenter_labels import ZONE
from unpend.placement.domains import shown
from unpend.placement.spreading import spreadings
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its replicas."""
    for one in spreadings(facts):
        zones = one.domains.reachable
        if one.domains.key != ZONE or not one.itself or not one.domains.exact or not 0 < one.needed < len(zones):
            continue
        workload = one.workload
        yield Finding(
            one.constraint.place if workload.replicas is None else workload.replicas_place or workload.place,
            f"{one.needed} {'replica is' if one.needed == 1 else 'replicas are'} spread over {len(zones)} zones "
            f"({shown(zones)}): some have none.",
            workload=workload.id,
            repair=f"run at least {len(zones)} replicas",
        )


RULE = Rule(
    name="replicas-fewer-than-zones",
    topic="topology",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    enabled=False,
    profiles=("reliability",),
)
