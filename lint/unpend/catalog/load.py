"""From the names and catalogues in the settings to catalogues that can be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unpend.catalog.catalog import Catalog, CatalogError
from unpend.settings import Settings

NAMES = ("aws",)
"""The catalogues that ship with unpend."""


def catalogs_of(settings: Settings) -> tuple[Catalog, ...]:
    """The catalogues of a cluster, in the order of the settings. Raises `CatalogError`."""
    return tuple(catalog_of(one) for one in settings.catalogs)


def catalog_of(value: Any) -> Catalog:
    """A catalogue from its name, from parsed data of the published form, or from a catalogue itself."""
    if isinstance(value, str):
        if value != "aws":
            raise CatalogError([((), f"no catalogue is called {value!r}; there is {', '.join(NAMES)}")])
        from unpend.catalog.aws import aws_catalog

        return aws_catalog()
    if isinstance(value, Mapping):
        from unpend.catalog.own import own_catalog

        return own_catalog(value)
    catalog: Catalog = value
    return catalog


def catalog_for(catalogs: Sequence[Catalog], group: str, kind: str, pool: str = "") -> Catalog | None:
    """The catalogue whose types a NodePool is made of, None when no catalogue claims its node class.

    A catalogue that names the pool comes before one that is for all.
    """
    found: Catalog | None = None
    for one in catalogs:
        if (group, kind) not in one.provides:
            continue
        if one.pools is None:
            found = found or one
        elif pool in one.pools:
            return one
    return found
