"""A value has the wrong type or is not legal, so the API refuses the object or its pods.

## What it checks

The fields that decide where a pod may run, in workloads, nodes, classes, limit ranges and claims: types, quantities, label keys
and values, operators, tolerations, taints, topology spread constraints, affinity terms, ports. Then what admission says to the
pods of a workload: minimum, maximum and ratio of a LimitRange, priority and preemption. The rest of the object is still judged.

## Why it matters

An object that the API refuses is noticed when it is applied. Pods that it refuses are not: the Deployment is accepted and then
shows 0 pods, with the reason hidden in the events of its ReplicaSet.

## Example

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: web:1
      resources: {requests: {memory: 1 GiB}}
```

## Instead

```yaml
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
    - name: web
      image: web:1
      resources: {requests: {memory: 1Gi}}
```

## Options

None.

## References

- [Resource units in Kubernetes](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/)
- [Limit ranges](https://kubernetes.io/docs/concepts/policy/limit-range/)
- scheduler:A-201, scheduler:A-743
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule, illegal, refused
from unpend.source.place import Place


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each illegal value, then one for each further reason to refuse the pods of a workload."""
    told: set[tuple[Place, str]] = set()
    for problem in facts.inventory.problems:
        told.add((problem.place, problem.message))
        yield illegal(problem)
    for workload in facts.inventory.workloads:
        for refusal in facts.effective(workload).refusals:
            if (refusal.place, refusal.message) not in told:
                yield refused(refusal, workload.id, "never")


RULE = Rule(
    name="invalid-manifest",
    topic="validity",
    severity="error",
    doc=__doc__,
    check=check,
    rank=900,
    competes=True,
)
