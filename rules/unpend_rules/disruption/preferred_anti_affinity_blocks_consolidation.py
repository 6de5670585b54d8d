"""A preferred anti-affinity that Karpenter holds like a requirement when it removes nodes.

## What it checks

Preferred pod anti-affinity of a workload against its own pods, where there can be two or more of them and a NodePool
that may take them is consolidated. Silent with `preferencePolicy: Ignore`, for pools without consolidation, for one
replica, and for the add-ons in `exempt`.

kube-linter (`no-anti-affinity`), kube-score (`deployment-has-host-podantiaffinity`) and Polaris ask *for* an
anti-affinity; this rule tells what one costs under Karpenter. Do both: spread with a constraint whose skew you can
afford.

## Why it matters

Karpenter treats preferences as requirements until a pod fails, and a new node counts as success. Nine DNS pods on one
node give "can't remove without creating 9 candidates", so nodes stay half empty for ever.

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
  replicas: 9
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              podAffinityTerm:
                topologyKey: kubernetes.io/hostname
                labelSelector: {matchLabels: {app: web}}
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
  replicas: 9
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 2
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: web}}
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

- `exempt` (list of names): workloads that are left out; the default names add-ons whose charts come like this.

## References

- [Karpenter: Disruption](https://karpenter.sh/docs/concepts/disruption/) -
  [aws/karpenter-provider-aws#3406](https://github.com/aws/karpenter-provider-aws/issues/3406) - karpenter §9.6,
  karpenter:U-8
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.consolidation import named, wishes_held
from unpend.rule import Facts, Finding, Option, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each preferred term against pods of the same workload."""
    for held in wishes_held(facts, ("anti-affinity",), options["exempt"]):
        each = "a node of its own" if held.wish.per_node else f"a {held.wish.key} of its own"
        yield Finding(
            held.wish.place,
            f"Each of up to {held.replicas} pods prefers {each}, and Karpenter keeps that like a requirement when it "
            f"consolidates {named(held.pools)}: no node with several of them can be removed.",
            related=tuple(Related(f"{pool.name} is consolidated", pool.place) for pool in held.pools[:3]),
            workload=held.workload.id,
            salient=held.wish.key,
            repair="use a spread constraint with the skew you can afford, or preferencePolicy: Ignore",
        )


RULE = Rule(
    name="preferred-anti-affinity-blocks-consolidation",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    options=(
        Option(
            "exempt",
            (
                "coredns",
                "kube-dns",
                "metrics-server",
                "ebs-csi-controller",
                "aws-load-balancer-controller",
                "karpenter",
            ),
            "names of workloads that are left out",
        ),
    ),
)
