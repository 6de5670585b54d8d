"""A Job that one interruption of a spot node fails for good.

## What it checks

Jobs and CronJobs with `backoffLimit: 0` whose pods may land on spot nodes, without a `podFailurePolicy` that ignores
disruptions (`onPodConditions` with DisruptionTarget).

## Why it matters

The first interruption counts as the one failure that is allowed: the Job fails, and nothing starts it again.

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
apiVersion: batch/v1
kind: Job
metadata: {name: report}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: report, image: report:1, resources: {requests: {cpu: "1"}}}]
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
apiVersion: batch/v1
kind: Job
metadata: {name: report}
spec:
  backoffLimit: 0
  podFailurePolicy:
    rules:
      - {action: Ignore, onPodConditions: [{type: DisruptionTarget}]}
  template:
    spec:
      restartPolicy: Never
      containers: [{name: report, image: report:1, resources: {requests: {cpu: "1"}}}]
```

## Options

None.

## References

- [Jobs: pod failure policy](https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy)
- scheduler:S-1633
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.spot import spot_choices
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each Job, at its backoffLimit."""
    for choice in spot_choices(facts):
        workload = choice.workload
        if workload.kind not in ("Job", "CronJob"):
            continue
        spec = workload.place.at("spec")
        if workload.kind == "CronJob":
            spec = spec.at("jobTemplate", "spec")
        data = spec.value
        limit = data.get("backoffLimit") if isinstance(data, dict) else None
        if limit != 0 or isinstance(limit, bool) or _ignores_disruption(data):
            continue
        yield Finding(
            spec.at("backoffLimit"),
            f"One interruption of a spot node of {choice.pools[0]} fails this Job: backoffLimit is 0, and no podFailurePolicy "
            "ignores disruptions.",
            related=tuple(Related(f"NodePool/{p.name} makes spot nodes", p.place) for p in choice.node_pools[:1]),
            certainty="assumed",
            workload=workload.id,
            repair="add a podFailurePolicy that ignores DisruptionTarget, or ask for on-demand",
        )


def _ignores_disruption(data: Mapping[str, Any]) -> bool:
    policy = data.get("podFailurePolicy")
    rules = policy.get("rules") if isinstance(policy, dict) else None
    for rule in rules if isinstance(rules, list) else ():
        conditions = rule.get("onPodConditions") if isinstance(rule, dict) else None
        for condition in conditions if isinstance(conditions, list) else ():
            if isinstance(condition, dict) and condition.get("type") == "DisruptionTarget":
                return bool(rule.get("action") in ("Ignore", "Count"))
    return False


RULE = Rule(
    name="spot-job-not-restartable",
    topic="spot",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    enabled=False,
    profiles=("reliability",),
)
