"""Device claims that a pod names and that do not exist (S-1101): all that is said of dynamic resource allocation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unpend.model.inventory import Inventory
from unpend.model.pod import EffectivePod
from unpend.placement.verdict import Obstacle

CLAIM, TEMPLATE = "ResourceClaim", "ResourceClaimTemplate"
_FIELDS = {"resourceClaimName": CLAIM, "resourceClaimTemplateName": TEMPLATE}


def missing_claims(pod: EffectivePod, inventory: Inventory) -> tuple[Obstacle, ...]:
    """An obstacle for each claim or template that is not among the objects; the world of claims has to be closed."""
    return tuple(_missing(pod, inventory)) if pod.spec.resource_claims else ()


def _missing(pod: EffectivePod, inventory: Inventory) -> Iterator[Obstacle]:
    there = {(o.kind, o.namespace, o.name) for o in inventory.others if o.kind in (CLAIM, TEMPLATE)}
    place = pod.spec.place.at("resourceClaims")
    entries = place.value
    for number, entry in enumerate(entries if isinstance(entries, list) else ()):
        for field, kind in _FIELDS.items():
            name = entry.get(field) if isinstance(entry, Mapping) else None
            if isinstance(name, str) and (kind, pod.namespace, name) not in there:
                what = f"{kind}/{pod.namespace}/{name}".replace("//", "/")
                message = f"{what} does not exist: the pod is not even looked at (could not find {kind})"
                yield Obstacle("resources", message, "scheduler:S-1101", place.at(number, field), None, "resources")
