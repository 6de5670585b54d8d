"""A pod names a PriorityClass that does not exist.

## What it checks

`priorityClassName` against the PriorityClass objects; `system-cluster-critical` and `system-node-critical` are built in.
Where the classes are not known to be complete, the finding is advice.

kube-linter (`priority-class-name`) and Polaris (`priorityClassNotSet`) ask that a class is named or is one of a list;
this rule asks whether the class that is named exists.

## Why it matters

The API refuses the pods ("no PriorityClass with name … was found"): the Deployment shows 0 pods, and nothing is Pending.

## Example

```yaml
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: business-critical}
value: 100000
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  priorityClassName: business-crtical
  containers: [{name: web, image: web:1}]
```

## Instead

```yaml
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: business-critical}
value: 100000
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  priorityClassName: business-critical
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Pod Priority and Preemption](https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/)
- scheduler:A-231
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule, refused


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that names a PriorityClass which is not there."""
    for workload in facts.inventory.workloads:
        pod = facts.effective(workload)
        for refusal in (*pod.refusals, *pod.unknown):
            if refusal.semantics == "scheduler:A-231":
                yield refused(refusal, workload.id)


RULE = Rule(
    name="priority-class-missing",
    topic="classes",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    rank=10,
    competes=True,
    assumes_closed=("classes",),
)
