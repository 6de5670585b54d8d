"""Pods that can only run on spot nodes, and nothing says that they may be interrupted.

## What it checks

Workloads that only spot capacity takes, although they ask for no spot node themselves and tolerate no taint of that name.
Jobs and other pods that end by themselves are exempt.

## Why it matters

When spot capacity runs short in all zones at once, these pods stay Pending: there is no pool to fall back on. Karpenter
takes on-demand nodes by itself where a pool allows both.

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
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
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
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
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

- `exempt-labels` (list of KEY=VALUE): pods with one of these labels are meant to be interrupted.

## References

- [EKS best practices: Karpenter](https://docs.aws.amazon.com/eks/latest/best-practices/karpenter.html)
- karpenter:§7.5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.drain import is_finite
from unpend.placement.spot import spot_choices
from unpend.rule import Facts, Finding, Option, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload."""
    exempt = {tuple(text.split("=", 1)) for text in options["exempt-labels"] if "=" in text}
    for choice in spot_choices(facts):
        workload = choice.workload
        if choice.on_demand or choice.chosen is not None or is_finite(workload):
            continue
        labels = {(key, label.value) for key, label in workload.template.labels.items()}
        if exempt & labels:
            continue
        related = tuple(Related(f"NodePool/{pool.name} makes spot nodes", pool.place) for pool in choice.node_pools[:3])
        yield Finding(
            workload.template.spec.place,
            f"Only spot nodes take these pods ({', '.join(choice.pools[:3])}): when spot capacity runs short they stay "
            "Pending.",
            related=related,
            certainty="assumed",
            workload=workload.id,
            repair="allow on-demand beside spot in the pool, or let another pool take them",
            assumes_closed=("pools",),
        )


RULE = Rule(
    name="spot-no-on-demand-fallback",
    topic="spot",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    options=(Option("exempt-labels", (), "pods with one of these labels are meant to be interrupted"),),
    assumes_closed=("pools",),
)
