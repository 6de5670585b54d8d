"""A spread over a label that no node has.

## What it checks

The `topologyKey` of each topology spread constraint against the labels that the pools give their nodes, of the pools that
would take the pod. With `DoNotSchedule` such a pod is Pending for ever; with `ScheduleAnyway` the constraint does nothing,
and the finding is a warning.

## Why it matters

kube-scheduler says "node(s) didn't match pod topology spread constraints (missing required label)". Karpenter knows no
domain for the key and launches nothing.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a}
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
          topologyKey: topology.kubernetes.io/rack
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
- scheduler:P-808, scheduler:S-820, karpenter:T-5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.spreading import spreadings
from unpend.rule import Facts, Finding, Related, Rule, placement


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each such constraint, at its topologyKey."""
    for one in spreadings(facts):
        domains, key = one.domains, one.constraint.topology_key
        known = key.startswith(facts.settings.known_labels) if facts.settings.known_labels else False
        if known or domains.reachable or not domains.exact or not domains.lacking:
            continue
        lacking = domains.lacking[0]
        names = lacking.pool if len(domains.lacking) == 1 else f"{lacking.pool} and {len(domains.lacking) - 1} more"
        hard = one.is_hard
        yield Finding(
            one.constraint.place.at("topologyKey"),
            f"No node that would take the pod has the label {key} ({names} lack it): "
            + ("the pod stays Pending." if hard else "the constraint spreads nothing."),
            related=(Related(f"{lacking.pool} has no label {key}", lacking.place),),
            severity=None if hard else "warning",
            certainty=one.verdict.certainty,
            subject=placement(one.workload.id) if hard else (),
            workload=one.workload.id,
            verdict="never" if hard else None,
            salient=key,
            repair="use a label that the nodes have, such as topology.kubernetes.io/zone",
        )


RULE = Rule(
    name="spread-key-not-provided",
    topic="topology",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=40,
    competes=True,
    assumes_closed=("pools",),
    when=("spread",),
)
