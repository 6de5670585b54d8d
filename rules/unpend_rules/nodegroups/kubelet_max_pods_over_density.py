"""The kubelet is told to run more pods than the network of its node has addresses for.

## What it checks

`maxPodsPerNode` of eksctl and `maxPods` of EC2NodeClasses and `kubeletExtraConfig` against the addresses that the interfaces of an
instance type have: of the smallest type of the group, or of those that a NodePool with the class may launch. With prefix delegation
there are more, so a number of up to 110 (250 from 30 vCPUs on) is only a hint. Types that no catalogue knows are not judged, nor are
classes with `podsPerCore`.

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
from typing import TYPE_CHECKING, Any

from unpend.placement.facts import managed_pools_of
from unpend.rule import Facts, Finding, Rule
from unpend.source.place import Place

if TYPE_CHECKING:
    from unpend.placement.karpenter.density import OverDensity


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each group or node class whose limit is above what its smallest type has addresses for."""
    if facts.inventory.node_groups:
        from unpend.placement.cluster_autoscaler.group_facts import over_density

        for group in facts.inventory.node_groups:
            over = over_density(group)
            if over is not None and group.kubelet.place is not None:
                yield _finding(group.kubelet.place, group.id, group.name, over)
    if any(one.kubelet.max_pods is not None for one in facts.inventory.node_classes):
        from unpend.placement.karpenter.density import classes_over_density

        for used, pool, over in classes_over_density(managed_pools_of(facts)):
            if used.kubelet.place is not None:
                yield _finding(used.kubelet.place, f"{used.kind}/{used.name} of {pool}", used.name, over)


def _finding(place: Place, who: str, salient: str, over: OverDensity) -> Finding:
    if isinstance(place.value, dict):
        place = place.at("maxPods")
    hint = " without prefix delegation" if over.with_prefixes else ""
    return Finding(
        place,
        f"{who} runs up to {over.limit} pods a node, and {over.type} has addresses for {over.addresses}{hint}.",
        certainty="catalog",
        severity="info" if over.with_prefixes else None,
        salient=salient,
        repair=f"set at most {over.addresses}, or turn on prefix delegation",
    )


RULE = Rule(
    name="kubelet-max-pods-over-density",
    topic="nodegroups",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("pools",),
)
