"""One node group holds spot and on-demand nodes.

## What it checks

Groups with a mixed instances policy that buys a share of spot and a share of on-demand above the base. A base of on-demand nodes with
nothing but spot above it is deliberate, and is only a hint.

## Why it matters

Cluster Autoscaler asks for one more node and does not know which kind comes. It cannot prefer spot or fall back to on-demand, and
pods that select one of them may get the other.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
nodeGroups:
  - name: mixed
    minSize: 0
    maxSize: 10
    instancesDistribution:
      instanceTypes: [m5.xlarge, m5a.xlarge]
      onDemandPercentageAboveBaseCapacity: 50
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
nodeGroups:
  - name: spot
    minSize: 0
    maxSize: 10
    instancesDistribution:
      instanceTypes: [m5.xlarge, m5a.xlarge]
      onDemandPercentageAboveBaseCapacity: 0
  - {name: on-demand, instanceType: m5.xlarge, minSize: 0, maxSize: 10}
```

## Options

None.

## References

- [Amazon EKS best practices: Cluster Autoscaler, spot instances](https://docs.aws.amazon.com/eks/latest/best-practices/cas.html)
- autoscaler:C-622
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.node_groups.group import NodeGroup
from unpend.placement.facts import node_groups_of
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each autoscaled group with both."""
    for one in node_groups_of(facts).groups:
        group = one.group
        if len(group.capacity_types) > 1 and one.grows and one.scaler != "none":
            base = _only_spot_above_base(group)
            yield Finding(
                group.capacity_place or group.place,
                f"{one.name} holds spot and on-demand nodes, and Cluster Autoscaler does not know which kind comes next.",
                severity="info" if base else None,
                salient=group.name,
                repair="make a spot group and an on-demand group, and choose with the priority expander",
            )


def _only_spot_above_base(group: NodeGroup) -> bool:
    data = group.capacity_place.value if group.capacity_place is not None else None
    return isinstance(data, dict) and data.get("onDemandPercentageAboveBaseCapacity") == 0


RULE = Rule(
    name="nodegroup-mixed-capacity-type",
    topic="nodegroups",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodegroups",),
)
