"""What a node class and the settings of Karpenter say about the nodes made of an instance type."""

from __future__ import annotations

from unpend.records import dataclass

AmiFamily = str
"""AL2, AL2023, Bottlerocket, Custom, Windows2019, Windows2022 or Windows2025."""

WINDOWS_BUILDS = {"Windows2019": "10.0.17763", "Windows2022": "10.0.20348", "Windows2025": "10.0.26100"}


@dataclass(frozen=True, slots=True)
class BlockDevice:
    """One block device mapping; `size` is in thousandths of a byte, None when only a snapshot is named (M-5)."""

    name: str
    size: int | None
    root: bool = False


@dataclass(frozen=True, slots=True)
class NodeProfile:
    """Everything beside the instance type that decides labels and allocatable of an AWS node; hashable.

    `kube_reserved` and `system_reserved` are (resource, thousandths) pairs. `memory_available` and `nodefs_available`
    are the texts of `evictionHard` (`200Mi` or `5%`), None when not written. `efa_only` counts the efa-only interfaces
    of all cards, None without `networkInterfaces`; `efa_only_on_default_card` those of card 0. `karpenter` is its
    version as a pair. `reserved_enis` and `memory_overhead` (0.075 is 7.5 %) are settings of Karpenter.
    """

    ami_family: AmiFamily = "AL2023"
    max_pods: int | None = None
    pods_per_core: int | None = None
    kube_reserved: tuple[tuple[str, int], ...] = ()
    system_reserved: tuple[tuple[str, int], ...] = ()
    memory_available: str | None = None
    nodefs_available: str | None = None
    block_devices: tuple[BlockDevice, ...] = ()
    raid0: bool = False
    reserved_enis: int = 0
    efa_only: int | None = None
    efa_only_on_default_card: int = 0
    memory_overhead: float = 0.075
    karpenter: tuple[int, int] = (1, 14)

    @property
    def windows(self) -> bool:
        """Whether the nodes run Windows (M-10)."""
        return self.ami_family in WINDOWS_BUILDS

    @property
    def bottlerocket(self) -> bool:
        """Whether the nodes run Bottlerocket."""
        return self.ami_family == "Bottlerocket"
