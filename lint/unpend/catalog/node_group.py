"""A node of a node group: nominal, as Cluster Autoscaler reckons, and what is left for pods, as the image computes.

`cluster-autoscaler.md` §2.1 (C-214, C-215), §2.2 (C-222) and §6.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from unpend.catalog.allocatable import GB, MIB, Hardware, address_limited_pods, allocatable, capacity
from unpend.catalog.aws import AwsCatalog, aws_catalog
from unpend.catalog.azure import azure_sizes
from unpend.catalog.catalog import Catalog
from unpend.catalog.instance import Interval, exactly
from unpend.catalog.own import OwnCatalog
from unpend.catalog.profile import NodeProfile
from unpend.model.node_labels import ARCH, INSTANCE_TYPE
from unpend.records import dataclass

GPU = "nvidia.com/gpu"
TEMPLATE_PODS = 110_000
_FROM_THE_ENI_UP = 30
_AZURE_CPU = {1: 60, 2: 100, 4: 140, 8: 180, 16: 260, 32: 420, 64: 740}
"""Millicores that AKS reserves by number of cores (§6.8)."""


@dataclass(frozen=True, slots=True)
class Machine:
    """An instance type of a node group. Amounts are in thousandths of the unit.

    `nominal` is what Cluster Autoscaler takes for both capacity and allocatable, `allocatable` what is really left for
    pods. `labels` are those of the type.
    """

    name: str
    arch: str
    nominal: Mapping[str, int]
    allocatable: Mapping[str, Interval]
    labels: Mapping[str, str]


def machine_of(
    name: str, provider: str, profile: NodeProfile, catalogs: Sequence[Catalog], loose: bool = False
) -> Machine | None:
    """A type by its name, None when no catalogue knows it. `loose`: the kubelet may be set up to reserve less."""
    for catalog in catalogs:
        if isinstance(catalog, OwnCatalog) and catalog.number(name) is not None:
            return _own(name, catalog)
    if provider == "azure":
        return _azure(name, profile)
    if provider == "aws":
        return _aws(name, profile, loose)
    return None


def _aws(name: str, profile: NodeProfile, loose: bool) -> Machine | None:
    catalog: AwsCatalog = aws_catalog()
    number = catalog.number(name)
    if number is None:
        return None
    hardware = catalog.hardware(number)
    nominal = {"cpu": hardware.cpu * 1000, "memory": hardware.memory * MIB, "pods": TEMPLATE_PODS}
    nominal[GPU] = hardware.devices.get(GPU, 0) * 1000
    left = dict(allocatable(hardware, profile))
    if loose:
        whole = capacity(hardware, profile)
        left = {
            key: Interval(low, max(high, whole[key].high if key in whole else high))
            for key, (low, high) in left.items()
        }
    if profile.max_pods is None and not profile.windows:
        left["pods"] = _pods(hardware, left["pods"])
    if hardware.nvme:
        # Local disks can be made the disk of the kubelet when the node starts.
        low, high = left["ephemeral-storage"]
        left["ephemeral-storage"] = Interval(low, max(high, hardware.nvme * GB))
    arch = "arm64" if hardware.arm else "amd64"
    return Machine(name, arch, nominal, left, {INSTANCE_TYPE: name, ARCH: arch})


def _pods(hardware: Hardware, by_address: Interval) -> Interval:
    """EKS caps the number for managed groups, and prefix delegation raises it up to the cap (§6.8)."""
    cap = 110_000 if hardware.cpu < _FROM_THE_ENI_UP else 250_000
    return Interval(min(by_address.low, cap), max(by_address.high, cap))


def _azure(name: str, profile: NodeProfile) -> Machine | None:
    size = azure_sizes().get(name)
    if size is None:
        return None
    nominal = {"cpu": size.cpu * 1000, "memory": size.memory * MIB, "pods": TEMPLATE_PODS}
    if size.gpu:
        nominal[GPU] = size.gpu * 1000
    pods = profile.max_pods
    low_pods, high_pods = (30, 250) if pods is None else (pods, pods)
    reserved = _azure_cpu(size.cpu)
    memory = size.memory * MIB
    most_reserved = min((20 * high_pods + 50) * MIB, memory // 4) + 100 * MIB
    least_reserved = min((20 * low_pods + 50) * MIB, memory // 4) + 100 * MIB
    left = {
        "cpu": exactly(size.cpu * 1000 - reserved),
        "memory": Interval(int(memory * 0.925) - most_reserved, memory - least_reserved),
        "pods": Interval(low_pods * 1000, high_pods * 1000),
    }
    if size.gpu:
        left[GPU] = exactly(size.gpu * 1000)
    disk = next((device.size for device in profile.block_devices if device.size), None)
    if disk:
        nominal["ephemeral-storage"] = disk
        left["ephemeral-storage"] = Interval(int(disk * 0.8), disk)
    return Machine(size.name, size.arch, nominal, left, {INSTANCE_TYPE: size.name, ARCH: size.arch})


def _azure_cpu(cores: int) -> int:
    return next((taken for known, taken in _AZURE_CPU.items() if cores <= known), _AZURE_CPU[64])


def _own(name: str, catalog: OwnCatalog) -> Machine:
    found = catalog.types[catalog.number(name) or 0]
    nominal = {key: amount.high for key, amount in found.capacity.items()}
    nominal.setdefault("pods", TEMPLATE_PODS)
    labels = {key: values[0] for key, values in found.labels.items() if len(values) == 1}
    return Machine(name, labels.get(ARCH, "amd64"), nominal, found.allocatable, {INSTANCE_TYPE: name, **labels})


def pods_by_network(name: str) -> tuple[int, int] | None:
    """Pods for which an EC2 type has addresses, and the most with prefix delegation (§6.8); None where unknown."""
    catalog = aws_catalog()
    number = catalog.number(name)
    if number is None:
        return None
    hardware = catalog.hardware(number)
    return address_limited_pods(hardware), 110 if hardware.cpu < _FROM_THE_ENI_UP else 250
