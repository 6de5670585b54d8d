"""Karpenter does not look at a pod, because of something that its author did not mean that way.

## What it checks

What makes Karpenter ignore or reject a pod before it tries a NodePool: `karpenter.sh/nodepool DoesNotExist` in the first required
term or merely in the heaviest preference, a restricted label (`karpenter.sh/initialized`, `karpenter.k8s.aws/ec2nodeclass`,
`kubernetes.io/hostname`) in any one of the required terms, `matchFields`, resource claims. A pod that keeps away from Karpenter's
nodes in every term does so on purpose and is not reported, nor is one that other nodes surely take.

## Why it matters

Karpenter launches nothing for the pod, for some of these without an event. A preference meant as "avoid Karpenter if you can"
means "never get a node" when the other nodes are full.

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
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 100
          preference: {matchExpressions: [{key: karpenter.sh/nodepool, operator: DoesNotExist}]}
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
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [kubernetes-sigs/karpenter#1265](https://github.com/kubernetes-sigs/karpenter/issues/1265)
- karpenter:P-1, karpenter:P-2, karpenter:P-3, karpenter §3.2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.model.karpenter_labels import HOSTNAME, NODE_POOL
from unpend.placement.blame import without_label
from unpend.placement.demand import demand_of
from unpend.placement.verdict import Obstacle, WorkloadVerdict
from unpend.rule import Facts, Finding, Rule, unplaced

UNSEEN = frozenset(f"karpenter:{rule}" for rule in ("P-1", "P-2", "P-3", "P-5", "P-6", "§3.2"))


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that Karpenter ignores or rejects unseen."""
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        if (
            workload.kind == "DaemonSet"
            or verdict is None
            or verdict.verdict not in ("never", "conditional", "partial")
        ):
            continue
        obstacle = _unseen(verdict)
        if obstacle is None or _on_purpose(facts, workload, obstacle):
            continue
        place = obstacle.place or workload.template.spec.place
        yield unplaced(
            verdict,
            place,
            f"Karpenter launches no node for this pod: {obstacle.message}.",
            severity="error" if verdict.verdict == "never" else None,
            salient=obstacle.semantics,
            assumes_closed=(),
            repair=without_label(obstacle) if verdict.nearest is None else None,
        )


def _unseen(verdict: WorkloadVerdict) -> Obstacle | None:
    for pool in verdict.pools:
        for obstacle in pool.obstacles:
            if obstacle.semantics in UNSEEN:
                return obstacle
    return None


def _on_purpose(facts: Facts, workload: Workload, obstacle: Obstacle) -> bool:
    """Whether every term keeps away from Karpenter's nodes, or names one node (which `node-name-pinned` reports)."""
    demand = demand_of(facts.effective(workload))
    if obstacle.semantics == "karpenter:P-1":
        names = [pool.name for pool in facts.inventory.node_pools]
        keys = [alternative.folded.get(NODE_POOL) for alternative in demand.alternatives]
        return bool(keys) and all(k is not None and not any(k.admits(name) for name in names) for k in keys)
    pinned = (HOSTNAME, "metadata.name")
    for alternative in demand.alternatives:
        if not alternative.names and not any(written.key in pinned for written in alternative.written):
            return False
    return obstacle.semantics in ("karpenter:P-2", "karpenter:P-3") and bool(demand.alternatives)


RULE = Rule(
    name="pod-ignored-by-autoscaler",
    topic="pools",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    rank=18,
    competes=True,
)
