"""Capacity and allocatable of AWS instance types, as Karpenter's AWS provider reckons (karpenter M-1 to M-10)."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from unpend.algebra.quantity import QuantityError, milli
from unpend.catalog.instance import Interval, exactly
from unpend.catalog.profile import BlockDevice, NodeProfile
from unpend.records import dataclass

MIB = 1024 * 1024 * 1000
GIB = 1024 * MIB
GB = 1_000_000_000_000
"""A decimal gigabyte; all three in thousandths of a byte."""

POD_ENI = "vpc.amazonaws.com/pod-eni"
EFA = "vpc.amazonaws.com/efa"
WINDOWS_ADDRESS = "vpc.amazonaws.com/PrivateIPv4Address"

_CPU_SHARES = ((0, 1000, 0.06), (1000, 2000, 0.01), (2000, 4000, 0.005), (4000, 1 << 31, 0.0025))
_ROOT_DEVICES = {"AL2": "/dev/xvda", "AL2023": "/dev/xvda", "Bottlerocket": "/dev/xvdb"}
_ARM_RESERVED_MIB = 64


@dataclass(frozen=True, slots=True)
class Hardware:
    """The facts about a type that its resources follow from; memory in MiB, disks in decimal GB."""

    arm: bool
    cpu: int
    memory: int
    interfaces: int
    addresses: int
    branches: Interval
    nvme: int | None
    devices: Mapping[str, int]


def kube_reserved_cpu(cpu: int) -> int:
    """Millicores that Karpenter reserves for the kubelet, each part cut to whole ones (M-1): 70 of 2 cores."""
    thousandths = cpu * 1000
    return sum(
        int(share * (min(thousandths, end) - start)) for start, end, share in _CPU_SHARES if thousandths >= start
    )


def memory_capacity(hardware: Hardware, overhead: float) -> Interval:
    """Memory of the node: by the configured overhead at least, the nominal size at most once it was learnt (M-2)."""
    usable = (hardware.memory - (_ARM_RESERVED_MIB if hardware.arm else 0)) * 1024 * 1024
    hidden = ceil(usable * overhead / 1024 / 1024) * MIB
    return Interval(usable * 1000 - hidden, max(hardware.memory * MIB, usable * 1000 - hidden))


def address_limited_pods(hardware: Hardware, reserved: int = 0) -> int:
    """Pods that the VPC CNI has addresses for without prefix delegation, `reserved` interfaces taken off (M-6)."""
    interfaces = max(hardware.interfaces - reserved, 0)
    return interfaces * (hardware.addresses - 1) + 2 if interfaces else 0


def pods(hardware: Hardware, profile: NodeProfile) -> int:
    """Pods per node (M-6)."""
    if profile.max_pods is not None:
        count = profile.max_pods
    elif profile.windows:
        count = 110
    else:
        count = address_limited_pods(hardware, profile.reserved_enis + profile.efa_only_on_default_card)
    if profile.pods_per_core and not profile.bottlerocket:
        count = min(count, profile.pods_per_core * hardware.cpu)
    return count


def storage_capacity(hardware: Hardware, profile: NodeProfile) -> int:
    """Ephemeral storage in thousandths of a byte (M-5)."""
    if profile.raid0 and hardware.nvme:
        return hardware.nvme * GB
    default = (50 if profile.windows else 20) * GIB
    device = root_device(profile)
    return default if device is None or device.size is None else device.size


def root_device(profile: NodeProfile) -> BlockDevice | None:
    """The mapping that decides ephemeral storage, None where the default size does (M-5)."""
    devices = profile.block_devices
    for device in devices:
        if device.root:
            return device
    if profile.ami_family == "Custom":
        return devices[-1] if devices else None
    wanted = "/dev/sda1" if profile.windows else _ROOT_DEVICES.get(profile.ami_family)
    return next((device for device in devices if device.name == wanted), None)


def signal(text: str | None, capacity: int, default: int) -> int:
    """An eviction threshold in thousandths of a byte: a quantity or a share of the capacity (M-4); `100%` means none.

    A text that is neither is not ours to report here; the default holds.
    """
    if text is None:
        return default
    try:
        if not text.endswith("%"):
            return milli(text)
        share = float(text[:-1])
    except (ValueError, QuantityError):
        return default
    return 0 if share == 100 else ceil(capacity / 1000 / 100 * share) * 1000


def capacity(hardware: Hardware, profile: NodeProfile) -> dict[str, Interval]:
    """Capacity by resource; a resource that the type does not have is left out."""
    amounts = {
        "cpu": exactly(hardware.cpu * 1000),
        "memory": memory_capacity(hardware, profile.memory_overhead),
        "ephemeral-storage": exactly(storage_capacity(hardware, profile)),
        "pods": exactly(pods(hardware, profile) * 1000),
    }
    for name, count in hardware.devices.items():
        amounts[name] = exactly(count * 1000)
    if profile.efa_only is not None:
        amounts[EFA] = exactly(profile.efa_only * 1000)
    if hardware.branches.high:
        amounts[POD_ENI] = Interval(hardware.branches.low * 1000, hardware.branches.high * 1000)
    if profile.windows:
        amounts[WINDOWS_ADDRESS] = exactly((hardware.addresses - 1) * 1000)
    return amounts


def kube_reserved(hardware: Hardware, profile: NodeProfile) -> dict[str, int]:
    """What is reserved for the kubelet (M-1, M-3, M-5), written entries in place of the computed ones (M-7)."""
    by_pods = profile.bottlerocket or profile.windows
    counted = pods(hardware, profile) if by_pods else address_limited_pods(hardware)
    reserved = {
        "cpu": kube_reserved_cpu(hardware.cpu),
        "memory": (11 * counted + 255) * MIB,
        "ephemeral-storage": GIB,
    }
    reserved.update(profile.kube_reserved)
    return reserved


def allocatable(hardware: Hardware, profile: NodeProfile) -> dict[str, Interval]:
    """Capacity less what is reserved for kubelet, system and eviction; a negative amount means: fits nothing (I-5)."""
    amounts = capacity(hardware, profile)
    reserved = kube_reserved(hardware, profile)
    for name, amount in profile.system_reserved:
        reserved[name] = reserved.get(name, 0) + amount
    for name, text, share in (
        ("memory", profile.memory_available, None),
        ("ephemeral-storage", profile.nodefs_available, 10),
    ):
        low, high = amounts[name]
        taken = reserved.get(name, 0)
        amounts[name] = Interval(*sorted(size - taken - _evicted(text, size, share) for size in (low, high)))
    for name, amount in reserved.items():
        if name not in ("memory", "ephemeral-storage"):
            low, high = amounts.get(name, (0, 0))
            amounts[name] = Interval(low - amount, high - amount)
    return amounts


def _evicted(text: str | None, size: int, share: int | None) -> int:
    default = 100 * MIB if share is None else ceil(size / 1000 / 100 * share) * 1000
    return signal(text, size, default)
