"""Local storage for which Cluster Autoscaler keeps the node.

## What it checks

`emptyDir` (not in memory) and `hostPath` volumes of workloads that may land on nodes of Cluster Autoscaler. Left out:
DaemonSets, workloads that end by themselves, pods with `safe-to-evict: "true"` or with all such volumes in
`safe-to-evict-local-volumes`, expendable pods, kube-system pods without a budget, and everything with
`clusterAutoscaler.skipNodesWithLocalStorage: false`. Karpenter does not look at local storage.

Kyverno's `add-safe-to-evict` writes the annotation; this rule tells where it is missing and matters.

## Why it matters

Cluster Autoscaler assumes that the data is dear and does not remove the node, however empty. With one such pod on
each node the group never shrinks. A service mesh that injects an emptyDir into every pod does that to the whole
cluster.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-east-1}
managedNodeGroups:
  - {name: workers, instanceType: m5.large, minSize: 1, maxSize: 5}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      volumes:
        - {name: scratch, emptyDir: {}}
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-east-1}
managedNodeGroups:
  - {name: workers, instanceType: m5.large, minSize: 1, maxSize: 5}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: scratch}
    spec:
      volumes:
        - {name: scratch, emptyDir: {}}
      containers:
        - name: app
          image: registry.example.com/web:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
```

## Options

None.

## References

- [Cluster Autoscaler FAQ](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md) -
  autoscaler §4.1, autoscaler:C-411, autoscaler:C-417
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.landing import autoscaled, landing_of
from unpend.disruption.pdb import coverage_of
from unpend.disruption.scale_down import (
    LOCAL_VOLUMES,
    is_expendable,
    is_settled,
    is_system,
    local_volumes,
    scale_down_flags,
)
from unpend.rule import Facts, Finding, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its first local volume."""
    flags = scale_down_flags(facts)
    if not flags.local_storage or not autoscaled(facts):
        return
    landing, budgets = landing_of(facts), coverage_of(facts).of_workload
    for workload in facts.inventory.workloads:
        if not workload.template.spec.volumes or is_settled(workload) or is_system(workload, budgets):
            continue
        found = local_volumes(workload)
        if not found or is_expendable(facts.effective(workload), flags) or not landing.on_groups(workload):
            continue
        names = ", ".join(f"{v.name} ({v.kind})" for v in found)
        yield Finding(
            found[0].place,
            f"Cluster Autoscaler removes no node with such a pod on it, because of its local storage: {names}.",
            workload=workload.id,
            salient=names,
            repair=f'list the volumes in the pod annotation {LOCAL_VOLUMES}, or set safe-to-evict: "true"',
        )


RULE = Rule(
    name="ca-local-storage-blocks-scale-down",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodegroups"),
)
