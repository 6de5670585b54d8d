"""A memory limit above its request, in a pool whose nodes are packed by requests.

## What it checks

Limits of memory, ephemeral storage and other resources that are higher than the request, in workloads that may land
in a NodePool that is consolidated. CPU is left out on purpose: a container above its share is slowed down, not
killed. A workload that is meant to burst says so with the label `burstable-label`. Left out are DaemonSets, of which
a node has one pod, and pods that use up the cpu of a node before their limits add up to more than its memory.

kube-score (`container-…-requests-equal-limits`) and Kyverno's Karpenter policies check the pair everywhere; this rule
speaks only where consolidation packs nodes, and reckons what the smallest node of the pool would be promised.

## Why it matters

Karpenter packs nodes by requests. When the pods use what their limits allow, memory runs out and the kernel kills:
first whoever is furthest above its request, then its neighbours. The tighter consolidation packs, the sooner.

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
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources:
            requests: {cpu: 800m, memory: 256Mi}
            limits:
              memory: 6Gi
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
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: app
          image: registry.example.com/web:1
          resources:
            requests: {cpu: 800m, memory: 2Gi}
            limits: {memory: 2Gi}
```

## Options

- `burstable-label` (label key): pods with this label are left out.

## References

- [EKS Best Practices: Karpenter](https://docs.aws.amazon.com/eks/latest/best-practices/karpenter.html) - karpenter
  §9.5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.consolidation import consolidating, named
from unpend.disruption.landing import landing_of
from unpend.disruption.limits import Above, limits_above, worst
from unpend.rule import Edit, Facts, Finding, Fix, Option, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each resource of a workload with limits above requests."""
    landing = landing_of(facts)
    for workload in facts.inventory.workloads:
        if workload.kind == "DaemonSet":
            continue
        spec = workload.template.spec
        above = [a for a in limits_above(spec) if a.resource != "cpu"]
        if not above or options["burstable-label"] in workload.template.labels:
            continue
        pools = consolidating(facts, landing.pools(workload))
        if not pools:
            continue
        for resource in dict.fromkeys(a.resource for a in above):
            same = [a for a in above if a.resource == resource]
            # One finding for the pod, at the container that is furthest above its request.
            one = max(same, key=lambda a: a.limit.milli - a.request.milli)
            promised = worst(facts, pools, one, spec)
            if promised is None:
                continue
            others = tuple(
                Related(f"above the request too, in {a.container.name}", a.limit.place) for a in same if a is not one
            )
            yield Finding(
                one.limit.place,
                f"The limit {one.limit.text} is {one.ratio} the request {one.request.text}, and Karpenter packs nodes of "
                f"{named(pools)} by requests{promised}.",
                related=(Related("the request", one.request.place), *others),
                certainty="assumed",
                subject=("limit-above-request", f"{id(workload.object):x}", str(one.limit.place)),
                workload=workload.id,
                fixes=(_fix(one, same),),
                repair=f"set the {one.resource} request to the limit, or label the pods {options['burstable-label']}",
            )


def _fix(one: Above, same: list[Above]) -> Fix:
    """The requests raised to the limits."""
    if len(same) == 1:
        title = f"Request {one.limit.text} of {one.resource}, as the limit says"
    else:
        title = f"Request as much {one.resource} as the limits say"
    return Fix(title, "unsafe", tuple(Edit("set", a.request.place, a.limit.place.value) for a in same))


RULE = Rule(
    name="non-cpu-request-limit-mismatch",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    options=(Option("burstable-label", "unpend.dev/burstable", "key of a pod label that says that bursting is meant"),),
    rank=10,
    competes=True,
)
