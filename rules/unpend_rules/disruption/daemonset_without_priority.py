"""A DaemonSet that may find no room on nodes that are full.

## What it checks

DaemonSets without a priority class, where no class is the default of the cluster and there are NodePools or node
groups. Polaris (`priorityClassNotSet`) and kube-linter (`priority-class-name`) ask for a class on every workload; it
matters where pods have to push others away.

## Why it matters

Autoscalers count DaemonSets when they choose a new node, not on the nodes that are there. One that is added or grows
later stays Pending on every full node, and no node is added for it. With a higher priority it preempts a pod that can
go elsewhere.

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
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers:
        - name: app
          image: registry.example.com/agent:1
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
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      priorityClassName: system-node-critical
      containers:
        - name: app
          image: registry.example.com/agent:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Karpenter: FAQ](https://karpenter.sh/docs/faq/) -
  [kubernetes-sigs/karpenter#390](https://github.com/kubernetes-sigs/karpenter/issues/390) - karpenter:I-2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each DaemonSet, at its pod spec."""
    inventory = facts.inventory
    if not (inventory.node_pools or inventory.node_groups):
        return
    if any(c.global_default for c in inventory.priority_classes.values()):
        return
    for workload in inventory.workloads:
        spec = workload.template.spec
        if workload.kind == "DaemonSet" and not spec.priority_class and not spec.priority:
            yield Finding(
                spec.place.at("priorityClassName"),
                f"{workload.name} has no priority: on a node that is full already its pod stays Pending, and no node is "
                "added for a DaemonSet.",
                workload=workload.id,
                repair="set priorityClassName: system-node-critical, or a class of your own above the workloads",
            )


RULE = Rule(
    name="daemonset-without-priority",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("daemonsets",),
)
