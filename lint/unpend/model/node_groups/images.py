"""What the image of a node group decides: operating system, Windows build, CPU architecture (§6.2, §6.3)."""

from __future__ import annotations

from typing import NamedTuple

_BUILDS = {"2019": "10.0.17763", "2022": "10.0.20348", "2025": "10.0.26100"}


class Image(NamedTuple):
    """Family as the catalogue calls it (AL2, AL2023, Bottlerocket, Windows2022 …), None when it cannot be told."""

    family: str | None
    os: str = "linux"
    windows_build: str | None = None
    arch: str | None = None


def windows(name: str) -> Image:
    """A Windows image whose name holds the year."""
    year = next((year for year in _BUILDS if year in name), None)
    family = f"Windows{year}" if year else None
    return Image(family, "windows", _BUILDS[year] if year else None, "amd64")


def of_eksctl(family: str) -> Image:
    """The image of an `amiFamily` of eksctl; empty is AmazonLinux2023."""
    if family.startswith("Windows"):
        return windows(family)
    known = {"": "AL2023", "AmazonLinux2023": "AL2023", "AmazonLinux2": "AL2", "Bottlerocket": "Bottlerocket"}
    return Image(known.get(family))


def of_ami_type(ami_type: str) -> Image:
    """The image of an `amiType` of the EKS API; empty lets the service choose by instance type."""
    if ami_type.startswith("WINDOWS_"):
        return windows(ami_type)
    if ami_type in ("", "CUSTOM"):
        return Image("AL2023" if not ami_type else None)
    arch = "arm64" if "ARM_64" in ami_type else "amd64"
    for prefix, family in (("AL2023_", "AL2023"), ("AL2_", "AL2"), ("BOTTLEROCKET_", "Bottlerocket")):
        if ami_type.startswith(prefix):
            return Image(family, arch=arch)
    return Image(None, arch=arch)
