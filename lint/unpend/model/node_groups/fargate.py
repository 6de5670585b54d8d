"""Fargate profiles: pods that need no node of the cluster (C-631)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unpend.model.builder import Builder
from unpend.model.inventory import FargateSelector
from unpend.source.document import Object
from unpend.source.place import Place


def read_profile(obj: Object, builder: Builder) -> None:
    """A `FargateProfile` of ACK."""
    spec = obj.data.get("spec")
    for selector in selectors(spec if isinstance(spec, dict) else {}, obj.root.at("spec")):
        builder.add("fargate", selector)


def selectors(owner: Mapping[str, Any], place: Place) -> Iterator[FargateSelector]:
    """The selectors of one profile; those without a namespace select nothing."""
    listed = owner.get("selectors")
    for number, one in enumerate(listed if isinstance(listed, list) else ()):
        namespace = one.get("namespace") if isinstance(one, dict) else None
        if isinstance(namespace, str) and namespace:
            labels = one.get("labels")
            pairs = labels.items() if isinstance(labels, dict) else ()
            wanted = tuple((str(key), value) for key, value in pairs if isinstance(value, str))
            yield FargateSelector(namespace, wanted, place.at("selectors", number))
