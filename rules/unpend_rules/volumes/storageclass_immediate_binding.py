"""A StorageClass of zonal disks chooses the zone before the pod is scheduled.

## What it checks

`volumeBindingMode` of StorageClasses whose disks live in one zone (AWS EBS, Google persistent disks, Azure disks). It
stays silent where the class allows one zone only or keeps copies in several, and where the cluster has one zone.
Absent is `Immediate`.

## Why it matters

The disk is made in any zone as soon as the claim is there. If no node of that zone takes the pod, because of its node
affinity, of full or missing pools there, or of a second disk in another zone, the pod stays Pending for good.

## Example

```yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: ebs.csi.aws.com
volumeBindingMode: Immediate
```

## Instead

```yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
```

## Options

None.

## References

- [Volume binding mode](https://kubernetes.io/docs/concepts/storage/storage-classes/#volume-binding-mode)
- scheduler:S-1005, scheduler:S-1042, karpenter:V-7
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.placement.zonal_storage import allowed_zones, is_zonal
from unpend.rule import Edit, Facts, Finding, Fix, Rule


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each class, at its binding mode."""
    if len(facts.settings.zones) == 1:
        return
    for storage in facts.inventory.storage_classes.values():
        if storage.binding_mode != "Immediate" or not is_zonal(storage):
            continue
        zones = allowed_zones(storage)
        if zones is not None and len(zones) < 2:
            continue
        place = storage.place.at("volumeBindingMode")
        yield Finding(
            place,
            f"Disks of StorageClass/{storage.name} are in one zone, which {storage.provisioner} chooses as soon as a claim "
            "is there: the pod that uses it may find no node in that zone.",
            repair="make a class with volumeBindingMode WaitForFirstConsumer (the field of this one cannot be changed)",
            fixes=(
                Fix(
                    "Bind when a pod is scheduled",
                    "unsafe",
                    (Edit("set", place, "WaitForFirstConsumer"),),
                ),
            ),
        )


RULE = Rule(
    name="storageclass-immediate-binding",
    topic="volumes",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("storage",),
)
