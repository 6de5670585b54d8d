"""A spread that counts tainted nodes which its pods do not tolerate.

## What it checks

`DoNotSchedule` constraints with `nodeTaintsPolicy` Ignore (the default), where tainted nodes add a domain that the pods
cannot reach. It is a warning where an autoscaler may ask for more replicas than the other domains take, and a hint
otherwise; replicas that surely find no place already are the matter of `spread-domains-unreachable`.

## Why it matters

The tainted domain stays empty and holds the minimum at zero: every other domain takes `maxSkew` pods, and scaling up stops
there.

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
spec:
  taints: [{key: gpu, effect: NoSchedule}]
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 10
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
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
apiVersion: v1
kind: Node
metadata:
  name: n3
  labels: {kubernetes.io/hostname: n3, topology.kubernetes.io/zone: c}
spec:
  taints: [{key: gpu, effect: NoSchedule}]
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 10
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
          nodeTaintsPolicy: Honor
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Topology spread constraints](https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/)
- [kubernetes-sigs/karpenter#2623](https://github.com/kubernetes-sigs/karpenter/issues/2623) - scheduler:S-804,
  scheduler:S-813
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.domains import shown, topology_of
from unpend.placement.needed import autoscalers_by_target
from unpend.placement.spreading import spreadings
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each such constraint."""
    autoscalers = autoscalers_by_target(facts.inventory)
    topology = topology_of(facts)
    for one in spreadings(facts):
        constraint, domains = one.constraint, one.domains
        if not one.is_hard or not one.itself or constraint.node_taints_policy == "Honor" or one.short is not None:
            continue
        if not domains.dead or not domains.reachable or not domains.exact or one.needed > one.stuck_at:
            continue
        honest = topology.of(one.workload, domains.key, constraint.node_affinity_policy, "Honor")
        tainted = tuple(d for d in domains.dead if d not in honest.dead)
        if not tainted:
            continue
        workload = one.workload
        autoscaler = autoscalers.get((workload.kind, workload.namespace, workload.name))
        most = max(one.needed, autoscaler.maximum or 0) if autoscaler is not None else one.needed
        yield Finding(
            constraint.place,
            f"{domains.key} {shown([d.value for d in tainted])} counts for this spread, and its taints keep the pods away: "
            f"the other domains take {constraint.max_skew} each, {one.stuck_at} in all.",
            related=tuple(Related(f"{d.value} comes from {d.pool}", d.place) for d in tainted[:3]),
            severity=None if most > one.stuck_at else "info",
            certainty="assumed",
            workload=workload.id,
            salient=domains.key,
            repair="set nodeTaintsPolicy: Honor",
        )


RULE = Rule(
    name="spread-counts-tainted-domains",
    topic="topology",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    assumes_closed=("pools",),
    when=("spread",),
)
