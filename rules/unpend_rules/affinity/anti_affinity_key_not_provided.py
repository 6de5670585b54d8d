"""An anti-affinity over a label that no node has keeps nothing apart.

## What it checks

The `topologyKey` of required pod anti-affinity against the labels of the nodes that take the pod. It stays silent where
the nodes may have labels that nobody wrote down, and with NodePools: Karpenter launches nothing because of such a key.

## Why it matters

kube-scheduler looks for pods in the same domain. A node without the label is in no domain, so the rule refuses nothing
and all replicas may end on one node: the outage that it was written against. Nothing says so, neither an event nor a
condition. The same key in a spread or in required affinity would leave the pods Pending.

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
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: zone
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
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
              labelSelector: {matchLabels: {app: web}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Kubernetes: inter-pod affinity and anti-affinity](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#inter-pod-affinity-and-anti-affinity)
- scheduler:S-921, scheduler:S-923, karpenter:T-44
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.domains import topology_of
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each such term, at its topologyKey."""
    topology = topology_of(facts)
    for workload in facts.inventory.workloads:
        terms = workload.template.spec.affinity.anti_required
        verdict = facts.verdicts.get(workload.id) if terms else None
        if verdict is None or verdict.verdict == "skipped" or verdict.cause == "rejected":
            continue
        for term in terms:
            key = term.topology_key
            if facts.settings.known_labels and key.startswith(facts.settings.known_labels):
                continue
            domains = topology.of(workload, key)
            if domains.reachable or not domains.exact or not domains.lacking:
                continue
            if any(one.pool.startswith("NodePool/") for one in domains.lacking):
                # Karpenter knows no domain of the key, and launches nothing (T-44).
                continue
            lacking = domains.lacking[0]
            more = len(domains.lacking) - 1
            names = f"{lacking.pool} and {more} more lack it" if more else f"{lacking.pool} lacks it"
            yield Finding(
                term.place.at("topologyKey"),
                f"No node that takes the pod has the label {key} ({names}): the anti-affinity keeps nothing apart.",
                related=(Related(f"{lacking.pool} has no label {key}", lacking.place),),
                certainty=verdict.certainty,
                workload=workload.id,
                salient=key,
                repair="use a label that the nodes have, such as topology.kubernetes.io/zone",
            )


RULE = Rule(
    name="anti-affinity-key-not-provided",
    topic="affinity",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    assumes_closed=("pools",),
    when=("pod-affinity",),
)
