"""An autoscaler's maximum that required anti-affinity over zones never allows.

## What it checks

HorizontalPodAutoscalers and ScaledObjects whose maximum is above the number of zones that the pods reach, where required
anti-affinity keeps any two of them from sharing a zone. Silent where the zones are not all known.

## Why it matters

Scaling stops at the number of zones. The replicas above it stay Pending, and the load that called for them stays.

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
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
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

## Options

None.

## References

- [Inter-pod affinity and anti-affinity](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/)
- scheduler:S-923, karpenter:T-41
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.karpenter_labels import ZONE
from unpend.placement.domains import shortfall, shown, topology_of
from unpend.placement.needed import autoscalers_by_target
from unpend.placement.peers import apart_from_itself
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each autoscaler, at its maximum."""
    autoscalers = autoscalers_by_target(facts.inventory)
    for workload in facts.inventory.workloads:
        autoscaler = autoscalers.get((workload.kind, workload.namespace, workload.name))
        verdict = facts.verdicts.get(workload.id)
        if autoscaler is None or not autoscaler.maximum or verdict is None or shortfall(verdict) is not None:
            continue
        if verdict.verdict not in ("fits", "conditional"):
            continue
        term = next(apart_from_itself(facts.effective(workload), ZONE), None)
        if term is None:
            continue
        domains = topology_of(facts).of(workload, ZONE)
        zones = domains.reachable
        if (
            not domains.exact
            or not zones
            or domains.lacking
            or not verdict.replicas.needed <= len(zones) < autoscaler.maximum
        ):
            continue
        yield Finding(
            autoscaler.place.at("spec", "maxReplicas" if autoscaler.kind != "ScaledObject" else "maxReplicaCount"),
            f"No two of the pods may share a zone, and there are {len(zones)} ({shown(zones)}): of {autoscaler.maximum} "
            f"replicas {autoscaler.maximum - len(zones)} would stay Pending.",
            related=(Related("the anti-affinity", term.place),),
            certainty="assumed",
            subject=("maximum", workload.id),
            workload=workload.id,
            repair="make the anti-affinity preferred, or spread over zones instead",
        )


RULE = Rule(
    name="zone-anti-affinity-caps-hpa",
    topic="autoscaling",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools", "autoscalers"),
    rank=40,
    competes=True,
    assumes_closed=("pools",),
)
