"""What every catalogue can be asked, and the age of its data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from unpend.algebra.values import ValueSet
from unpend.catalog.index import Shapes
from unpend.catalog.profile import NodeProfile
from unpend.records import dataclass

OLD_AFTER_DAYS = 180


@dataclass(frozen=True, slots=True)
class Zone:
    """A zone of the account in question: its name, its ID, or both; `""` is unknown (A3)."""

    name: str = ""
    id: str = ""


def named_zones(
    names: Iterable[str], zone_ids: Mapping[str, str], subnets: Iterable[tuple[str, str]] = ()
) -> tuple[Zone, ...]:
    """Zones by name, each with its ID where the account's map or the subnets of a node class tell it (A3).

    `subnets` are (zone name, zone ID) pairs of `status.subnets`; they come before the configured map.
    """
    known = dict(zone_ids) | {name: one for name, one in subnets if name and one}
    return tuple(Zone(name, known.get(name, "")) for name in dict.fromkeys(names))


class CatalogError(ValueError):
    """A catalogue of the user's that does not have the published form: `problems` are (path, message) pairs."""

    def __init__(self, problems: Sequence[tuple[tuple[str | int, ...], str]]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{'.'.join(map(str, path)) or 'catalogue'}: {text}" for path, text in problems))


class Catalog(Protocol):
    """A dated set of instance types.

    `provides` are the (group, kind) pairs of nodeClassRef whose instance types these are. `well_known` are the label
    keys that the provider defines beyond those of Karpenter's core. `complete` says that there are no other types.
    """

    @property
    def name(self) -> str:
        """Short name, for messages."""

    @property
    def date(self) -> str:
        """ISO date of the data, `""` when not stated."""

    @property
    def source(self) -> str:
        """Where the data comes from."""

    @property
    def provides(self) -> tuple[tuple[str, str], ...]:
        """(API group, kind) of the node classes that it is for."""

    @property
    def well_known(self) -> frozenset[str]:
        """Label keys that need not be defined by a NodePool."""

    @property
    def pools(self) -> frozenset[str] | None:
        """The only NodePools that it is for; None when it is for all."""

    @property
    def complete(self) -> bool:
        """Whether a type that is not in it does not exist."""

    def knows(self, type_name: str) -> bool:
        """Whether the catalogue can tell about a type: it has it, or knows that the provider never offers it."""

    def unknown(self, key: str, allowed: ValueSet) -> str | None:
        """What a requirement asks for that the catalogue does not know and that may exist; None when nothing."""

    def shapes(
        self, profile: NodeProfile | None = None, region: str | None = None, zones: Sequence[Zone] = ()
    ) -> Shapes:
        """The types under a node profile in a region, with the offerings of the zones given."""


def age_warning(catalog: Catalog, now: datetime | date | None) -> str | None:
    """A sentence when the data is older than 180 days at `now`; None when it is not, or one of the dates is unknown."""
    if now is None or not catalog.date:
        return None
    today = now.date() if isinstance(now, datetime) else now
    age = (today - date.fromisoformat(catalog.date)).days
    if age <= OLD_AFTER_DAYS:
        return None
    return (
        f"the {catalog.name} catalogue is of {catalog.date}, {age} days old: "
        "instance types, offerings and prices since then are unknown to it"
    )
