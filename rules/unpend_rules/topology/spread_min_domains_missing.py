"""A zone spread without `minDomains`: zones that have no node yet do not count.

## What it checks

`DoNotSchedule` constraints over zones without `minDomains`, for workloads of several replicas on NodePools of two or more
known zones, where no zone surely has nodes already.

## Why it matters

kube-scheduler knows only the zones that have nodes. On a fresh or scaled-down cluster all replicas fit into the one zone
with room, and the spread holds all the same.

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
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b, us-east-1c]}
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
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
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
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a, us-east-1b, us-east-1c]}
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
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: topology.kubernetes.io/zone
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
          minDomains: 3
      containers: [{name: web, image: web:1, resources: {requests: {cpu: 100m}}}]
```

## Options

None.

## References

- [Topology spread constraints](https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/)
- [aws/karpenter-provider-aws#2572](https://github.com/aws/karpenter-provider-aws/issues/2572) - scheduler:S-805,
  scheduler:S-806
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.karpenter_labels import ZONE
from unpend.placement.spreading import spreadings
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each such constraint."""
    standing = {n.labels[ZONE].value for n in facts.inventory.nodes if ZONE in n.labels}
    pools = {f"NodePool/{pool.name}" for pool in facts.inventory.node_pools if not pool.is_static}
    for one in spreadings(facts):
        domains = one.domains
        if not one.is_hard or not one.itself or one.constraint.min_domains is not None or one.needed < 2:
            continue
        if domains.key != ZONE or not domains.exact or len(domains.reachable) < 2 or standing >= set(domains.reachable):
            continue
        taking = [p.pool for p in one.verdict.pools if p.verdict in ("fits", "conditional")]
        if not taking or not pools.issuperset(taking):
            continue
        count = min(len(domains.reachable), one.needed)
        yield Finding(
            one.constraint.place,
            f"Without minDomains only zones that have a node already count: on a fresh cluster all {one.needed} replicas "
            "may start in one zone.",
            workload=one.workload.id,
            repair=f"add minDomains: {count}",
        )


RULE = Rule(
    name="spread-min-domains-missing",
    topic="topology",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    enabled=False,
    profiles=("reliability",),
    when=("spread",),
)
