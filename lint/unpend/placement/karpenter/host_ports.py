"""Host ports as Karpenter compares them (`karpenter:I-4`)."""

from __future__ import annotations

from typing import Protocol

_EVERY_ADDRESS = frozenset({"", "0.0.0.0", "::"})


class HostPortLike(Protocol):
    """A port on the node: address (empty is every address), port, protocol."""

    @property
    def host_ip(self) -> str:
        """The address."""

    @property
    def host_port(self) -> int:
        """The port."""

    @property
    def protocol(self) -> str:
        """TCP, UDP or SCTP; empty means TCP."""


def conflict(one: HostPortLike, two: HostPortLike) -> bool:
    """Whether two ports cannot be on one node. Unlike for kube-scheduler, `::` is every address too."""
    if one.host_port != two.host_port or (one.protocol or "TCP") != (two.protocol or "TCP"):
        return False
    if one.host_ip in _EVERY_ADDRESS or two.host_ip in _EVERY_ADDRESS:
        return True
    return one.host_ip == two.host_ip or _same_address(one.host_ip, two.host_ip)


def _same_address(one: str, two: str) -> bool:
    if ":" not in one + two:
        return False
    from ipaddress import ip_address

    try:
        first, second = ip_address(one), ip_address(two)
    except ValueError:
        return False
    if first.is_unspecified or second.is_unspecified:
        return True
    mapped = tuple(getattr(address, "ipv4_mapped", None) or address for address in (first, second))
    return mapped[0] == mapped[1]
