"""A volume on one node keeps that node from being removed by Cluster Autoscaler.

## What it checks

Claims of workloads that may land on nodes of Cluster Autoscaler, where the volume is bound to one node: a PersistentVolume
whose node affinity asks for `kubernetes.io/hostname`, or a StorageClass of a provisioner that makes such volumes (option
`provisioners`). Left out are DaemonSets, workloads that end by themselves, and expendable pods.

## Why it matters

The pod can run nowhere else. Cluster Autoscaler tries where the pods of a node would go before it removes it, finds no
place for this one, and keeps the node, however little it does. `safe-to-evict: "true"` changes nothing.

## Example

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-east-1}
managedNodeGroups:
  - {name: workers, instanceType: m5.large, minSize: 1, maxSize: 5}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: data}
provisioner: rancher.io/local-path
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers:
        - name: app
          image: registry.example.com/db:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec:
        storageClassName: data
        accessModes: [ReadWriteOnce]
        resources: {requests: {storage: 10Gi}}
```

## Instead

```yaml
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: example, region: us-east-1}
managedNodeGroups:
  - {name: workers, instanceType: m5.large, minSize: 1, maxSize: 5}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: data}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers:
        - name: app
          image: registry.example.com/db:1
          resources: {requests: {cpu: 100m, memory: 128Mi}}
  volumeClaimTemplates:
    - metadata: {name: data}
      spec:
        storageClassName: data
        accessModes: [ReadWriteOnce]
        resources: {requests: {storage: 10Gi}}
```

## Options

`provisioners`: provisioners whose volumes stay on the node where they were made.

## References

- [Cluster Autoscaler FAQ](https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md) -
  autoscaler §10
- [Local volumes](https://kubernetes.io/docs/concepts/storage/volumes/#local)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.disruption.drain import is_finite
from unpend.disruption.landing import autoscaled, landing_of
from unpend.disruption.scale_down import is_expendable, scale_down_flags
from unpend.model.inventory import Inventory, PersistentVolumeClaim, Workload
from unpend.rule import Facts, Finding, Option, Rule

HOSTNAME = "kubernetes.io/hostname"


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its first such claim."""
    if not autoscaled(facts):
        return
    landing, flags = landing_of(facts), scale_down_flags(facts)
    for workload in facts.inventory.workloads:
        if workload.kind == "DaemonSet" or is_finite(workload):
            continue
        why = next(_bound(workload, facts.inventory, options["provisioners"]), None)
        if why is None or is_expendable(facts.effective(workload), flags) or not landing.on_groups(workload):
            continue
        claim, reason = why
        yield Finding(
            claim.place,
            f"The volume stays on the node where it is ({reason}), the pod can run nowhere else, and Cluster Autoscaler keeps "
            "that node.",
            workload=workload.id,
            salient=claim.name,
            repair="use storage that a pod can take along, or a group of its own that need not shrink",
        )


def _bound(
    workload: Workload, inventory: Inventory, provisioners: tuple[str, ...]
) -> Iterator[tuple[PersistentVolumeClaim, str]]:
    """Claims of a workload whose volume is on one node, and what says so."""
    claims = {(c.namespace, c.name): c for c in inventory.claims}
    volumes = {v.name: v for v in inventory.volumes}
    named = [claims.get((workload.namespace, v.claim)) for v in workload.template.spec.volumes if v.claim]
    for claim in (*workload.claim_templates, *named):
        if claim is None:
            continue
        volume = volumes.get(claim.volume_name) if claim.volume_name else None
        if volume is not None:
            terms = volume.terms or ()
            if terms and all(any(e.key == HOSTNAME and e.operator == "In" for e in t.expressions) for t in terms):
                yield claim, f"PersistentVolume {volume.name} asks for its hostname"
            continue
        storage = inventory.storage_classes.get(claim.storage_class) if claim.storage_class else None
        if storage is None and claim.storage_class is None:
            storage = next((one for one in inventory.storage_classes.values() if one.is_default), None)
        if storage is not None and storage.provisioner in provisioners:
            yield claim, f"provisioner {storage.provisioner}"


RULE = Rule(
    name="ca-node-volume-blocks-scale-down",
    topic="disruption",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "nodegroups", "storage"),
    options=(
        Option(
            "provisioners",
            ("kubernetes.io/no-provisioner", "rancher.io/local-path", "openebs.io/local", "topolvm.io"),
            "provisioners whose volumes stay on one node",
        ),
    ),
)
