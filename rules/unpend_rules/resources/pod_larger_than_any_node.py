"""A pod asks for more than any node that would take it has.

## What it checks

The effective request of the pod (containers and sidecars, the peak of its init containers, RuntimeClass overhead, defaults of a
LimitRange) against what the nodes of each pool have left after what the system and the DaemonSets take. The rule speaks when
size is what keeps the nearest pool from taking it.

## Why it matters

A machine with 16 vCPUs offers less than 16 to pods. kube-scheduler says "Insufficient cpu", Karpenter "no instance type has
enough resources", and the pod stays Pending.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1, resources: {requests: {cpu: "4", memory: 20Gi}}}]
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: web, image: web:1, resources: {requests: {cpu: "3", memory: 12Gi}}}]
```

## Options

None.

## References

- [Resource Management for Pods and Containers](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/)
- [Reserve Compute Resources for System Daemons](https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/)
- scheduler:P-713, scheduler:P-719, scheduler:P-720, karpenter:I-5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.blame import blamed
from unpend.placement.verdict import Obstacle
from unpend.rule import Facts, Finding, Rule, against, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that its size keeps from its nearest pool, at the request."""
    for workload, verdict, found in blamed(facts, "resources"):
        yield unplaced(
            verdict,
            found.obstacle.place or workload.template.spec.place,
            f"No node is large enough: {found.obstacle.message}{found.elsewhere()}.",
            against(found.obstacle, f"of {found.pool.pool}"),
            repair=_more_slots(found.obstacle) if verdict.nearest is None else None,
        )


def _more_slots(obstacle: Obstacle) -> str | None:
    return (
        "use nodes that take more pods, or fewer DaemonSets on them"
        if obstacle.semantics == "scheduler:P-711"
        else None
    )


RULE = Rule(
    name="pod-larger-than-any-node",
    topic="resources",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=50,
    competes=True,
    assumes_closed=("pools",),
)
