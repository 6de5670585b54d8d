"""A toleration that no taint of any pool answers.

## What it checks

Each toleration of a workload against the taints of all pools and the taints that Kubernetes and the cloud controllers set by
themselves (`node.kubernetes.io/…`, `node.cloudprovider.kubernetes.io/…`). Needs all pools.

Popeye (code 700) compares tolerations with the nodes of a running cluster; this rule compares them with the taints of
the pools, in complete pools only, where a node that is not there yet counts too.

## Why it matters

It does nothing. Often the pool it was written for is gone, or its taint was renamed, and the pod no longer runs where its
author thinks.

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
  tolerations:
    - {key: dedicated, operator: Equal, value: batch, effect: NoSchedule}
  containers: [{name: web, image: web:1}]
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
  containers: [{name: web, image: web:1}]
```

## Options

None.

## References

- [Taints and Tolerations](https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)
- scheduler:P-403, scheduler:P-410
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.taints import tolerates
from unpend.placement.taint_supply import BUILT_IN, taint_supply
from unpend.rule import Edit, Facts, Finding, Fix, Rule

AUTOSCALER = ("ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler", "CriticalAddonsOnly")


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each toleration of a template that tolerates nothing there is."""
    supply = facts.memo("taint-supply", lambda: taint_supply(facts.inventory))
    if supply is None:
        return
    for workload in facts.inventory.workloads:
        for toleration in workload.template.spec.tolerations:
            if not toleration.key or toleration.key.startswith(BUILT_IN) or toleration.key in AUTOSCALER:
                continue
            if not any(tolerates(toleration, taint) for taint in supply):
                text = f"{toleration.key}={toleration.value}" if toleration.value else toleration.key
                yield Finding(
                    toleration.place,
                    f"No pool has a taint that this toleration ({text}) answers.",
                    workload=workload.id,
                    tags=("unnecessary",),
                    salient=text,
                    fixes=(Fix("Remove the toleration", "safe", (Edit("remove", toleration.place),)),),
                )


RULE = Rule(
    name="unused-toleration",
    topic="taints",
    severity="info",
    doc=__doc__,
    check=check,
    needs=("workloads", "closed-pools"),
    enabled=False,
    profiles=("strict",),
    assumes_closed=("pools",),
    when=("tolerations",),
)
