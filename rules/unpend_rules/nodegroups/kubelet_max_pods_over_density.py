"""The kubelet is told to run more pods than the network of its node has addresses for.

## What it checks

`maxPodsPerNode` of eksctl and `maxPods` of EC2NodeClasses and `kubeletExtraConfig` against the addresses that the interfaces of an
instance type have. With prefix delegation there are more, so a number of up to 110 (250 from 30 vCPUs on) is only a hint. Types that
no catalogue knows are not judged.

## Why it matters

kube-scheduler places pods up to the limit of the kubelet. Those without an address hang in ContainerCreating with "failed to assign an
IP address to container", on a node that looks as if it had room.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
nodeGroups:
  - {name: small, instanceType: t3.medium, maxPodsPerNode: 200}
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
nodeGroups:
  - {name: small, instanceType: t3.medium, maxPodsPerNode: 17}
```

## Options

None.

## References

- [Amazon EKS: choosing an instance type, maximum pods](https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html)
- autoscaler:§6.8, karpenter:M-6
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.cluster_autoscaler.group_facts import over_density
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each group whose limit is above what its smallest type has addresses for."""
    for group in facts.inventory.node_groups:
        over = over_density(group)
        if over is None or group.kubelet.place is None:
            continue
        place = group.kubelet.place
        if isinstance(place.value, dict):
            place = place.at("maxPods")
        hint = " without prefix delegation" if over.with_prefixes else ""
        yield Finding(
            place,
            f"{group.id} runs up to {over.limit} pods a node, and {over.type} has addresses for {over.addresses}{hint}.",
            certainty="catalog",
            severity="info" if over.with_prefixes else None,
            salient=group.name,
            repair=f"set at most {over.addresses}, or turn on prefix delegation",
        )


RULE = Rule(
    name="kubelet-max-pods-over-density",
    topic="nodegroups",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodegroups",),
)
