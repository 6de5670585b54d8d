"""Required anti-affinity among more replicas than there are domains.

## What it checks

Required pod anti-affinity that means the pods of the workload itself: no two of them share a domain, so there can be as
many replicas as domains that they reach. Hostnames are bounded where no node can be added. Silent where domains are not
known, or where some node lacks the key (it takes any number).

## Why it matters

The replicas in excess stay Pending for ever: "node(s) didn't match pod anti-affinity rules". A zone is not made on demand.

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
  replicas: 3
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

from unpend.model.karpenter_labels import HOSTNAME
from unpend.placement.domains import shortfall, shown, topology_of
from unpend.placement.peers import apart_from_itself
from unpend.rule import Facts, Finding, Related, Rule, placement


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at the term."""
    topology = topology_of(facts)
    for workload in facts.inventory.workloads:
        if not workload.template.spec.affinity.anti_required or workload.kind in ("DaemonSet", "Pod"):
            continue
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or verdict.verdict == "skipped" or verdict.cause == "rejected":
            continue
        counts = verdict.replicas
        for term in apart_from_itself(facts.effective(workload)):
            domains = topology.of(workload, term.topology_key)
            if shortfall(verdict) == "affinity" and 0 < counts.at_most < counts.needed:
                most = counts.at_most
                where = f"{most} of {counts.needed} can run at once"
            elif term.topology_key != HOSTNAME and domains.exact and domains.reachable and not domains.lacking:
                most = len(domains.reachable)
                where = f"there is {shown(domains.reachable)}" if most == 1 else f"there are {shown(domains.reachable)}"
            else:
                continue
            if most >= counts.needed:
                continue
            size = workload.replicas_place if workload.replicas is not None else None
            yield Finding(
                term.place,
                f"No two of the {counts.needed} replicas may share a {term.topology_key}, but {where}: "
                f"{counts.needed - most} {'stays' if counts.needed - most == 1 else 'stay'} Pending.",
                related=(Related(f"{counts.needed} replicas", size),) if size is not None else (),
                certainty=verdict.certainty if shortfall(verdict) else "assumed",
                subject=placement(workload.id),
                workload=workload.id,
                verdict="partial",
                salient=term.topology_key,
                repair="make the anti-affinity preferred, or use a topology spread constraint",
            )
            break


RULE = Rule(
    name="anti-affinity-exceeds-domains",
    topic="affinity",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=50,
    competes=True,
    assumes_closed=("pools",),
    when=("pod-affinity",),
)
