"""The allowed topologies of a StorageClass name a label that its driver does not know.

## What it checks

The keys of `allowedTopologies` against the driver: the key of another driver, the plain zone label where the driver
(Google's persistent disks) goes by its own, a driver's key with a provisioner that was part of Kubernetes, and zone
labels of long ago. The EBS and Azure drivers of today understand the plain zone label beside their own.

## Why it matters

The driver refuses to make a volume ("no topology key found"), or kube-scheduler finds no node with the label: the
claim is never bound and its pods stay Pending. Karpenter makes no node for a label that no NodePool defines.

## Example

```yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies:
  - matchLabelExpressions:
      - {key: topology.gke.io/zone, values: [us-east-1a, us-east-1b]}
```

## Instead

```yaml
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies:
  - matchLabelExpressions:
      - {key: topology.kubernetes.io/zone, values: [us-east-1a, us-east-1b]}
```

## Options

None.

## References

- [Allowed topologies](https://kubernetes.io/docs/concepts/storage/storage-classes/#allowed-topologies)
- [EBS CSI driver: parameters and topology](https://github.com/kubernetes-sigs/aws-ebs-csi-driver/tree/master/docs)
- scheduler:S-1008, karpenter:V-14
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.node_labels import ZONE
from unpend.rule import Facts, Finding, Rule

OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
KEYS: Mapping[str, frozenset[str]] = {
    "topology.ebs.csi.aws.com/zone": frozenset({"ebs.csi.aws.com"}),
    "topology.gke.io/zone": frozenset(
        {
            "filestore.csi.storage.gke.io",
            "parallelstore.csi.storage.gke.io",
            "pd.csi.storage.gke.io",
        }
    ),
    "topology.disk.csi.azure.com/zone": frozenset({"disk.csi.azure.com"}),
    "topology.cinder.csi.openstack.org/zone": frozenset({"cinder.csi.openstack.org"}),
    "csi.hetzner.cloud/location": frozenset({"csi.hetzner.cloud"}),
    "topology.topolvm.io/node": frozenset({"topolvm.io"}),
}
"""Keys of drivers, with the drivers that go by them."""

DRIVERS: Mapping[str, str] = {driver: key for key, drivers in KEYS.items() for driver in sorted(drivers)}
ONLY_OWN = frozenset({"pd.csi.storage.gke.io"})
"""Drivers that do not know the plain zone label."""


def check(facts: Facts, options: Mapping[str, Any]) -> Iterator[Finding]:
    """One finding for each expression, at its key."""
    for storage in facts.inventory.storage_classes.values():
        for term in storage.topologies:
            for expression in term.expressions:
                found = _wrong(storage.provisioner, expression.key)
                if found is None:
                    continue
                reason, better = found
                yield Finding(
                    expression.place.at("key"),
                    f"{storage.provisioner} does not go by {expression.key}: {reason}.",
                    repair=f"use {better}",
                )


def _wrong(provisioner: str, key: str) -> tuple[str, str] | None:
    """Why a key is wrong for a provisioner, and which one is right; None for keys and drivers that are not known."""
    in_tree = provisioner.startswith("kubernetes.io/")
    better = DRIVERS[provisioner] if provisioner in ONLY_OWN else ZONE
    if key in KEYS and provisioner not in KEYS[key]:
        if in_tree:
            return f"it is a label of {_list(KEYS[key])}", ZONE
        if provisioner in DRIVERS:
            return f"it is a label of {_list(KEYS[key])}", DRIVERS[provisioner] if better == ZONE else better
    if key == ZONE and provisioner in ONLY_OWN:
        return f"its nodes are told apart by {DRIVERS[provisioner]}", better
    if key == OLD_ZONE and provisioner in DRIVERS:
        return f"it is the name that {ZONE} had before Kubernetes 1.17", better
    return None


def _list(drivers: frozenset[str]) -> str:
    return " and ".join(sorted(drivers)[:1])


RULE = Rule(
    name="wrong-csi-topology-key",
    topic="volumes",
    severity="warning",
    doc=__doc__,
    check=check,
    needs=("storage",),
)
