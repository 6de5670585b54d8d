"""DaemonSets take most of the smallest instance type that a NodePool allows.

## What it checks

For each NodePool the smallest allowed type by allocatable cpu and by allocatable memory on which the DaemonSets fit at all, and the
sum of what those request that Karpenter reckons with on its nodes. The rule speaks above `max-share`.

## Why it matters

Every node pays for its DaemonSets before it runs the first pod of yours. A small pod may get the smallest type that still has room
for it, and such nodes carry agents more than anything else.

## Example

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNode
  amiSelectorTerms: [{alias: al2023@v20260115}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m7g]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: agent:1, resources: {requests: {cpu: 600m, memory: 256Mi}}}]
```

## Instead

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: KarpenterNode
  amiSelectorTerms: [{alias: al2023@v20260115}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m7g]}
        - {key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ["1"]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: agent:1, resources: {requests: {cpu: 600m, memory: 256Mi}}}]
```

## Options

`max-share` (default 0.5): the part of the smallest type that DaemonSets may take.

## References

- [Amazon EKS best practices: Karpenter](https://docs.aws.amazon.com/eks/latest/best-practices/karpenter.html)
- karpenter:I-2, karpenter:I-3, karpenter:M-1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.quantity import render
from unpend.placement.facts import managed_pools_of
from unpend.placement.karpenter.managed import ManagedPool
from unpend.placement.karpenter.pool_facts import DaemonShare, daemon_share, is_legal
from unpend.rule import Facts, Finding, Option, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool whose smallest type is mostly taken by agents."""
    pools = managed_pools_of(facts)
    for found in pools.pools:
        if not is_legal(found):
            continue
        shares = [daemon_share(found, pools, resource) for resource in ("cpu", "memory")]
        worst = max((one for one in shares if one is not None), key=lambda one: one.share, default=None)
        if worst is not None and worst.share > options["max-share"]:
            yield _finding(facts, found, worst)


def _finding(facts: Facts, found: ManagedPool, worst: DaemonShare) -> Finding:
    places = {w.id: w.place for w in facts.inventory.workloads if w.kind == "DaemonSet"}
    what = worst.resource
    taken, whole = render(worst.taken, what), render(worst.allocatable, what)
    return Finding(
        found.source.requirements(),
        f"DaemonSets take {taken} of {whole} {what} ({worst.share:.0%}) on {worst.type}, the smallest type that {found.name} allows.",
        related=tuple(
            Related(f"{owner} requests {render(amount, what)} {what}", places[owner])
            for owner, amount in worst.daemons[:5]
            if owner in places
        ),
        certainty="catalog",
        salient=what,
        repair="exclude the smallest types, for example by karpenter.k8s.aws/instance-cpu",
        assumes_closed=(),
    )


RULE = Rule(
    name="daemonset-overhead-too-high",
    topic="resources",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodepools", "daemonsets"),
    options=(Option("max-share", 0.5, "the part of the smallest type that DaemonSets may take", 0.0),),
)
