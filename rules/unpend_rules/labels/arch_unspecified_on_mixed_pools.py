"""A pod names no processor architecture and may land on nodes of either one.

## What it checks

Workloads that the NodePools given may put on amd64 as well as on arm64 nodes, and that say nothing about `kubernetes.io/arch`. Images
that are known to exist for both are named in the option `multi-arch` by the beginning of their names. Whether an image is
multi-arch cannot be read from manifests, so this is advice; pods in `kube-system` are not looked at.

## Why it matters

An image for one architecture fails on the other with "exec format error", and which one it gets depends on prices and on what is
free at that moment.

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
        - {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
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
        - {key: kubernetes.io/arch, operator: In, values: [amd64, arm64]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {kubernetes.io/arch: amd64}
  containers: [{name: web, image: web:1}]
```

## Options

`multi-arch` (default none): beginnings of image names that exist for both architectures, such as `registry.example.com/base/`.

## References

- [Amazon EKS best practices: cost optimization, compute](https://docs.aws.amazon.com/eks/latest/best-practices/cost-opt-compute.html)
- karpenter §2.4, karpenter §10.4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.model.karpenter_labels import ARCH, normalized
from unpend.placement.demand import demand_of
from unpend.placement.facts import managed_pools_of
from unpend.placement.karpenter.managed import ManagedPool
from unpend.placement.karpenter.pod_facts import named, reached, reached_architectures
from unpend.placement.karpenter.pool_facts import architectures
from unpend.rule import Facts, Finding, Option, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that leaves the architecture open."""
    pools = managed_pools_of(facts)
    if len({name for found in pools.pools for name in architectures(found)}) < 2:
        return
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        if verdict is None or workload.namespace == "kube-system" or _says(workload, options["multi-arch"]):
            continue
        demand = demand_of(facts.effective(workload))
        by_arch: dict[str, ManagedPool] = {}
        for found in filter(None, (named(pools, pool.pool) for pool in reached(verdict))):
            for name in reached_architectures(found, demand):
                by_arch.setdefault(name, found)
        if len(by_arch) > 1:
            yield Finding(
                workload.template.spec.place,
                f"This pod may land on {' or '.join(sorted(by_arch))} nodes and names no kubernetes.io/arch.",
                related=tuple(
                    Related(f"{found.name} launches {name}", found.source.label(ARCH))
                    for name, found in by_arch.items()
                ),
                certainty="heuristic",
                workload=workload.id,
                repair="select kubernetes.io/arch, or build the image for both and list it under multi-arch",
            )


def _says(workload: Workload, multi_arch: tuple[str, ...]) -> bool:
    spec = workload.template.spec
    if any(normalized(label.key) == ARCH for label in spec.node_selector):
        return True
    if any(normalized(e.key) == ARCH for term in spec.affinity.required or () for e in term.expressions):
        return True
    return bool(multi_arch) and all(c.image.startswith(multi_arch) for c in (*spec.containers, *spec.init_containers))


RULE = Rule(
    name="arch-unspecified-on-mixed-pools",
    topic="labels",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    options=(Option("multi-arch", (), "beginnings of image names that exist for both architectures"),),
    enabled=False,
    profiles=("strict",),
)
