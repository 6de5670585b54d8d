"""No pool has nodes with the labels that the pod asks for.

## What it checks

`nodeSelector` and required node affinity against the labels that the nodes of every pool have or could have. The rule
speaks when labels are what keeps the nearest pool from taking the pod, and neither a misspelt nor an unknown key explains
it.

kube-linter (`no-node-affinity`) asks that a pod has node affinity; this rule asks for none, it asks whether what is
written can be met.

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

from unpend.placement.blame import blamed
from unpend.rule import Facts, Finding, Rule, against, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that labels keep from its nearest pool."""
    for workload, verdict, found in blamed(facts, "nodeSelector", "nodeAffinity"):
        yield unplaced(
            verdict,
            found.obstacle.place or workload.template.spec.place,
            f"No pool has nodes with these labels: {found.obstacle.message}{found.elsewhere()}.",
            against(found.obstacle, f"of {found.pool.pool}"),
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
