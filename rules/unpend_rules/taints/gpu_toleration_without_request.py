"""A pod can only run on GPU nodes but requests no GPU.

## What it checks

Workloads that tolerate the taint of a GPU pool, and that only pools and Nodes with GPUs or other accelerators take, without a request
for a device, a resource claim or an NVIDIA RuntimeClass. DaemonSets (device plugins, monitoring) are left alone.

## Why it matters

The pod takes the place of one that needs the device and keeps an expensive node alive. Or the request was forgotten: then the
container sees no device.

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
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [g5, g6]}
      taints: [{key: nvidia.com/gpu, value: "true", effect: NoSchedule}]
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {karpenter.sh/nodepool: gpu}
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
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
metadata: {name: gpu}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [g5, g6]}
      taints: [{key: nvidia.com/gpu, value: "true", effect: NoSchedule}]
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {karpenter.sh/nodepool: gpu}
  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
  containers: [{name: web, image: web:1, resources: {limits: {nvidia.com/gpu: 1}}}]
```

## Options

None.

## References

- [Amazon EKS: AI/ML best practices, compute](https://docs.aws.amazon.com/eks/latest/best-practices/aiml-compute.html)
- karpenter:A-9, scheduler:P-402
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.taints import tolerates
from unpend.model.inventory import Workload
from unpend.model.pod import Taint
from unpend.placement.facts import managed_pools_of
from unpend.rule import Facts, Finding, Related, Rule

NO_DEVICE = ("vpc.amazonaws.com/", "hugepages-")


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload on GPU nodes without a device."""
    guarded: dict[str, tuple[Taint, ...]] | None = None
    for workload in facts.inventory.workloads:
        if workload.kind == "DaemonSet" or not workload.template.spec.tolerations or _wants_device(facts, workload):
            continue
        if guarded is None:
            guarded = _device_pools(facts)
        if not guarded:
            return
        from unpend.placement.karpenter.pod_facts import reached

        verdict = facts.verdicts.get(workload.id)
        pools = reached(verdict) if verdict else ()
        if not pools or any(pool.pool not in guarded for pool in pools):
            continue
        for toleration in workload.template.spec.tolerations:
            taint = next(
                (t for p in pools for t in guarded[p.pool] if toleration.key and tolerates(toleration, t)), None
            )
            if taint is not None:
                names = ", ".join(pool.pool for pool in pools[:3])
                yield Finding(
                    toleration.place,
                    f"This pod can only run on nodes with accelerators ({names}), but requests no device.",
                    related=(Related("the taint of the pool", taint.place),),
                    certainty="assumed",
                    workload=workload.id,
                    repair="request the device under resources.limits, or send the pod to another pool",
                    assumes_closed=("pools",),
                )
                break


def _device_pools(facts: Facts) -> dict[str, tuple[Taint, ...]]:
    """Pools all of whose nodes have devices, with their taints."""
    found: dict[str, tuple[Taint, ...]] = {}
    if facts.inventory.node_pools:
        from unpend.placement.karpenter.pool_facts import only_devices

        pools = managed_pools_of(facts)
        found = {one.name: one.taints for one in pools.pools if only_devices(one)}
    for node in facts.inventory.nodes:
        if any(_is_device(name) and amount.milli > 0 for name, amount in node.allocatable.items()):
            found[f"Node/{node.name}"] = node.taints
    return found


def _wants_device(facts: Facts, workload: Workload) -> bool:
    spec = workload.template.spec
    if spec.resource_claims or "nvidia" in (spec.runtime_class or ""):
        return True
    return any(_is_device(name) and amount for name, amount in facts.effective(workload).requests.items())


def _is_device(name: str) -> bool:
    return "/" in name and not name.startswith(NO_DEVICE)


RULE = Rule(
    name="gpu-toleration-without-request",
    topic="taints",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    assumes_closed=("pools",),
    when=("tolerations",),
)
