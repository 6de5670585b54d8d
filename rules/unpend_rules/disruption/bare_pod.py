"""A Pod without a controller is lost with its node.

## What it checks

Pod objects that are not owned and do not end by themselves, where there are NodePools. Test hooks and pods that an
API server already took are left out. Under Cluster Autoscaler such a pod keeps its node, see `ca-bare-pod`.

## Why it matters

Karpenter evicts the pod when it consolidates, replaces or expires the node, and nobody starts it again. It does not
hold the node.

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
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
---
apiVersion: v1
kind: Pod
metadata: {name: debug, namespace: shop, labels: {app: debug}}
spec:
  containers:
    - name: app
      image: registry.example.com/debug:1
      resources: {requests: {cpu: 100m, memory: 128Mi}}
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
  limits: {cpu: "100"}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
  disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 1m}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: debug, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: debug}}
  template:
    metadata: {labels: {app: debug}}
    spec:
      containers:
        - name: app
          image: registry.example.com/debug:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Karpenter: Disruption](https://karpenter.sh/docs/concepts/disruption/) - karpenter:D-24
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.drain import is_finite
from unpend.disruption.scale_down import is_owned
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each bare pod, at its metadata."""
    for workload in facts.inventory.workloads:
        if workload.kind != "Pod" or workload.api_version != "v1" or workload.admitted or is_finite(workload):
            continue
        if not is_owned(workload):
            yield Finding(
                workload.place.at("metadata"),
                f"No controller starts {workload.name} again: it is lost the first time Karpenter removes its node.",
                subject=("bare-pod", f"{id(workload.object):x}"),
                workload=workload.id,
                repair="make it a Deployment or a Job",
            )


RULE = Rule(
    name="bare-pod",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    rank=20,
    competes=True,
)
