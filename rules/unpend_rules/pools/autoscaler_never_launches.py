"""The autoscaler launches no node for a pod; only a node that is there for other pods can take it.

## What it checks

Pods whose verdict hangs on existing nodes: kube-scheduler would put them on nodes of a pool, but Karpenter launches none for them,
because it reads the pod's rules otherwise (the order of OR terms, a custom label without known values, a static pool, `minValues`),
or Cluster Autoscaler does not know that the nodes of an empty group would do (a label that no tag tells, NotTriggerScaleUp).

## Why it matters

The pod runs as long as nodes for other pods have room, and stays Pending when they are gone: after consolidation, at night, in a new
cluster.

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
metadata: {name: static}
spec:
  replicas: 3
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
  nodeSelector: {karpenter.sh/nodepool: static}
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
  nodeSelector: {karpenter.sh/nodepool: general}
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [kubernetes-sigs/karpenter#2734](https://github.com/kubernetes-sigs/karpenter/issues/2734)
- autoscaler §7, karpenter:X-1, karpenter:S-2, karpenter §2.8
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.blame import without_label
from unpend.rule import Facts, Finding, Rule, against, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that lives on nodes for other pods."""
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or verdict.cause != "existing-node":
            continue
        pool = next((p for p in verdict.pools if p.cause == "existing-node"), None)
        if pool is None:
            continue
        obstacle = pool.obstacles[0] if pool.obstacles else None
        why = f": {obstacle.message}" if obstacle else ""
        refuses = "gets no node" if pool.autoscaler == "cluster-autoscaler" else "launches no node"
        yield unplaced(
            verdict,
            (obstacle.place if obstacle else None) or workload.template.spec.place,
            f"{pool.pool} {refuses} for this pod, it can only use one that is there for other pods{why}.",
            against(obstacle, f"of {pool.pool}"),
            assumes_closed=("pools",),
            repair=without_label(obstacle) if verdict.nearest is None else None,
        )


RULE = Rule(
    name="autoscaler-never-launches",
    topic="pools",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=60,
    competes=True,
    assumes_closed=("pools",),
)
