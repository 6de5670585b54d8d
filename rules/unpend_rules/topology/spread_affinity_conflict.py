"""Rules about other pods that cannot hold together for all replicas.

## What it checks

Workloads some of whose replicas surely find no place, while several rules about other pods are in play: two hard
topology spread constraints, or one beside required pod affinity or anti-affinity. It speaks when no single one of them
is to blame (too few domains, a label that is missing, a target that is not there).

## Why it matters

Each rule alone could be met; the pods in excess stay Pending with "didn't match pod topology spread constraints" or "didn't
match pod affinity rules", and adding nodes of the same kind does not help.

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
apiVersion: v1
kind: Node
metadata:
  name: n3
  labels: {kubernetes.io/hostname: n3, topology.kubernetes.io/zone: b}
status: {allocatable: {cpu: "1", memory: 16Gi, pods: "58"}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 6
  maxReplicas: 9
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
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 500m}}}]
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
apiVersion: v1
kind: Node
metadata:
  name: n3
  labels: {kubernetes.io/hostname: n3, topology.kubernetes.io/zone: b}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 6
  maxReplicas: 9
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
        - maxSkew: 2
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: {matchLabels: {app: web}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 500m}}}]
```

## Options

None.

## References

- [Topology spread constraints](https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/)
- [aws/karpenter-provider-aws#3239](https://github.com/aws/karpenter-provider-aws/issues/3239)
- Kivi: Verification for Cluster Management, USENIX ATC 2024 - scheduler:S-807, scheduler:S-812, scheduler:S-925,
  karpenter:T-14
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.pod import PodSpec
from unpend.placement.domains import shortfall
from unpend.rule import Facts, Finding, Related, Rule, placement
from unpend.source.place import Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at the first of its rules."""
    for workload in facts.inventory.workloads:
        rules = _rules(workload.template.spec)
        if len(rules) < 2:
            continue
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or shortfall(verdict) not in ("topology", "affinity"):
            continue
        counts = verdict.replicas
        (first, _), *others = rules
        names = ", ".join(dict.fromkeys(name for _, name in rules))
        yield Finding(
            first,
            f"{counts.at_most} of {counts.needed} replicas can run at once: {names} cannot hold together for more on "
            "these nodes.",
            related=tuple(Related(name, place) for place, name in others),
            certainty=verdict.certainty,
            subject=placement(workload.id),
            workload=workload.id,
            verdict=verdict.verdict,
            repair="make one of them soft, or widen its skew",
        )


def _rules(spec: PodSpec) -> list[tuple[Place, str]]:
    found = [
        (c.place, f"the spread over {c.topology_key}") for c in spec.spread if c.when_unsatisfiable == "DoNotSchedule"
    ]
    found += [(t.place, f"the pod affinity over {t.topology_key}") for t in spec.affinity.pod_required]
    found += [(t.place, f"the pod anti-affinity over {t.topology_key}") for t in spec.affinity.anti_required]
    return found


RULE = Rule(
    name="spread-affinity-conflict",
    topic="topology",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=70,
    competes=True,
    assumes_closed=("pools",),
    when=("spread",),
)
