"""How many pods a node has addresses for, against the limit of its kubelet (autoscaler:§6.8, karpenter:M-6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from unpend.catalog.node_group import pods_by_network


class OverDensity(NamedTuple):
    """A limit of pods that the interfaces of a type have no addresses for; `with_prefixes`: prefix delegation has."""

    type: str
    limit: int
    addresses: int
    with_prefixes: bool


def over_addresses(limit: int, types: Iterable[str]) -> OverDensity | None:
    """The EC2 type with the fewest addresses, where the limit is above them; types that nobody knows do not count."""
    found = [(*network, name) for name in types if (network := pods_by_network(name)) is not None]
    if not found:
        return None
    addresses, _, name = min(found)
    cap = min(most for _, most, _ in found)
    return OverDensity(name, limit, addresses, limit <= cap) if limit > addresses else None
