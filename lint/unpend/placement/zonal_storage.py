"""Which volumes live in one zone: by the driver of their class, and by what their PersistentVolume says (S-1042)."""

from __future__ import annotations

from unpend.model.inventory import StorageClass
from unpend.model.node_labels import ZONE
from unpend.placement.volumes import Mount

ZONE_KEYS = frozenset(
    {
        ZONE,
        "failure-domain.beta.kubernetes.io/zone",
        "topology.disk.csi.azure.com/zone",
        "topology.ebs.csi.aws.com/zone",
        "topology.gke.io/zone",
    }
)
"""Labels whose value is a zone."""

ZONAL = frozenset(
    {
        "disk.csi.azure.com",
        "ebs.csi.aws.com",
        "kubernetes.io/aws-ebs",
        "kubernetes.io/azure-disk",
        "kubernetes.io/gce-pd",
        "pd.csi.storage.gke.io",
    }
)
"""Provisioners of disks that are in one zone, unless a parameter of the class asks for copies in several."""


def is_zonal(storage: StorageClass) -> bool:
    """Whether a class surely makes volumes that are in one zone each."""
    if storage.provisioner not in ZONAL:
        return False
    values = [str(value).lower() for value in storage.parameters.values()]
    return not any(value == "regional-pd" or value.endswith("_zrs") or "balanced-ha" in value for value in values)


def allowed_zones(storage: StorageClass) -> frozenset[str] | None:
    """The zones in which a class may make volumes; None for all."""
    zones: set[str] = set()
    for term in storage.topologies:
        listed = [set(e.values) for e in term.expressions if e.key in ZONE_KEYS]
        if not listed:
            return None
        zones |= set.intersection(*listed)
    return frozenset(zones) if storage.topologies else None


def zone_of(mount: Mount) -> str | None:
    """The one zone in which a bound volume is; None where it is not bound, or not to a single zone."""
    for rule in mount.rules:
        if rule.kind not in ("bound", "zone"):
            continue
        zones = {
            tuple(sorted(values.values or ()))
            for alternative in rule.alternatives
            for key, values in alternative.folded.items()
            if key in ZONE_KEYS and not values.admits_absent
        }
        if len(zones) == 1:
            (only,) = zones
            if len(only) == 1:
                return only[0]
    return None
