"""A pod names a RuntimeClass that does not exist.

## What it checks

`runtimeClassName` against the RuntimeClass objects. Where the classes are not known to be complete, the finding is advice: an
add-on may bring the class.

## Why it matters

The API refuses the pods ("RuntimeClass … not found"): the Deployment shows 0 pods, and nothing is Pending.

## Example

```yaml
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: gvisor}
handler: runsc
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  runtimeClassName: gvisorr
  containers: [{name: web, image: web:1}]
```

## Instead

```yaml
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: gvisor}
handler: runsc
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  runtimeClassName: gvisor
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Runtime Class](https://kubernetes.io/docs/concepts/containers/runtime-class/)
- scheduler:A-211
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule, refused


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that names a RuntimeClass which is not there."""
    for workload in facts.inventory.workloads:
        pod = facts.effective(workload)
        for refusal in (*pod.refusals, *pod.unknown):
            if refusal.semantics == "scheduler:A-211":
                yield refused(refusal, workload.id)


RULE = Rule(
    name="runtimeclass-missing",
    topic="classes",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads",),
    rank=10,
    competes=True,
    assumes_closed=("classes",),
)
