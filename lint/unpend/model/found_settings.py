"""Settings that stand among the files: in an exported snapshot, and in what deploys Karpenter.

They fill what nobody stated: a config, or the caller of the API, wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from unpend.records import replace
from unpend.settings import KARPENTER_KEYS, KarpenterSettings, Settings
from unpend.source.document import Document, Object
from unpend.source.place import Place

_SOURCES = frozenset({"Deployment", "HelmRelease", "Application", "HelmChart", "ConfigMap"})


class FoundSetting(NamedTuple):
    """One setting that was found: the field of `KarpenterSettings` or its name in a config, a value, the place.

    Fields are also `feature_gates.<name>` and `options.<name>`.
    """

    field: str
    value: Any
    place: Place


def with_found_settings(settings: Settings, objects: Sequence[Object], documents: Sequence[Document] = ()) -> Settings:
    """The settings with what the objects, and values files among the documents, say beside them."""
    if any(item.kind == "Snapshot" for item in objects):
        from unpend.model.snapshot import with_snapshot

        settings = with_snapshot(settings, objects)
    if not (_mentioned(objects) or _has_values(documents)):
        return settings
    from unpend.model.karpenter_settings import found_settings

    defaults = KarpenterSettings()
    karpenter = settings.karpenter
    changes: dict[str, Any] = {}
    places = dict(settings.places)

    def take(setting: FoundSetting) -> None:
        name, dot, part = setting.field.partition(".")
        if dot:
            known = getattr(karpenter, name)
            if part in known:
                return
            changes.setdefault(name, dict(known))[part] = setting.value
        elif name in karpenter.given or getattr(karpenter, name) != getattr(defaults, name):
            return
        else:
            changes[name] = setting.value
        places[f"karpenter.{setting.field}"] = setting.place

    for setting in found_settings(objects, documents):
        take(setting)
    if not changes:
        return settings
    return replace(settings, karpenter=replace(karpenter, **changes), places=places)


def places_of(settings: Settings) -> tuple[FoundSetting, ...]:
    """The settings that were found in manifests: name as in a config, value, place."""
    found = []
    words = {field: word for word, field in KARPENTER_KEYS.items()}
    for path, place in settings.places.items():
        name, _, part = path.removeprefix("karpenter.").partition(".")
        value = getattr(settings.karpenter, name)
        shown = f"karpenter.{words.get(name, name)}" + (f".{part}" if part else "")
        found.append(FoundSetting(shown, value.get(part) if part else value, place))
    return tuple(found)


def _mentioned(objects: Sequence[Object]) -> bool:
    """Whether an object may deploy Karpenter: told by its name, so that most runs look no further."""
    for item in objects:
        if item.kind in _SOURCES:
            metadata = item.data.get("metadata")
            name = metadata.get("name") if isinstance(metadata, dict) else None
            if isinstance(name, str) and "karpenter" in name:
                return True
    return False


def _has_values(documents: Sequence[Document]) -> bool:
    for document in documents:
        data = document.data
        if isinstance(data, dict) and "kind" not in data and ("settings" in data or "karpenter" in data):
            return True
    return False
