"""A pod requests a device that no node of any pool has.

## What it checks

Extended resources (`nvidia.com/gpu`, `aws.amazon.com/neuron`, `vpc.amazonaws.com/efa`, any name with a domain) that a pod requests,
against the allocatable resources of Nodes, the instance types that NodePools may launch, and what NodeOverlays add. The rule speaks
where the resource is what keeps the pod from the nearest pool; a pool whose instance types are not known keeps it silent.

## Why it matters

kube-scheduler says "Insufficient nvidia.com/gpu", Karpenter "no instance type has enough resources". For a device that a plugin of
your own announces, Karpenter launches a node only if a NodeOverlay gives the resource to an instance type.

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
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1, resources: {limits: {nvidia.com/gpu: 1}}}]
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
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r, g]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1, resources: {limits: {nvidia.com/gpu: 1}}}]
```

## Options

None.

## References

- [Karpenter: scheduling, accelerators and GPUs](https://karpenter.sh/docs/concepts/scheduling/#acceleratorsgpu-resources)
- [kubernetes-sigs/karpenter#751](https://github.com/kubernetes-sigs/karpenter/issues/751)
- scheduler:P-719, karpenter:I-6, karpenter:I-7
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.blame import blamed
from unpend.placement.facts import managed_pools_of
from unpend.rule import Facts, Finding, Rule, against, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that wants a device that nothing offers."""
    offered: frozenset[str] | None = None
    for workload, verdict, found in blamed(facts, "resources"):
        pod = facts.effective(workload)
        wanted = [name for name, amount in pod.requests.items() if "/" in name and amount > 0]
        if not wanted:
            continue
        if offered is None:
            from unpend.placement.karpenter.pod_facts import offered_resources

            offered = offered_resources(facts.inventory, managed_pools_of(facts))
        missing = [name for name in wanted if name not in offered]
        if missing:
            places = pod.request_places.get(missing[0], ())
            yield unplaced(
                verdict,
                places[0] if places else workload.template.spec.place,
                f"No node of any pool has {missing[0]}.",
                against(found.obstacle, f"of {found.pool.pool}"),
                salient=missing[0],
                repair=_repair(facts, missing[0]),
            )


def _repair(facts: Facts, resource: str) -> str | None:
    """What helps where NodePools are there; kube-scheduler's own repair is to drop the request."""
    shapes = [found.grid.shapes for found in managed_pools_of(facts).pools if found.grid is not None]
    if not shapes:
        return None
    if any(resource in one.resources.names for one in shapes):
        return f"allow instance types with {resource} in a NodePool"
    return f"give {resource} to instance types with a NodeOverlay, if a device plugin of yours announces it"


RULE = Rule(
    name="extended-resource-unavailable",
    topic="resources",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=35,
    competes=True,
    assumes_closed=("pools",),
)
