"""A long-running workload that holds every node it lands on.

## What it checks

`karpenter.sh/do-not-disrupt: "true"` on the pods of workloads that do not end by themselves, and on the nodes of a
NodePool. On a DaemonSet it is an error: its pods are on all nodes, so nothing in the cluster is ever consolidated.
With a duration, such as `4h`, the rule speaks at `info`. Jobs and CronJobs are left out: there the annotation is what
it is for. Where all nodes are known to be node groups, nothing reads the annotation, and the rule is silent.

## Why it matters

Karpenter never consolidates a node with such a pod on it, nor replaces a drifted one unless the node has a
`terminationGracePeriod`. One replica a node is enough to freeze a pool. No other linter knows what the annotation
does to the node.

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
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations:
        karpenter.sh/do-not-disrupt: "true"
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
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
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Karpenter: Disruption](https://karpenter.sh/docs/concepts/disruption/) - karpenter:D-5, karpenter:D-7,
  karpenter:D-20, karpenter:D-22
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.do_not_disrupt import DO_NOT_DISRUPT, protection
from unpend.disruption.drain import is_finite
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each annotation that protects."""
    version = facts.settings.karpenter.version
    inventory = facts.inventory
    elsewhere = facts.settings.world.pools == "closed" and bool(inventory.node_groups) and not inventory.node_pools
    for workload in () if elsewhere else inventory.workloads:
        mark = workload.template.annotations.get(DO_NOT_DISRUPT)
        if mark is None or is_finite(workload):
            continue
        found = protection(mark.value, version)
        if found.kind == "nothing":
            continue
        everywhere = workload.kind == "DaemonSet" and found.kind == "always"
        yield Finding(
            mark.place,
            _everywhere(facts) if everywhere else _message(mark.value, found.kind),
            severity="error" if everywhere else "info" if found.kind == "duration" else None,
            workload=workload.id,
            repair="drop the annotation and protect the pods with a PodDisruptionBudget",
        )
    for pool in facts.inventory.node_pools:
        mark = pool.template_annotations.get(DO_NOT_DISRUPT)
        if mark is not None and mark.value == "true":
            yield Finding(
                mark.place,
                f"All nodes of {pool.name} carry do-not-disrupt: none is ever consolidated or replaced, they only expire.",
                repair="use consolidationPolicy and budgets of the pool instead",
            )


def _message(value: str, kind: str) -> str:
    if kind == "duration":
        return f"For {value} after it starts, each of these pods keeps its node from being consolidated."
    return "As long as one of these pods runs, Karpenter does not consolidate its node: these pods never end by themselves."


def _everywhere(facts: Facts) -> str:
    names = "Karpenter"
    if facts.inventory.node_pools:
        from unpend.disruption.consolidation import named

        names = named(facts.inventory.node_pools)
    return f"A DaemonSet with do-not-disrupt is on every node: no node of {names} is ever consolidated."


RULE = Rule(
    name="do-not-disrupt-permanent",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
)
