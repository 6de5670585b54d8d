"""The data of a workload is in one zone, and the workload with it.

## What it checks

Workloads whose claims are bound to a volume of one zone, or get one from a StorageClass of zonal disks. For a
StatefulSet of three or more replicas, each with a volume of its own, that are spread over zones it is a hint only: such
stores mostly keep copies of each other's data. Generic ephemeral volumes hold nothing that would be missed. It stays
silent where the cluster has one zone. Off in the default profile, on in `reliability`.

## Why it matters

When the zone is lost, or shifted away from, the pod stays Pending until the zone comes back: the volume cannot move, and
no other node may mount it.

## Example

```yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  resources: {requests: {storage: 10Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: db}
spec:
  containers: [{name: db, image: db:1}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
```

## Instead

```yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: shared}
provisioner: efs.csi.aws.com
volumeBindingMode: Immediate
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteMany]
  storageClassName: shared
  resources: {requests: {storage: 10Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: db}
spec:
  containers: [{name: db, image: db:1}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
```

## Options

None.

## References

- [EKS best practices: data plane](https://docs.aws.amazon.com/eks/latest/best-practices/data-plane.html)
- scheduler:S-1043, karpenter:V-16, karpenter:Z-5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.inventory import Workload
from unpend.placement.claims import VolumeBook
from unpend.placement.volumes import Mount
from unpend.placement.zonal_storage import ZONE_KEYS, is_zonal, zone_of
from unpend.rule import Facts, Finding, Related, Rule

MEMBERS = 3
"""As many replicas in different zones keep a store alive without one of them."""


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload, at its first volume of that kind."""
    if len(facts.settings.zones) == 1:
        return
    book = VolumeBook(facts.inventory, facts.settings)
    for workload in facts.inventory.workloads:
        if workload.kind == "DaemonSet" or workload.replicas == 0:
            continue
        mounts = book.of(workload, workload.template.spec)
        mount = next((m for m in mounts if _is_zonal(m)), None)
        if mount is None:
            continue
        zone = zone_of(mount)
        where = f"is in zone {zone}" if zone is not None else "will be in one zone"
        replicated = _is_replicated(workload, mount)
        related = (
            (Related("the volume", mount.bound_to.place),)
            if mount.bound_to is not None
            else (Related("the class", mount.storage_class.place),)
            if mount.storage_class is not None
            else ()
        )
        yield Finding(
            mount.place,
            f"The volume of {mount.title} {where} and cannot move: without that zone its pod stays Pending.",
            related=related,
            severity="info" if replicated else None,
            certainty="proved" if zone is not None else "heuristic",
            workload=workload.id,
            repair="keep copies in other zones, or use storage that all zones reach",
        )


def _is_zonal(mount: Mount) -> bool:
    if mount.claim is None or not mount.claim.name:
        return False
    if mount.state == "bound":
        return zone_of(mount) is not None
    return mount.state in ("delayed", "immediate") and mount.storage_class is not None and is_zonal(mount.storage_class)


def _is_replicated(workload: Workload, mount: Mount) -> bool:
    """Whether there are enough members in different zones, each with a volume of its own."""
    if mount.shared or (workload.replicas or 1) < MEMBERS:
        return False
    spec = workload.template.spec
    keys = {constraint.topology_key for constraint in spec.spread}
    keys |= {term.topology_key for term in (*spec.affinity.anti_required, *spec.affinity.anti_preferred)}
    return bool(keys & ZONE_KEYS)


RULE = Rule(
    name="zonal-volume-immovable",
    topic="volumes",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("workloads", "storage"),
    enabled=False,
    profiles=("reliability",),
)
