"""A node group mixes instance types of different size.

## What it checks

The instance types of one node group: CPUs and GPUs have to be equal, memory within `memory-tolerance`. Groups that no autoscaler
grows are not looked at, nor are types that no catalogue knows.

hardeneks asks a running account for managed groups (`use_managed_nodegroups`) and for the versions and discovery mode
of the autoscaler; this rule reads the groups from files and compares the shapes of their types.

## Why it matters

Cluster Autoscaler plans with the first type and the cloud delivers any of them. If the first is the largest, pods wait on nodes that
are too small while the group keeps growing; if it is the smallest, large pods never trigger a node (NotTriggerScaleUp).

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
nodeGroups:
  - name: spot
    minSize: 0
    maxSize: 10
    instancesDistribution:
      instanceTypes: [m5.2xlarge, m5.xlarge]
      onDemandPercentageAboveBaseCapacity: 0
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
      instanceTypes: [m5.xlarge, m5a.xlarge, t3.xlarge]
      onDemandPercentageAboveBaseCapacity: 0
```

## Options

- `memory-tolerance` (0.05): by what share the memory of two types may differ.

## References

- [Cluster Autoscaler on AWS: mixed instances policies](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md)
- [terraform-aws-modules/terraform-aws-eks#422](https://github.com/terraform-aws-modules/terraform-aws-eks/issues/422)
- autoscaler:C-212
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.cluster_autoscaler.group_facts import mixed, sizes
from unpend.placement.facts import node_groups_of
from unpend.rule import Facts, Finding, Option, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each group with types of another size than its first."""
    for group in node_groups_of(facts).groups:
        if not group.grows or group.scaler == "none" or len(group.group.instance_types) < 2:
            continue
        others = mixed(group, options["memory-tolerance"])
        if not others:
            continue
        first, other = sizes(group)[0], others[0]
        gpus = f" and {first.gpu} against {other.gpu} GPUs" if first.gpu != other.gpu else ""
        names = ", ".join(one.name for one in others[:4])
        place = group.group.instance_types[0].place.parent
        yield Finding(
            place or group.group.place,
            f"{group.name} mixes sizes: Cluster Autoscaler plans with {first.name} ({first.cpu} CPUs, "
            f"{first.memory // 1024} GiB) and may get {names} ({other.cpu} CPUs, {other.memory // 1024} GiB{gpus}).",
            certainty="catalog",
            repair="keep types of one size in a group and give each size a group of its own",
            salient=group.group.name,
        )


RULE = Rule(
    name="nodegroup-mixed-shapes",
    topic="nodegroups",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodegroups",),
    options=(Option("memory-tolerance", 0.05, "By what share the memory of two types may differ.", minimum=0),),
)
