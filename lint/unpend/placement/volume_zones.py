"""What the zone and region labels of a PersistentVolume ask of a node (P-1021)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from unpend.algebra.values import ValueSet, absent, one_of
from unpend.model.inventory import PersistentVolume
from unpend.model.node_labels import OLDER, REGION, ZONE
from unpend.model.pod import Label
from unpend.placement.demand import Alternative, Written, alternative_from

_OLD = {older: key for older, key in OLDER.items() if key in (ZONE, REGION)}
_ZONE_KEYS = (ZONE, REGION, *_OLD)


def zone_label_alternatives(volume: PersistentVolume) -> tuple[Alternative, ...]:
    """What the zone and region labels of a volume ask of the labels of a node (P-1021).

    A node with no such label at all passes; an older key on the volume also means the key of today on the node.
    """
    ways = []
    for key in _ZONE_KEYS:
        label = volume.labels.get(key)
        if label is not None:
            ways.append(tuple(_zone_ways(key, label)))
    if not ways:
        return ()
    nothing = [Written("volume", key, "DoesNotExist", (), absent(), volume.place) for key in _ZONE_KEYS]
    met = [alternative_from([written for way in ways_taken for written in way]) for ways_taken in product(*ways)]
    return (*met, alternative_from(nothing))


def _zone_ways(key: str, label: Label) -> Iterator[list[Written]]:
    values = tuple(label.value.split("__"))

    def one(name: str, operator: str, texts: tuple[str, ...], allowed: ValueSet) -> Written:
        return Written("volume", name, operator, texts, allowed, label.place)

    yield [one(key, "In", values, one_of(values))]
    if key in _OLD:
        yield [one(key, "DoesNotExist", (), absent()), one(_OLD[key], "In", values, one_of(values))]
