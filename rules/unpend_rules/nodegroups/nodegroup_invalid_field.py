"""A field of a node group is refused by the tool or service that reads it.

## What it checks

Sizes, taints, labels, capacity types and lists that exclude each other, in eksctl ClusterConfigs, node groups of the EKS API (ACK,
Crossplane, CloudFormation, Terraform, Cluster API) and NodeGroups of `unpend.dev/v1`, by the defaults and spellings of each: eksctl
takes `NoSchedule` where the EKS API takes `NO_SCHEDULE`, and `maxSize: 1` alone is refused because minSize is 2 without a word.

## Why it matters

The group is never created, or a label keeps its kubelet from starting, so that the nodes never join. Schema checkers see neither.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
managedNodeGroups:
  - name: gpu
    maxSize: 1
    taints: [{key: dedicated, value: gpu, effect: NO_SCHEDULE}]
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
managedNodeGroups:
  - name: gpu
    minSize: 0
    maxSize: 1
    taints: [{key: dedicated, value: gpu, effect: NoSchedule}]
```

## Options

None.

## References

- [eksctl: config file schema](https://eksctl.io/usage/schema/)
- [Amazon EKS: CreateNodegroup](https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html)
- autoscaler:C-621, autoscaler:C-622, autoscaler:C-623, autoscaler:C-625, autoscaler:C-626, autoscaler:C-241
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule, illegal


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each wrong value in an object that declares node groups."""
    holders = {id(group.object) for group in facts.inventory.node_groups}
    for problem in facts.inventory.problems:
        if id(problem.place.object) in holders:
            yield illegal(problem)


RULE = Rule(
    name="nodegroup-invalid-field",
    topic="nodegroups",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("nodegroups",),
    rank=100,
    competes=True,
)
