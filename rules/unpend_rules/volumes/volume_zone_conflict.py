"""The volume of a pod is in a zone where the pod cannot run.

## What it checks

Where the volumes of a pod are (node affinity and zone labels of the PersistentVolume), or can be made
(`allowedTopologies` of the StorageClass), against the labels that the pod asks for, against its other volumes, and
against the nodes of the pools that take it. Claims whose volume is not among the files are left alone.

## Why it matters

A disk does not move: the pod stays Pending ("node(s) didn't match PersistentVolume's node affinity", "node(s) had no
available volume zone") as long as the volume lives, and no autoscaler can help.

## Example

```yaml
apiVersion: v1
kind: PersistentVolume
metadata: {name: vol-1}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}
  claimRef: {name: data}
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [eu-1a]}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  volumeName: vol-1
  resources: {requests: {storage: 10Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: db}
spec:
  nodeSelector: {topology.kubernetes.io/zone: eu-1b}
  containers: [{name: db, image: db:1}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
```

## Instead

```yaml
apiVersion: v1
kind: PersistentVolume
metadata: {name: vol-1}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}
  claimRef: {name: data}
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [eu-1a]}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  volumeName: vol-1
  resources: {requests: {storage: 10Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: db}
spec:
  nodeSelector: {topology.kubernetes.io/zone: eu-1a}
  containers: [{name: db, image: db:1}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
```

## Options

None.

## References

- [Volume topology](https://kubernetes.io/docs/concepts/storage/storage-classes/#allowed-topologies)
- [Node affinity of volumes](https://kubernetes.io/docs/concepts/storage/persistent-volumes/#node-affinity)
- scheduler:S-1006, scheduler:S-1008, scheduler:S-1014, scheduler:P-1021, scheduler:S-1043
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.blame import blame
from unpend.placement.claims import VolumeBook
from unpend.placement.demand import demand_of, with_volumes
from unpend.placement.verdict import WorkloadVerdict
from unpend.placement.volume_conflicts import VolumeConflict, volume_conflict
from unpend.rule import Facts, Finding, Related, Rule, against, placement, unplaced

WHERE = frozenset({f"scheduler:{rule}" for rule in ("S-1006", "S-1007", "S-1008", "S-1014", "S-1043", "P-1021")})
"""Rules of the scheduler about where a volume is; a claim that cannot be used anywhere is another matter."""


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each workload that its volumes keep from running."""
    book = VolumeBook(facts.inventory, facts.settings)
    for workload in facts.inventory.workloads:
        pod = facts.effective(workload)
        volumes = book.of(workload, pod.spec)
        if not volumes.mounts:
            continue
        found = volume_conflict(with_volumes(demand_of(pod), volumes))
        if found is not None:
            yield _conflict(found, workload.id)
            continue
        verdict = facts.verdicts.get(workload.id)
        if verdict is not None:
            yield from _refused(verdict)


def _conflict(found: VolumeConflict, workload: str) -> Finding:
    mount = found.mount
    if found.other is None:
        other = f"the pod asks for {found.against.text}"
    else:
        other = f"{found.other.title}, which the same pod uses, only where {found.against.text}"
    unless = " (unless there is another PersistentVolume of the class)" if found.open else ""
    return Finding(
        mount.place,
        f"{mount.title} has its volume only where {found.own.text}, and {other}: no node has both{unless}.",
        related=(Related("of the volume", found.own.place), Related("against it", found.against.place)),
        severity="warning" if found.open else None,
        certainty="assumed" if found.open else "proved",
        subject=placement(workload),
        workload=workload,
        verdict=None if found.open else "never",
        assumes_closed=(),
    )


def _refused(verdict: WorkloadVerdict) -> Iterator[Finding]:
    """What the pools say: all nodes refuse because of where a volume is, or those of some ordinals do."""
    partial = verdict.verdict == "partial" and verdict.cause == "volume"
    if not partial and blame(verdict) is None:
        return
    obstacle = next((o for o in verdict.conflict if o.constraint == "volume" and o.semantics in WHERE), None)
    if obstacle is None or obstacle.place is None:
        return
    others = [o for o in verdict.conflict if o is not obstacle and o.place is not None]
    start = "No pool has a node for this volume"
    if partial:
        start = f"At most {verdict.replicas.at_most} of {verdict.replicas.needed} replicas can run"
    related = tuple(Related(other.message, other.place) for other in others if other.place is not None)
    related = (*against(obstacle, "of the volume"), *related)
    yield unplaced(verdict, obstacle.place, f"{start}: {obstacle.message}.", related)


RULE = Rule(
    name="volume-zone-conflict",
    topic="volumes",
    severity="error",
    doc=__doc__,
    check=check,
    needs=("workloads", "storage"),
    rank=20,
    competes=True,
    assumes_closed=("pools",),
)
