"""The autoscaler launches nodes for a pod, and kube-scheduler refuses every one of them.

## What it checks

Both deciders, pool by pool: what Karpenter or Cluster Autoscaler would launch for the pod, and whether the real node then takes it.
They differ where Karpenter reads a rule otherwise than kube-scheduler (an empty node affinity term, a custom label that gets another
value), or does not know what is on the node (requests that a LimitRange gives to the pods of DaemonSets). Cluster Autoscaler imagines
the nodes of an empty group from tags and nominal sizes, and real ones have a taint that no tag tells, or less memory.

## Why it matters

The pod stays Pending while nodes come and go: each is empty, is removed, and the next one is launched. It costs money and looks
like a broken cloud account.

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
        - {key: example.com/team, operator: In, values: [a, b]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{}]
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
        - {key: example.com/team, operator: In, values: [a, b]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions: [{key: example.com/team, operator: In, values: [a]}]
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Karpenter: troubleshooting](https://karpenter.sh/docs/troubleshooting/)
- [kubernetes/autoscaler#2418](https://github.com/kubernetes/autoscaler/issues/2418)
- autoscaler §7, karpenter §2.5, karpenter §2.7, karpenter:I-3, scheduler:P-505
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.verdict import Obstacle
from unpend.rule import Facts, Finding, Rule, against, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload for which nodes are launched in vain."""
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or not (verdict.verdict == "loop" or verdict.cause == "starved"):
            continue
        pool = next((p for p in verdict.pools if p.verdict == "loop"), None)
        if pool is None:
            continue
        obstacle = pool.obstacles[0] if pool.obstacles else None
        why = f": {obstacle.message}" if obstacle else ""
        start = (
            f"Cluster Autoscaler adds nodes of {pool.pool} for this pod (TriggeredScaleUp), kube-scheduler refuses them "
            "(FailedScheduling), and after ten minutes they go again (ScaleDown)"
            if pool.autoscaler == "cluster-autoscaler"
            else f"Karpenter launches nodes of {pool.pool} for this pod, and kube-scheduler refuses them"
        )
        yield unplaced(
            verdict,
            (obstacle.place if obstacle else None) or workload.template.spec.place,
            f"{start}{why}.",
            against(obstacle, f"of {obstacle.against.object}" if obstacle and obstacle.against else ""),
            assumes_closed=(),
            repair=_for_plugin(obstacle, pool.pool),
        )


def _for_plugin(obstacle: Obstacle | None, pool: str) -> str | None:
    """What helps where a device plugin stays away: to drop the device would be no help to anybody."""
    if obstacle is None or obstacle.against is None or not obstacle.against.object.startswith("DaemonSet/"):
        return None
    return f"let {obstacle.against.object} run on the nodes of {pool}: tolerate their taints and select them"


RULE = Rule(
    name="autoscaler-scheduler-disagree",
    topic="pools",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=8,
    competes=True,
)
