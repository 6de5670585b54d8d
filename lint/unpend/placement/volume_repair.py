"""What to do about a volume that keeps a pod from a node, in one imperative sentence each."""

from __future__ import annotations

from collections.abc import Sequence

from unpend.model.node_labels import ZONE
from unpend.placement.demand import Demand
from unpend.placement.scheduler.node_volume_limits import copies
from unpend.placement.space import Shape
from unpend.placement.verdict import Change
from unpend.placement.volumes import Disk, Mount


def change_volume(mount: Mount, shape: Shape) -> Change:
    """Another volume, class or claim, as the state of the claim asks for."""
    place, title, storage = mount.place, mount.title, mount.storage_class
    if mount.state == "claim-missing":
        return Change(f"create {title}, or name a claim that exists", place)
    if mount.state in ("lost", "terminating", "volume-missing", "not-owned", "not-created"):
        return Change(f"use another claim than {title}, or make that one anew", place)
    if mount.state == "bound" and mount.bound_to is not None:
        zone = shape.labels.get(ZONE)
        where = f"in zone {zone}" if isinstance(zone, str) else f"that {shape.source.owner} reaches"
        volume = f"PersistentVolume/{mount.bound_to.name}"
        return Change(f"restore the data of {title} into a volume {where} (the data of {volume} cannot move)", place)
    if storage is None:
        return Change(f"give {title} a StorageClass that exists and makes volumes", place)
    if mount.state == "immediate":
        message = f"use a StorageClass with volumeBindingMode WaitForFirstConsumer instead of {storage.name}"
        return Change(message, storage.place.at("volumeBindingMode"))
    rule = next((rule for rule in mount.rules if rule.kind == "unbound"), None)
    if rule is None or rule.provisioning is None:
        message = (
            f"use a StorageClass with a provisioner instead of {storage.name}, "
            f"or create a PersistentVolume of it for {title}"
        )
        return Change(message, place)
    key = next((w.key for a in rule.provisioning.topologies or () for w in a.written), ZONE)
    value = shape.labels.get(key)
    if isinstance(value, str):
        message = f"use a StorageClass that makes volumes where {key}={value}, which {storage.name} does not"
        return Change(message, storage.place.at("allowedTopologies"))
    return Change(f"use another StorageClass than {storage.name}", place)


def change_rivals(mounts: Sequence[Mount]) -> Change:
    """More volumes for claims that compete for the same few."""
    titles = " and ".join(mount.title for mount in mounts)
    return Change(f"create a PersistentVolume for each of {titles} that one node reaches", mounts[0].place)


def attach_fewer(demand: Demand, driver: str, shape: Shape) -> Change:
    """Fewer volumes of a driver."""
    wanted = [a for a in demand.volumes.attached if a.driver == driver]
    most = next((n for n in range(len(wanted), 0, -1) if copies(wanted[:n], shape, 1)), 0)
    mount = next(m for m in demand.volumes.mounts if m.attached is not None and m.attached.driver == driver)
    return Change(f"use at most {most} volumes of {driver} in one pod, as {shape.source.owner} takes", mount.place)


def another_disk(disk: Disk) -> Change:
    """A disk that nobody on the node uses."""
    return Change(f"use another {disk.kind} disk than {disk.names[0]!r}", disk.place)
