"""Required pod affinity to pods that can only be elsewhere.

## What it checks

Required pod affinity where the domains (nodes, zones …) that take the pod and those that take the pods it wants to be with
have nothing in common. It needs both sides known: Nodes one by one, zones that are listed.

## Why it matters

The target runs, and the pod stays Pending beside it: "node(s) didn't match pod affinity rules". Adding nodes does not help.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a, disk: ssd}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: v1
kind: Node
metadata:
  name: n2
  labels: {kubernetes.io/hostname: n2, topology.kubernetes.io/zone: b, disk: hdd}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cache}
spec:
  replicas: 1
  selector: {matchLabels: {app: cache}}
  template:
    metadata: {labels: {app: cache}}
    spec:
      nodeSelector: {disk: ssd}
      containers: [{name: cache, image: cache:1, resources: {requests: {cpu: 100m}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {disk: hdd}
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
              labelSelector: {matchLabels: {app: cache}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: a, disk: ssd}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: v1
kind: Node
metadata:
  name: n2
  labels: {kubernetes.io/hostname: n2, topology.kubernetes.io/zone: a, disk: hdd}
status: {allocatable: {cpu: "4", memory: 16Gi, pods: "58"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cache}
spec:
  replicas: 1
  selector: {matchLabels: {app: cache}}
  template:
    metadata: {labels: {app: cache}}
    spec:
      nodeSelector: {disk: ssd}
      containers: [{name: cache, image: cache:1, resources: {requests: {cpu: 100m}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {disk: hdd}
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
              labelSelector: {matchLabels: {app: cache}}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Inter-pod affinity and anti-affinity](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/)
- scheduler:S-916, scheduler:S-918, karpenter:T-31
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.model.karpenter_labels import HOSTNAME
from unpend.placement.domains import shown, takes, topology_of
from unpend.placement.peers import Wish, peers_of
from unpend.placement.pools import ALL_NODES
from unpend.rule import Facts, Finding, Related, Rule, placement

Side = frozenset[str]


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at the term."""
    for wish in peers_of(facts).wishes:
        if wish.itself or wish.running or wish.elsewhere or not wish.targets:
            continue
        for term in wish.terms:
            mine = _side(facts, wish.workload, term.topology_key)
            if not mine:
                continue
            theirs = _theirs(facts, wish, term.topology_key)
            if theirs is None or mine & theirs:
                continue
            target = wish.targets[0]
            yield Finding(
                term.place,
                f"The pods can be in {shown(sorted(mine))}, those of {target.id} only in {shown(sorted(theirs))}: "
                f"they never share a {term.topology_key}, and the pod stays Pending.",
                related=(Related(f"{target.id} runs elsewhere", target.template.spec.place),),
                certainty="assumed",
                subject=placement(wish.workload.id),
                workload=wish.workload.id,
                verdict="never",
                salient=term.topology_key,
                repair="let both use the same nodes, or a wider topology key",
            )
            break


def _theirs(facts: Facts, wish: Wish, key: str) -> Side | None:
    """Where the targets can be, None where it is not known of one of them."""
    found: set[str] = set()
    for target in wish.targets:
        side = _side(facts, target, key)
        if side is None:
            return None
        found |= side
    return frozenset(found) or None


def _side(facts: Facts, workload: Workload, key: str) -> Side | None:
    """The domains that take the pods of a workload, None where they are not all known."""
    verdict = facts.verdicts.get(workload.id)
    if verdict is None or verdict.verdict == "skipped":
        return None
    pools = {pool.pool for pool in verdict.pools if takes(pool)}
    if key == HOSTNAME:
        # Two pods on one node: nodes of one pool at least.
        return None if ALL_NODES in pools or facts.inventory.unread_capacity else frozenset(pools)
    domains = topology_of(facts).of(workload, key)
    return frozenset(domains.reachable) if domains.exact else None


RULE = Rule(
    name="pod-affinity-disjoint-pools",
    topic="affinity",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=47,
    competes=True,
    assumes_closed=("pools", "workloads"),
    when=("pod-affinity",),
)
