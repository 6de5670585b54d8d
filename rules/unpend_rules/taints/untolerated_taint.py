"""A taint that the pod does not tolerate keeps it from every pool that would do.

## What it checks

The taints of each pool against the tolerations of the pod, effect by effect. Every `NoSchedule` and `NoExecute` taint of a
node needs a toleration; one for another effect, or for one of two taints, is not enough. The rule speaks when the nearest
pool refuses by a taint. Startup taints do not count, nor do tolerations that an admission plug-in adds
(`injectedTolerations` in the configuration).

Popeye (code 700) compares tolerations with the nodes of a running cluster; this rule compares them with the taints
that NodePools and node groups will put on nodes, so it also speaks where no node exists yet.

## Why it matters

kube-scheduler says "node(s) had untolerated taint", Karpenter "did not tolerate taint", and the pod stays Pending.

## Example

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, pool: batch}
spec:
  taints: [{key: dedicated, value: batch, effect: NoSchedule}]
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {pool: batch}
  containers: [{name: web, image: web:1}]
```

## Instead

Tolerate the taint, with its value, or ask for a pool without it.

```yaml
apiVersion: v1
kind: Node
metadata:
  name: n1
  labels: {kubernetes.io/hostname: n1, pool: batch}
spec:
  taints: [{key: dedicated, value: batch, effect: NoSchedule}]
status:
  allocatable: {cpu: "4", memory: 16Gi, pods: "58"}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  nodeSelector: {pool: batch}
  tolerations:
    - {key: dedicated, operator: Equal, value: batch, effect: NoSchedule}
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Taints and Tolerations](https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)
- scheduler:P-401, scheduler:P-402, scheduler:P-403, scheduler:P-408, karpenter:A-1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.blame import blamed
from unpend.rule import Facts, Finding, Rule, against, unplaced


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that a taint keeps from its nearest pool, at its tolerations."""
    for workload, verdict, found in blamed(facts, "toleration"):
        yield unplaced(
            verdict,
            found.obstacle.place or workload.template.spec.place,
            f"A taint keeps the pod away: {found.obstacle.message}{found.elsewhere()}.",
            against(found.obstacle, f"taint of {found.pool.pool}"),
        )


RULE = Rule(
    name="untolerated-taint",
    topic="taints",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "pools"),
    rank=50,
    competes=True,
    assumes_closed=("pools",),
)
