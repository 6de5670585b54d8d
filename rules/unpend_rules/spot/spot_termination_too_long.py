"""Pods that need longer to end than a spot node gives them.

## What it checks

`terminationGracePeriodSeconds` above 120 on pods that may land on spot nodes. For pods that end by themselves it is a hint.

## Why it matters

A spot node is taken two minutes after the notice, whatever the pods still have to do. What runs longer is killed.

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
      terminationGracePeriodSeconds: 600
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
      terminationGracePeriodSeconds: 90
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

- `notice` (number, 120): seconds between the notice and the end.

## References

- [Spot Instance interruption notices](https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html)
- [EKS best practices: Karpenter](https://docs.aws.amazon.com/eks/latest/best-practices/karpenter.html)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.drain import grace_place, grace_seconds, is_finite
from unpend.placement.spot import spot_choices
from unpend.rule import Facts, Finding, Option, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its grace period."""
    for choice in spot_choices(facts):
        spec = choice.workload.template.spec
        seconds = grace_seconds(spec)
        if seconds <= options["notice"]:
            continue
        yield Finding(
            grace_place(spec),
            f"The pods may take {seconds} s to end, and a spot node of {choice.pools[0]} is gone {options['notice']} s after "
            "the notice: they are killed.",
            related=tuple(Related(f"NodePool/{p.name} makes spot nodes", p.place) for p in choice.node_pools[:1]),
            severity="info" if is_finite(choice.workload) else None,
            certainty="assumed",
            workload=choice.workload.id,
            repair="end within two minutes, or ask for on-demand",
        )


RULE = Rule(
    name="spot-termination-too-long",
    topic="spot",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    options=(Option("notice", 120, "seconds between the notice and the end", minimum=0),),
)
