"""A StorageClass with a provisioner that Kubernetes no longer contains.

## What it checks

`provisioner` of StorageClasses against the names of the volume plugins that were part of Kubernetes, such as
`kubernetes.io/aws-ebs`.

## Why it matters

CSI migration still translates the name, where the driver is installed. Older releases of Karpenter do not know the
attach limits of such volumes and put too many pods on a node; features of the driver (gp3, snapshots, resizing)
cannot be used.

## Example

```yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp2}
provisioner: kubernetes.io/aws-ebs
volumeBindingMode: WaitForFirstConsumer
```

## Instead

```yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
```

## Options

None.

## References

- [Migrating to CSI drivers](https://kubernetes.io/docs/concepts/storage/volumes/#csi-migration) - [Karpenter:
  Troubleshooting](https://karpenter.sh/docs/troubleshooting/) - karpenter §6.3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.rule import Facts, Finding, Rule

DRIVERS = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/azure-file": "file.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
}


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each class, at its provisioner."""
    for storage in facts.inventory.storage_classes.values():
        driver = DRIVERS.get(storage.provisioner)
        if driver is not None:
            yield Finding(
                storage.place.at("provisioner"),
                f"{storage.provisioner} is not part of Kubernetes any more and works by translation to {driver} only.",
                tags=("deprecated",),
                repair=f"make a class with the provisioner {driver}",
            )


RULE = Rule(
    name="in-tree-provisioner",
    topic="volumes",
    severity="info",
    doc=__doc__,
    check=check,
)
