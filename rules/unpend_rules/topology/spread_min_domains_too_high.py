"""`minDomains` above the number of domains that there are.

## What it checks

`minDomains` of each `DoNotSchedule` constraint against the domains that the pods can reach. As long as there are fewer
than `minDomains`, every domain takes `maxSkew` pods and no more. Where all replicas still find a place that way it is a
warning. Silent where a pool may add domains that are not known, and for hostnames where nodes can be added.

## Why it matters

With two zones, `minDomains: 3` and `maxSkew: 1`, two replicas run and all others stay Pending.

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
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
          minDomains: 3
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
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
          minDomains: 2
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Topology spread constraints](https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/)
- [kubernetes-sigs/karpenter#2257](https://github.com/kubernetes-sigs/karpenter/issues/2257) - scheduler:S-806,
  scheduler:S-814, karpenter:T-12
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.domains import shown
from unpend.placement.spreading import spreadings
from unpend.rule import Facts, Finding, Rule, placement


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each such constraint, at its minDomains."""
    for one in spreadings(facts):
        domains, wanted = one.domains, one.constraint.min_domains
        if not one.is_hard or wanted is None or not one.itself or not domains.exact or not domains.reachable:
            continue
        count = len(domains.reachable) + len(domains.dead)
        if count >= wanted:
            continue
        there = shown(domains.reachable)
        noun = "domain" if count == 1 else "domains"
        start = f"minDomains is {wanted}, but {domains.key} has {count} {noun} here ({there})"
        short = one.needed > one.stuck_at
        yield Finding(
            one.constraint.place.at("minDomains"),
            f"{start}: {one.stuck_at} of {one.needed} replicas can run at once, {one.constraint.max_skew} in each."
            if short
            else f"{start}: more than {one.stuck_at} replicas can never run at once.",
            severity=None if short else "warning",
            certainty=one.verdict.certainty if one.short else "assumed",
            subject=placement(one.workload.id) if short else (),
            workload=one.workload.id,
            verdict="partial" if short else None,
            salient=domains.key,
            repair=f"lower minDomains to {count}" if count > 1 else "drop minDomains",
        )


RULE = Rule(
    name="spread-min-domains-too-high",
    topic="topology",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=42,
    competes=True,
    assumes_closed=("pools",),
    when=("spread",),
)
