"""A NodePool that can only launch GPU instances has no taint, so ordinary pods land on it.

## What it checks

NodePools all of whose instance types have GPUs or other accelerators (by the catalogue, after requirements and limits), and that
have no taint. A pool that may launch other types as well is left alone, and so is one whose types are not known.

## Why it matters

Neither Karpenter nor Kubernetes taints GPU nodes by itself. A pod without node selector that finds room on such a node keeps it
alive after the GPU work is done, and takes the place of pods that need the devices.

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
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [g5, g6]}
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
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [g5, g6]}
      taints: [{key: nvidia.com/gpu, value: "true", effect: NoSchedule}]
```

## Options

None.

## References

- [Amazon EKS: AI/ML best practices, compute](https://docs.aws.amazon.com/eks/latest/best-practices/aiml-compute.html)
- karpenter:A-9
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.facts import managed_pools_of
from unpend.placement.karpenter.pool_facts import is_legal, only_devices
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool of accelerators that every pod may enter."""
    pools = managed_pools_of(facts)
    for found in pools.pools:
        if is_legal(found) and not found.taints and only_devices(found):
            yield Finding(
                found.source.requirements(),
                f"{found.name} launches only instances with GPUs or other accelerators and has no taint: any pod may land there and "
                "keep the node alive.",
                certainty="catalog",
                repair="add a taint such as nvidia.com/gpu:NoSchedule",
            )


RULE = Rule(
    name="gpu-pool-without-taint",
    topic="taints",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodepools",),
)
