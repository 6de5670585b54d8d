"""The text of a snapshot: a head that says where it comes from, then the capacity of one cluster."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

from unpend.model.snapshot import API_VERSION, KIND, capacity_of, settings_to_dict
from unpend.version import __version__

if TYPE_CHECKING:
    from unpend.engine.run import ClusterInput
    from unpend.settings import Settings


def snapshot_text(cluster: ClusterInput, stated: Settings, today: date, catalog: str | None) -> str | None:
    """One YAML stream with the settings `stated`; None when nothing makes nodes. The same input gives the same text."""
    inventory = cluster.inventory
    if not (inventory.node_pools or inventory.nodes or inventory.node_groups):
        return None
    found = list(capacity_of(cluster.objects, inventory))
    objects = [data for _, data in found]
    settings = settings_to_dict(stated)
    head: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": cluster.name or "cluster"},
        "spec": {
            "exportedOn": today.isoformat(),
            "unpend": __version__,
            **({"catalogDate": catalog} if catalog else {}),
            "sources": sorted({item.document.uri for item, _ in found}),
            "contentHash": content_hash(settings, objects),
            "settings": settings,
        },
    }
    name = f"cluster {cluster.name}" if cluster.name else "a cluster"
    comment = (
        f"# The capacity of {name} on {today.isoformat()}, written by `unpend pools --export`.\n"
        "# Do not edit it: export it again.\n"
        "# Use it in a config, as `clusters: {NAME: {pools: [THIS FILE]}}`, or with --pools.\n"
    )
    return comment + _dumped([head, *objects])


def content_hash(settings: dict[str, Any], objects: list[dict[str, Any]]) -> str:
    """A hash that changes when the settings or an object do, and not with the date."""
    import hashlib

    text = json.dumps([settings, objects], sort_keys=True, default=str)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _dumped(documents: list[dict[str, Any]]) -> str:
    import yaml

    from unpend.source.scalars import ScalarError, resolve

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(dumper: Dumper, value: str) -> yaml.ScalarNode:
        # PyYAML quotes what YAML 1.1 would read as something else; Kubernetes reads a few more words so.
        style = "|" if "\n" in value else None
        try:
            style = style if resolve(value) == value and value else "'"
        except ScalarError:
            style = "'"
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return str(
        yaml.dump_all(documents, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110, explicit_start=True)
    )
