"""No pool has nodes with the labels that the pod asks for.

## What it checks

`nodeSelector` and required node affinity against the labels that the nodes of every pool have or could have. The rule
speaks when labels are what keeps the nearest pool from taking the pod, and neither a misspelt nor an unknown key explains
it.

## Why it matters

kube-scheduler never binds the pod ("node(s) didn't match Pod's node affinity/selector"), and an autoscaler starts no
node for it, or starts one in vain.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {disk: ssd, kubernetes.io/hostname: n1}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {disk: nvme}
  containers: [{name: web, image: web:1}]
```

## Instead

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {disk: ssd, kubernetes.io/hostname: n1}
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {disk: ssd}
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Assigning Pods to Nodes](https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/)
- scheduler:P-501, scheduler:P-502, scheduler:P-503, scheduler:P-507
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.blame import blame
from unpend.rule import Facts, Finding, Related, Rule, placement


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that labels keep from its nearest pool."""
    for workload in facts.inventory.workloads:
        verdict = facts.verdicts.get(workload.id)
        found = blame(verdict) if verdict else None
        if verdict is None or found is None or found.obstacle.constraint not in ("nodeSelector", "nodeAffinity"):
            continue
        obstacle = found.obstacle
        related = () if obstacle.against is None else (Related(f"of {found.pool.pool}", obstacle.against.place),)
        yield Finding(
            obstacle.place or workload.template.spec.place,
            f"No pool has nodes with these labels: {obstacle.message}{found.elsewhere()}.",
            related=related,
            certainty=verdict.certainty,
            subject=placement(workload.id),
            workload=workload.id,
            verdict=verdict.verdict,
        )


RULE = Rule(
    name="unsatisfiable-node-requirements",
    topic="labels",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=50,
    competes=True,
    assumes_closed=("pools",),
)
