"""Storage capacity that drivers publish: where a volume of a class can still be made (S-1009)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.algebra.quantity import QuantityError, milli
from unpend.algebra.values import from_expression
from unpend.model.inventory import Inventory, OtherObject, PersistentVolumeClaim, StorageClass
from unpend.placement.demand import Alternative, Written, alternative_from


def capacity_alternatives(
    claim: PersistentVolumeClaim, storage: StorageClass, inventory: Inventory
) -> tuple[Alternative, ...] | None:
    """The nodes for which some CSIStorageCapacity of the class is large enough; None where capacity is not tracked."""
    if not any(_tracks(other, storage.provisioner) for other in inventory.others):
        return None
    size = claim.request.milli if claim.request else 0
    return tuple(
        _topology(other)
        for other in inventory.others
        if other.kind == "CSIStorageCapacity" and _has_room(_data(other), storage.name, size)
    )


def _data(other: OtherObject) -> Mapping[str, Any]:
    data = other.object.data
    return data if isinstance(data, Mapping) else {}


def _tracks(other: OtherObject, driver: str) -> bool:
    if other.kind != "CSIDriver" or other.name != driver:
        return False
    spec = _data(other).get("spec")
    return isinstance(spec, Mapping) and spec.get("storageCapacity") is True


def _has_room(data: Mapping[str, Any], storage_class: str, size: int) -> bool:
    if data.get("storageClassName") != storage_class or "nodeTopology" not in data:
        return False
    # A driver may say how large one volume can be; only then is that the number that counts.
    amount = data.get("maximumVolumeSize", data.get("capacity"))
    try:
        return amount is not None and milli(amount) >= size
    except QuantityError:
        return False


def _topology(other: OtherObject) -> Alternative:
    return alternative_from(tuple(_written(other)))


def _written(other: OtherObject) -> Iterator[Written]:
    selector = _data(other).get("nodeTopology")
    place = other.place.at("nodeTopology")
    if not isinstance(selector, Mapping):
        return
    labels = selector.get("matchLabels")
    texts: tuple[str, ...]
    for key, value in labels.items() if isinstance(labels, Mapping) else ():
        texts = (str(value),)
        yield Written("volume", str(key), "In", texts, from_expression("In", texts), place.at("matchLabels", str(key)))
    expressions = selector.get("matchExpressions")
    for number, entry in enumerate(expressions if isinstance(expressions, list) else ()):
        if isinstance(entry, Mapping):
            texts = tuple(str(value) for value in entry.get("values") or ())
            operator = str(entry.get("operator"))
            here = place.at("matchExpressions", number)
            yield Written("volume", str(entry.get("key")), operator, texts, from_expression(operator, texts), here)
