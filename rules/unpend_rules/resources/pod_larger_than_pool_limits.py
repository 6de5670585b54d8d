"""One pod asks for more than the limits of a NodePool leave room for.

## What it checks

`spec.limits` of the NodePool that is nearest to taking the pod: do all instance types on which the pod would fit exceed them? Limits
count the capacity of whole nodes, not requests, so a pod of 7 CPUs needs a limit of 8 or more.

## Why it matters

Karpenter says "all available instance types exceed limits for nodepool" and never launches a node for the pod, however empty the
pool is. Limits written without a suffix are bytes (`memory: 100`).

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
  limits: {cpu: 4}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1, resources: {requests: {cpu: "6"}}}]
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
  limits: {cpu: 400}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1, resources: {requests: {cpu: "6"}}}]
```

## Options

None.

## References

- [Karpenter: NodePools, limits](https://karpenter.sh/docs/concepts/nodepools/#speclimits)
- karpenter:L-1, karpenter:L-2, karpenter:L-4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.blame import blamed
from unpend.placement.demand import demand_of
from unpend.placement.facts import managed_pools_of
from unpend.placement.karpenter.pod_facts import kept_out_by_limits, named
from unpend.rule import Facts, Finding, Related, Rule, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that limits keep from its nearest NodePool."""
    if not any(pool.limits for pool in facts.inventory.node_pools):
        return
    pools = managed_pools_of(facts)
    for workload, verdict, blame in blamed(facts, "resources", "limits"):
        found = named(pools, blame.pool.pool)
        if found is None:
            continue
        pod = facts.effective(workload)
        limits = kept_out_by_limits(found, demand_of(pod), {**pod.requests, "pods": 1000})
        if not limits:
            continue
        first = next((name for name in limits if pod.request_places.get(name)), limits[0])
        listed = ", ".join(f"{name}: {found.pool.limits[name].text}" for name in limits)
        places = pod.request_places.get(first, ())
        yield unplaced(
            verdict,
            places[0] if places else workload.template.spec.place,
            f"Every instance type on which the pod would fit exceeds the limits of {found.name} ({listed}){blame.elsewhere()}.",
            tuple(Related(f"limit of {found.name}", found.pool.limits[name].place) for name in limits),
            repair="raise the limits of the pool, or ask for less",
        )


RULE = Rule(
    name="pod-larger-than-pool-limits",
    topic="resources",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    rank=40,
    competes=True,
    assumes_closed=("pools",),
)
