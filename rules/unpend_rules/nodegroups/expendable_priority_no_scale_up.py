"""The priority of a pod is so low that Cluster Autoscaler adds no node for it.

## What it checks

Workloads with a priority below `--expendable-pods-priority-cutoff` (-10, or what the configuration or the Deployment of Cluster
Autoscaler says) that need a node group which Cluster Autoscaler scales. Placeholder pods have a rule of their own.

## Why it matters

Such pods count as expendable: they never trigger a node and never keep one. They run where something is left over, and stay Pending
for ever in a group that is empty.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
managedNodeGroups:
  - name: workers
    minSize: 0
    maxSize: 5
    iam: {withAddonPolicies: {autoScaler: true}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: batch}
value: -20
---
apiVersion: batch/v1
kind: Job
metadata: {name: report, namespace: shop}
spec:
  template:
    spec:
      restartPolicy: Never
      priorityClassName: batch
      containers: [{name: report, image: "report:1"}]
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
managedNodeGroups:
  - name: workers
    minSize: 0
    maxSize: 5
    iam: {withAddonPolicies: {autoScaler: true}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: batch}
value: -10
---
apiVersion: batch/v1
kind: Job
metadata: {name: report, namespace: shop}
spec:
  template:
    spec:
      restartPolicy: Never
      priorityClassName: batch
      containers: [{name: report, image: "report:1"}]
```

## Options

None.

## References

- [Cluster Autoscaler FAQ: expendable pods](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md)
- autoscaler:C-104
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.facts import node_groups_of
from unpend.placement.placeholders import is_placeholder
from unpend.rule import Facts, Finding, Related, Rule, placement
from unpend.source.place import Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload below the cutoff."""
    groups = node_groups_of(facts)
    if not any(group.scaler == "cluster-autoscaler" and group.grows for group in groups.groups):
        return
    cutoff = groups.flags.cutoff
    for workload in facts.inventory.workloads:
        pod = facts.effective(workload)
        priority = pod.spec.priority or 0
        verdict = facts.verdicts.get(workload.id)
        if priority >= cutoff or workload.kind == "DaemonSet" or is_placeholder(pod) or verdict is None:
            continue
        if verdict.verdict == "skipped":
            continue
        spec = workload.template.spec
        place = spec.place.at("priorityClassName") if spec.priority_class else spec.place
        found = facts.inventory.priority_classes.get(spec.priority_class or "")
        yield Finding(
            place,
            f"Cluster Autoscaler adds no node for priority {priority}, which is below its cutoff {cutoff}: the pod runs "
            "only where something is left over.",
            related=() if found is None else (Related("where the priority is from", _value(found.place)),),
            subject=placement(workload.id) if verdict.verdict != "fits" else (),
            workload=workload.id,
            repair=f"give the class a value of at least {cutoff}",
        )


def _value(place: Place) -> Place:
    return place.at("value")


RULE = Rule(
    name="expendable-priority-no-scale-up",
    topic="nodegroups",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodegroups", "workloads"),
    rank=16,
    competes=True,
)
