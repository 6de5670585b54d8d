"""From the spec of an EC2NodeClass, as plain data, to a node profile (karpenter 10.1, 10.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unpend.algebra.quantity import QuantityError, milli
from unpend.catalog.profile import BlockDevice, NodeProfile
from unpend.model.karpenter import AMI_FAMILIES
from unpend.settings import KarpenterSettings

RESERVED_ENIS = "reservedENIs"
"""The key of `KarpenterSettings.options` with the setting of that name."""


def profile_of(spec: Mapping[str, Any], karpenter: KarpenterSettings | None = None) -> NodeProfile:
    """The profile that a node class gives its nodes. A value of the wrong type counts as not written."""
    settings = karpenter or KarpenterSettings()
    kubelet = _mapping(spec.get("kubelet"))
    eviction = _mapping(kubelet.get("evictionHard"))
    efa_only, on_default_card = _efa_only(spec.get("networkInterfaces"))
    return NodeProfile(
        ami_family=ami_family(spec),
        max_pods=_number(kubelet.get("maxPods")),
        pods_per_core=_number(kubelet.get("podsPerCore")),
        kube_reserved=tuple(_amounts(kubelet.get("kubeReserved"))),
        system_reserved=tuple(_amounts(kubelet.get("systemReserved"))),
        memory_available=_text(eviction.get("memory.available")),
        nodefs_available=_text(eviction.get("nodefs.available")),
        block_devices=tuple(_devices(spec.get("blockDeviceMappings"))),
        raid0=spec.get("instanceStorePolicy") == "RAID0",
        reserved_enis=_reserved(settings.options.get(RESERVED_ENIS)),
        efa_only=efa_only,
        efa_only_on_default_card=on_default_card,
        memory_overhead=settings.vm_memory_overhead_percent,
        karpenter=_version(settings.version),
    )


def ami_family(spec: Mapping[str, Any]) -> str:
    """`amiFamily`, else the family of the alias; Custom where neither says it."""
    written = spec.get("amiFamily")
    if isinstance(written, str) and written:
        return written
    for term in _items(spec.get("amiSelectorTerms")):
        alias = term.get("alias")
        if isinstance(alias, str):
            return AMI_FAMILIES.get(alias.partition("@")[0].lower(), "Custom")
    return "Custom"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        yield from (one for one in value if isinstance(one, Mapping))


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _quantity(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return milli(value)
    except QuantityError:
        return None


def _amounts(value: Any) -> Iterator[tuple[str, int]]:
    for name, text in sorted(_mapping(value).items()):
        amount = _quantity(text)
        if amount is not None:
            yield name, amount


def _devices(value: Any) -> Iterator[BlockDevice]:
    for one in _items(value):
        size = _mapping(one.get("ebs")).get("volumeSize")
        yield BlockDevice(_text(one.get("deviceName")) or "", _quantity(size), one.get("rootVolume") is True)


def _efa_only(value: Any) -> tuple[int | None, int]:
    """EFA-only interfaces of all cards, None when no interface is written, and those of the default card (M-9)."""
    interfaces = list(_items(value))
    if not interfaces:
        return None, 0
    only = [one for one in interfaces if one.get("interfaceType") == "efa-only"]
    return len(only), sum(not one.get("networkCardIndex") for one in only)


def _reserved(value: Any) -> int:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() else 0


def _version(text: str) -> tuple[int, int]:
    """Major and minor version; the newest that is known for a text that is none."""
    parts = text.removeprefix("v").split(".")
    if len(parts) > 1 and parts[0].isdigit() and parts[1].isdigit():
        return int(parts[0]), int(parts[1])
    return NodeProfile().karpenter
