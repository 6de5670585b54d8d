"""Azure VM sizes: what a node group is made of. They are for node groups, not a catalogue of Karpenter's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from unpend.records import dataclass


@dataclass(frozen=True, slots=True)
class VmSize:
    """One size: CPUs, memory in MiB, GPUs, `amd64` or `arm64`, and the quota family."""

    name: str
    cpu: int
    memory: int
    gpu: int
    arch: str
    family: str


@dataclass(frozen=True, slots=True)
class AzureSizes:
    """All sizes known, with the date and source of the data; a name that is not there may exist all the same."""

    date: str
    source: str
    sizes: Mapping[str, VmSize]

    def get(self, name: str) -> VmSize | None:
        """The size of a name, in any case of letters as Azure takes it; None when it is not known."""
        return self.sizes.get(name.lower())


@lru_cache(maxsize=1)
def azure_sizes() -> AzureSizes:
    """The sizes that ship with unpend, read once."""
    from unpend_schemas import load_json

    data: Mapping[str, Any] = load_json("catalog/azure.json")
    columns = data["columns"]
    rows = zip(
        data["names"],
        columns["vcpu"],
        columns["memoryMiB"],
        columns["gpu"],
        columns["arch"],
        columns["family"],
        strict=True,
    )
    return AzureSizes(data["date"], data["source"], {row[0].lower(): VmSize(*row) for row in rows})
