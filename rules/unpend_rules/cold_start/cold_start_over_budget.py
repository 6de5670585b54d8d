"""A pod typically takes longer to serve than its budget allows.

## What it checks

Workloads with a budget: the annotation `unpend.dev/cold-start-budget` on the object or its pod template, or an entry under
`startup.budget` in the config (`default`, the name of a RuntimeClass, or a pattern of `Kind/namespace/name`). The budget is compared with
the longest path that can happen: a new node where one is made for the pod, else a warm node that pulls the image.

## Why it matters

A start is a range and not a number. The rule speaks when the typical start is over the budget; `at: worst` lets it speak earlier, `at: best`
only where the budget surely cannot be kept. The figures are those of a profile: `unpend startup` prints them, `unpend calibrate` measures yours.

## Example

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, annotations: {unpend.dev/cold-start-budget: 60s}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
```

## Instead

```yaml
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.k8s.aws/instance-category, operator: In, values: [m]}
---
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@v20260101}]
  subnetSelectorTerms: [{tags: {discovery: prod}}]
  securityGroupSelectorTerms: [{tags: {discovery: prod}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, annotations: {unpend.dev/cold-start-budget: 3m}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: web, image: "example.com/web:1", resources: {requests: {cpu: "1", memory: 1Gi}}}
```

## Options

- `at` (`typical`): which end of the range is compared: `best`, `typical` or `worst`.

## References

- [Cold starts](../cold-start.md)
- [Cluster Autoscaler FAQ](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md), autoscaler:C-309
- [Karpenter: settings](https://karpenter.sh/docs/reference/settings/), karpenter §7.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Option, Related, Rule
from unpend.startup.budget import ANNOTATION, has_budgets, seconds_of, written


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that is over its budget, and for each annotation that is no duration."""
    everyone = has_budgets(facts.settings)
    for workload in facts.inventory.workloads:
        label = written(workload)
        if (label is None and not everyone) or workload.kind == "DaemonSet":
            continue
        if label is not None and seconds_of(label.value) is None:
            yield Finding(
                label.place,
                f"{ANNOTATION} is {label.value!r}, which is no duration.",
                workload=workload.id,
                repair="write it as 90s or 1m30s",
            )
            continue
        from unpend.startup.analysis import starts_in
        from unpend.startup.stages import PATH_TITLES, shown, shown_range

        starts = starts_in(facts)
        start = starts.of(workload)
        slowest = start.slowest
        if start.budget is None or slowest is None:
            continue
        total = slowest.longest.total
        compared = {"best": total.best, "worst": total.worst}.get(options["at"], total.typical)
        if compared <= start.budget.seconds:
            continue
        dominating = slowest.longest.dominating
        most = f" Most of it: {dominating.title} ({shown(dominating.interval.typical)})." if dominating else ""
        place = starts.pools[slowest.pool].place
        runtime = f" with RuntimeClass {start.runtime_class}" if start.runtime_class else ""
        yield Finding(
            start.budget.place or workload.template.spec.place,
            f"A start{runtime} takes {shown_range(total)} ({PATH_TITLES[slowest.longest.kind]}, {slowest.pool}), over the budget of "
            f"{shown(start.budget.seconds)}.{most}",
            related=() if place is None else (Related("the pool whose nodes it would run on", place),),
            certainty="heuristic",
            workload=workload.id,
            repair="see `unpend startup` for what would shorten it, or raise the budget",
        )


RULE = Rule(
    name="cold-start-over-budget",
    topic="cold-start",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    options=(Option("at", "typical", "which end of the range is compared: best, typical or worst"),),
)
