"""Pods come and go faster than consolidation can wait, or make it run all the time.

## What it checks

`consolidateAfter` of each NodePool against the CronJobs that may land on it: with a shorter period than it, each run
starts the waiting anew. And `consolidateAfter: 0s` on a pool that takes CronJobs or workloads with an autoscaler.

## Why it matters

consolidateAfter counts from the last pod that came to a node or left it. A CronJob every minute and five minutes of
waiting mean that the node never becomes consolidatable. With 0s the opposite happens: a node goes the moment a burst
is over, and the next burst launches one again. No other linter compares the two.

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
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 5m
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: poll, namespace: shop}
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: app
              image: registry.example.com/poll:1
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
apiVersion: batch/v1
kind: CronJob
metadata: {name: poll, namespace: shop}
spec:
  schedule: "0 * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: app
              image: registry.example.com/poll:1
              resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Karpenter: Disruption](https://karpenter.sh/docs/concepts/disruption/) -
  [kubernetes-sigs/karpenter#1921](https://github.com/kubernetes-sigs/karpenter/issues/1921) - karpenter:C-1,
  karpenter:C-6
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from unpend.disruption.budgets import A_MONDAY
from unpend.disruption.cron import CronError, parse
from unpend.disruption.landing import landing_of
from unpend.model.inventory import Workload
from unpend.placement.needed import autoscalers_by_target
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each pool, at `consolidateAfter`."""
    landing = landing_of(facts)
    scaled = autoscalers_by_target(facts.inventory)
    restless: dict[str, tuple[int, Workload]] = {}
    bursty: dict[str, Workload] = {}
    for workload in facts.inventory.workloads:
        period = _period(workload) if workload.kind == "CronJob" and not workload.suspended else None
        if period is None and (workload.kind, workload.namespace, workload.name) not in scaled:
            continue
        for pool in landing.pools(workload):
            bursty.setdefault(pool.name, workload)
            if period is not None:
                restless[pool.name] = min(restless.get(pool.name, (period, workload)), (period, workload), key=_first)
    for pool in facts.inventory.node_pools:
        after = pool.disruption.consolidate_after
        if pool.is_static or after.seconds is None or after.place is None:
            continue
        found = restless.get(pool.name)
        if found is not None and after.seconds >= found[0] * 60:
            yield Finding(
                after.place,
                f"{found[1].name} starts a pod every {found[0]} min, and each pod starts the {after.text} anew: a node of "
                f"{pool.name} that it runs on is never consolidated.",
                related=(Related("the CronJob", found[1].place.at("spec", "schedule")),),
                repair="wait for less than the period, or give the CronJob a pool of its own",
            )
        elif after.seconds == 0 and pool.name in bursty:
            yield Finding(
                after.place,
                f"With 0s a node of {pool.name} goes as soon as a burst of {bursty[pool.name].name} is over, and the next "
                "one launches it again.",
                related=(Related("comes and goes", bursty[pool.name].place),),
                repair="wait for a minute or more",
            )


def _first(one: tuple[int, Workload]) -> int:
    return one[0]


def _period(workload: Workload) -> int | None:
    try:
        hits = list(parse(workload.schedule).hits(A_MONDAY, 8))
    except CronError:
        return None
    return min((b - a for a, b in pairwise(hits)), default=None)


RULE = Rule(
    name="consolidate-after-churn",
    topic="disruption",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodepools"),
    enabled=False,
    profiles=("cost",),
)
