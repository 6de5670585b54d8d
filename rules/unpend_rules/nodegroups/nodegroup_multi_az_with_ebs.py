"""Pods with EBS volumes can only use node groups that span several zones.

## What it checks

Workloads with claims that the EBS driver serves, when every autoscaled AWS group whose nodes take them spans more than one zone.
Groups of one zone beside them are the remedy, so one such group for the workload is enough to stay silent.

## Why it matters

A volume stays in its zone. Cluster Autoscaler imagines every node of a group in the first zone and the cloud chooses another: either
no node is added ("volume node affinity conflict"), or nodes come in the wrong zone until one happens to be right.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
availabilityZones: [us-east-1a, us-east-1b]
managedNodeGroups:
  - name: data
    minSize: 0
    maxSize: 6
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  serviceName: db
  replicas: 3
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: "db:1"}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: gp3
        resources: {requests: {storage: 10Gi}}
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: prod, region: us-east-1}
managedNodeGroups:
  - {name: data-a, minSize: 0, maxSize: 3, availabilityZones: [us-east-1a]}
  - {name: data-b, minSize: 0, maxSize: 3, availabilityZones: [us-east-1b]}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  serviceName: db
  replicas: 3
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: "db:1"}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: gp3
        resources: {requests: {storage: 10Gi}}
```

## Options

None.

## References

- [Amazon EKS best practices: Cluster Autoscaler](https://docs.aws.amazon.com/eks/latest/best-practices/cas.html)
- [kubernetes/autoscaler#1431](https://github.com/kubernetes/autoscaler/issues/1431)
- autoscaler:C-211, autoscaler:C-306, autoscaler:C-307
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.cluster_autoscaler.group_facts import zonal_claims
from unpend.placement.facts import node_groups_of
from unpend.rule import Facts, Finding, Related, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each group, with the first workload that it endangers."""
    groups = node_groups_of(facts)
    wide = {g.name: g for g in groups.groups if g.group.several_zones and g.group.provider == "aws" and g.grows}
    if not any(group.scaler != "none" for group in wide.values()):
        return
    told: set[str] = set()
    for workload in facts.inventory.workloads:
        claim = next(iter(zonal_claims(workload, facts.inventory)), None)
        verdict = facts.verdicts.get(workload.id) if claim is not None else None
        if claim is None or verdict is None or workload.kind == "DaemonSet":
            continue
        usable = [pool.pool for pool in verdict.pools if pool.verdict in ("fits", "conditional", "loop")]
        if not usable or any(name not in wide or wide[name].scaler == "none" for name in usable):
            continue
        for name in usable:
            if name not in told:
                told.add(name)
                group = wide[name].group
                reach = "and is all that" if len(usable) == 1 else "as does all else that"
                yield Finding(
                    group.zones_place or group.place,
                    f"{name} spans several zones {reach} {workload.id} with its EBS volumes can use: Cluster "
                    "Autoscaler reckons with one zone, and the cloud chooses another.",
                    related=(Related("a volume that stays in its zone", claim.place),),
                    salient=group.name,
                    repair="make one group per zone and start Cluster Autoscaler with --balance-similar-node-groups",
                )


RULE = Rule(
    name="nodegroup-multi-az-with-ebs",
    topic="nodegroups",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("nodegroups", "workloads", "storage"),
    assumes_closed=("pools",),
)
