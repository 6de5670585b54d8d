"""A single replica that may be on a spot node.

## What it checks

Deployments and StatefulSets with one replica in the steady state whose pods may land on spot nodes and do not ask for one.

kube-linter (`minimum-replicas`), Polaris (`deploymentMissingReplicas`) and hardeneks (`run_multiple_replicas`) ask
for a second replica everywhere; this rule asks only where the pod may land on spot.

## Why it matters

A spot node goes with two minutes' notice, and the only replica with it. A second one costs little next to the outage.

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
  replicas: 1
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
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {karpenter.sh/capacity-type: on-demand}
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

- `exempt-namespaces` (list of names): namespaces that are left out, such as those for development.

## References

- [EKS best practices: reliability](https://docs.aws.amazon.com/eks/latest/best-practices/application.html)
- karpenter:E-3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.spot import spot_choices
from unpend.rule import Facts, Finding, Option, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its replicas."""
    for choice in spot_choices(facts):
        workload = choice.workload
        if workload.kind not in ("Deployment", "StatefulSet") or choice.verdict.replicas.needed != 1:
            continue
        if choice.chosen is not None or workload.namespace in options["exempt-namespaces"]:
            continue
        place = workload.replicas_place if workload.replicas is not None else None
        yield Finding(
            place or workload.template.spec.place,
            f"The only replica may be on a spot node of {choice.pools[0]}: an interruption is an outage.",
            related=tuple(Related(f"NodePool/{p.name} makes spot nodes", p.place) for p in choice.node_pools[:1]),
            certainty="assumed",
            workload=workload.id,
            repair="run two replicas, or ask for on-demand",
        )


RULE = Rule(
    name="spot-singleton",
    topic="spot",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    options=(Option("exempt-namespaces", (), "namespaces that are left out"),),
    enabled=False,
    profiles=("reliability",),
)
