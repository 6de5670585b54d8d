"""A spread over a key that has one value for these pods.

## What it checks

Constraints over the pods of a workload of several replicas, where all nodes that take them share one value of the key.
With `ScheduleAnyway` it is a hint. Silent where other values may come (unknown zones, hostnames of pools that grow).

## Why it matters

There is nothing to spread over: all replicas are in one zone, or on one node, although the manifest asks for the opposite.

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
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
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
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Topology spread constraints](https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/)
- scheduler:S-805
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.spreading import spreadings
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each such constraint."""
    for one in spreadings(facts):
        domains = one.domains
        if not one.itself or one.needed < 2 or not domains.exact or len(domains.reachable) != 1 or domains.dead:
            continue
        if (one.constraint.min_domains or 1) > 1 or domains.lacking or one.short is not None:
            continue
        yield Finding(
            one.constraint.place,
            f"All nodes that take the pods have {domains.key}={domains.reachable[0]}: the {one.needed} replicas are spread "
            "over one domain.",
            severity=None if one.is_hard else "info",
            certainty="assumed",
            workload=one.workload.id,
            salient=domains.key,
            repair="give the pods nodes in a second domain, or spread over another key",
        )


RULE = Rule(
    name="spread-single-domain",
    topic="topology",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    assumes_closed=("pools",),
    when=("spread",),
)
