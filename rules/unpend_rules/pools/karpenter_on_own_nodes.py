"""Karpenter can land on a node that Karpenter manages.

## What it checks

The controller itself, known by its image: may kube-scheduler put it on nodes of one of the NodePools? The affinity of Karpenter's
chart (`karpenter.sh/nodepool DoesNotExist`, required) keeps it away, and so does the selector of a managed node group. As a mere
preference it does not. A controller that runs on Fargate cannot be told from its manifest: ignore the finding there.

## Why it matters

Karpenter then consolidates, drifts or expires the node under its own feet; with all of its pods there, nothing is left that would
launch the next node, and the cluster cannot scale until somebody helps.

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
metadata: {name: karpenter}
spec:
  serviceAccountName: karpenter
  containers: [{name: controller, image: "public.ecr.aws/karpenter/controller:1.14.0"}]
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
metadata: {name: karpenter}
spec:
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
          - matchExpressions: [{key: karpenter.sh/nodepool, operator: DoesNotExist}]
  serviceAccountName: karpenter
  containers: [{name: controller, image: "public.ecr.aws/karpenter/controller:1.14.0"}]
```

## Options

None.

## References

- [Amazon EKS best practices: Karpenter](https://docs.aws.amazon.com/eks/latest/best-practices/karpenter.html)
- karpenter §10.5, karpenter:P-1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each controller that a NodePool's nodes would take."""
    for workload in facts.inventory.workloads:
        if not _is_karpenter(workload):
            continue
        verdict = facts.verdicts.get(workload.id)
        own = [p for p in verdict.pools if p.autoscaler == "karpenter" and p.scheduler_says == "yes"] if verdict else []
        if own:
            spec = workload.template.spec
            names = ", ".join(pool.pool for pool in own[:3])
            yield Finding(
                spec.affinity.place or spec.place,
                f"Karpenter may run on nodes that it manages itself ({names}): it can remove the node under its own feet.",
                related=tuple(
                    Related("its nodes would take the controller", p.place) for p in own[:3] if p.place is not None
                ),
                certainty="heuristic",
                workload=workload.id,
                repair="require karpenter.sh/nodepool DoesNotExist and give it a managed node group or Fargate",
            )


def _is_karpenter(workload: Workload) -> bool:
    for container in workload.template.spec.containers:
        parts = container.image.partition("@")[0].split("/")
        name = parts[-1].partition(":")[0]
        if name in ("karpenter", "karpenter-controller") or (name == "controller" and "karpenter" in parts[:-1]):
            return True
    return False


RULE = Rule(
    name="karpenter-on-own-nodes",
    topic="pools",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
)
