"""Spot nodes from one family of instance types, or in one zone.

## What it checks

Workloads whose spot nodes can only be of one instance family, or only in one of the zones of the cluster. One size of
many families is fine.

## Why it matters

Types of one family in one zone tend to run out together: an interruption takes many nodes at a time, and replacements are
looked for where there are none.

## Example

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
        - {key: karpenter.k8s.aws/instance-family, operator: In, values: [m5]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Instead

```yaml
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: spot}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Best practices for EC2 Spot](https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-best-practices.html)
- [EKS best practices: cost optimization](https://docs.aws.amazon.com/eks/latest/best-practices/cost-opt-compute.html)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.spot import spot_choices
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool that is so narrow, at its requirements."""
    told: set[tuple[str, ...]] = set()
    for choice in spot_choices(facts):
        if not choice.node_pools or choice.pools in told:
            continue
        families, zones = choice.families, tuple(choice.zones)
        what = []
        if len(families) == 1:
            what.append(f"one family ({next(iter(families))})")
        if len(zones) == 1 and choice.zones_known:
            what.append(f"one zone ({zones[0]})")
        if not what:
            continue
        told.add(choice.pools)
        pool = choice.node_pools[0]
        yield Finding(
            pool.place.at("spec", "template", "spec", "requirements"),
            f"Spot nodes for {choice.workload.id} come from {' and '.join(what)}: when that market runs short, all of them go "
            "at once.",
            related=(Related("these pods", choice.workload.template.spec.place),),
            severity="info" if choice.on_demand else None,
            certainty="catalog",
            workload=choice.workload.id,
            repair="allow more families and zones",
        )


RULE = Rule(
    name="spot-single-family-or-zone",
    topic="spot",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    enabled=False,
    profiles=("cost", "reliability"),
)
