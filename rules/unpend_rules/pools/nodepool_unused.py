"""No workload can reach a NodePool.

## What it checks

Each NodePool against the verdicts of all workloads: is there one whose pods it takes, or perhaps takes, or that was meant for it and
is kept out (which is told at the workload)? Placeholder pods count, DaemonSets do not (they go wherever there are nodes). Needs all
workloads. Pools that can make no node have findings of their own.

## Why it matters

A pool that nothing uses is dead weight in reviews, and often the sign of a label or taint that was renamed on one side only.

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
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: batch}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
      taints: [{key: dedicated, value: batch, effect: NoSchedule}]
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1}]
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
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: batch}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
      taints: [{key: dedicated, value: batch, effect: NoSchedule}]
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  tolerations: [{key: dedicated, operator: Exists}]
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Karpenter: NodePools](https://karpenter.sh/docs/concepts/nodepools/)
- karpenter §12
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.blame import blame
from unpend.placement.facts import managed_pools_of
from unpend.placement.karpenter.managed import belongs
from unpend.placement.karpenter.pod_facts import reached
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each usable NodePool that no workload reaches."""
    used: set[str] = set()
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        if workload.kind == "DaemonSet" or verdict is None or verdict.verdict == "skipped":
            continue
        if verdict.cause in ("not-looked-at", "rejected"):
            return  # Where it goes is decided outside the files, or once its text is legal: it may be any pool.
        used.update(pool.pool for pool in reached(verdict))
        meant = blame(verdict)
        if meant is not None:
            used.add(meant.pool.pool)  # What keeps its pods out is told at the workload.
    pools = managed_pools_of(facts)
    for found in pools.pools:
        if found.unusable is not None or found.name in used or found.pool.is_static:
            continue
        if any(belongs(node, found.pool) for node in facts.inventory.nodes):
            continue
        yield Finding(
            found.pool.place.at("metadata", "name"),
            f"No workload reaches {found.name}: none has the labels and tolerations for it, and a size that fits.",
            certainty="assumed",
            tags=("unnecessary",),
        )


RULE = Rule(
    name="nodepool-unused",
    topic="pools",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("nodepools", "closed-workloads"),
    enabled=False,
    profiles=("strict",),
    assumes_closed=("workloads",),
)
