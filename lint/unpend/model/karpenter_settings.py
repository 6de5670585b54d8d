"""Settings of Karpenter in what deploys it: Deployment, ConfigMap, values of its chart (`karpenter.md` §10.5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from unpend.model.found_settings import FoundSetting
from unpend.source.document import Document, Object
from unpend.source.place import Place


def found_settings(objects: Iterable[Object], documents: Sequence[Document] = ()) -> tuple[FoundSetting, ...]:
    """What the manifests of Karpenter say, the first word on each setting only.

    Its Deployment counts before a HelmRelease or an Application of its chart, these before a values file and before the
    ConfigMap of old versions. `documents` are searched for values files.
    """
    deployments, releases, maps = _candidates(objects)
    found: dict[str, FoundSetting] = {}
    config_maps = {str(_at(item.data, "metadata", "name")): item for item in maps}
    for item in deployments:
        _keep(found, _of_deployment(item, config_maps))
    for item in releases:
        _keep(found, _of_release(item))
    for document in documents:
        if _is_values(document.data):
            root = Place(document)
            data = document.data
            if "settings" not in data:
                root, data = root.at("karpenter"), data["karpenter"]
            _keep(found, _of_values(data, root))
    if _GLOBAL in config_maps:
        _keep(found, _of_config_map(config_maps[_GLOBAL]))
    return tuple(found.values())


_GLOBAL = "karpenter-global-settings"
_TAG = re.compile(r"v?(\d+\.\d+)(\.\d+)?([-+].*)?$")
_RELEASES = frozenset({"HelmRelease", "Application", "HelmChart"})


def _candidates(objects: Iterable[Object]) -> tuple[list[Object], list[Object], list[Object]]:
    deployments, releases, maps = [], [], []
    for item in objects:
        kind = item.data.get("kind")
        if kind == "Deployment":
            if _controller(item) is not None:
                deployments.append(item)
        elif kind == "ConfigMap":
            maps.append(item)
        elif isinstance(kind, str) and kind in _RELEASES:
            releases.append(item)
    return deployments, releases, maps


def _keep(found: dict[str, FoundSetting], more: Iterable[FoundSetting | None]) -> None:
    for setting in more:
        if setting is not None:
            found.setdefault(setting.field, setting)


# The Deployment


def _controller(item: Object) -> tuple[Mapping[str, Any], Place] | None:
    """The container of the controller: by its image, or by the name of the Deployment where its image is a mirror's."""
    containers = _at(item.data, "spec", "template", "spec", "containers")
    if not isinstance(containers, list):
        return None
    place = item.root.at("spec", "template", "spec", "containers")
    for number, one in enumerate(containers):
        image = one.get("image") if isinstance(one, dict) else None
        if not isinstance(image, str) or "karpenter" not in image:
            continue
        path = image.partition("@")[0].rsplit(":", 1)[0] if ":" in image.rsplit("/", 1)[-1] else image.partition("@")[0]
        if path.endswith(("karpenter/controller", "/karpenter", "karpenter-controller")) or path == "karpenter":
            return one, place.at(number)
    return None


def _of_deployment(item: Object, config_maps: Mapping[str, Object]) -> Iterator[FoundSetting | None]:
    found = _controller(item)
    if found is None:
        return
    container, place = found
    for name, value, where in _arguments(container, place):
        yield from _of_variable(name, value, where)
    seen_all = True
    variables = container.get("env")
    for number, entry in enumerate(variables if isinstance(variables, list) else ()):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            continue
        name, where = entry["name"], place.at("env", number)
        if "value" in entry or "valueFrom" not in entry:
            text = entry.get("value")
            yield from _of_variable(name, "" if text is None else str(text), where.at("value") if text else where)
            continue
        ref = _at(entry, "valueFrom", "configMapKeyRef")
        source = config_maps.get(str(ref.get("name"))) if isinstance(ref, dict) else None
        held = _at(source.data, "data", str(ref.get("key"))) if source is not None else None
        if source is not None and isinstance(held, str):
            yield from _of_variable(name, held, source.root.at("data", str(ref.get("key"))))
        elif name == "INTERRUPTION_QUEUE":
            seen_all = False
    sources = container.get("envFrom")
    for entry in sources if isinstance(sources, list) else ():
        source = config_maps.get(str(_at(entry, "configMapRef", "name")))
        data = source.data.get("data") if source is not None else None
        if source is None or not isinstance(data, dict):
            seen_all = False
            continue
        for key, value in data.items():
            yield from _of_variable(str(key), str(value), source.root.at("data", key))
    image = container.get("image")
    if isinstance(image, str):
        yield _version(image.partition("@")[0].rpartition(":")[2], place.at("image"))
    if seen_all:
        # Without the variable no queue is watched; the other defaults are those of the settings.
        yield FoundSetting("interruption_queue", False, place.at("env") if "env" in container else place)


def _arguments(container: Mapping[str, Any], place: Place) -> Iterator[tuple[str, str, Place]]:
    """Flags on the command line, under the names of the variables that say the same."""
    for key in ("command", "args"):
        words = container.get(key)
        if not isinstance(words, list):
            continue
        for number, word in enumerate(words):
            if not isinstance(word, str) or not word.startswith("--"):
                continue
            name, equals, value = word[2:].partition("=")
            where = place.at(key, number)
            if not equals:
                following = words[number + 1] if number + 1 < len(words) else ""
                value = following if isinstance(following, str) and not following.startswith("-") else "true"
            yield name.upper().replace("-", "_"), value, where


def _of_variable(name: str, value: str, place: Place) -> Iterator[FoundSetting | None]:
    text = value.strip()
    if name in ("FEATURE_GATES",):
        for part in text.split(","):
            gate, equals, state = part.strip().partition("=")
            on = _boolean(state)
            if gate and equals and on is not None:
                yield FoundSetting(f"feature_gates.{gate}", on, place)
        return
    known = _VARIABLES.get(name)
    if known is not None:
        yield _read(known, text, place)


def _boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower()
    return True if text in ("true", "1", "t") else False if text in ("false", "0", "f") else None


def _share(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        share = float(str(value).strip())
    except ValueError:
        return None
    return share if 0 <= share < 1 else None


def _one_of(*words: str) -> Callable[[Any], str | None]:
    return lambda value: value if value in words else None


def _count(value: Any) -> int | None:
    return int(str(value)) if str(value).strip().isdecimal() else None


_SETTINGS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "preferencePolicy": ("preference_policy", _one_of("Respect", "Ignore")),
    "minValuesPolicy": ("min_values_policy", _one_of("Strict", "BestEffort")),
    "interruptionQueue": ("interruption_queue", lambda value: bool(str(value or "").strip())),
    "vmMemoryOverheadPercent": ("vm_memory_overhead_percent", _share),
    "enableZonalShift": ("zonal_shift", _boolean),
    "ignoreDRARequests": ("ignore_dra_requests", _boolean),
    "reservedENIs": ("options.reservedENIs", _count),
}
"""The settings of the chart that decide something here: the field, and a reader that gives None for what is illegal."""

_VARIABLES = {
    "PREFERENCE_POLICY": "preferencePolicy",
    "MIN_VALUES_POLICY": "minValuesPolicy",
    "INTERRUPTION_QUEUE": "interruptionQueue",
    "VM_MEMORY_OVERHEAD_PERCENT": "vmMemoryOverheadPercent",
    "ENABLE_ZONAL_SHIFT": "enableZonalShift",
    "IGNORE_DRA_REQUESTS": "ignoreDRARequests",
    "RESERVED_ENIS": "reservedENIs",
}


def _read(name: str, value: Any, place: Place) -> FoundSetting | None:
    field, reader = _SETTINGS[name]
    read = reader(value)
    return None if read is None else FoundSetting(field, read, place)


def _version(tag: Any, place: Place) -> FoundSetting | None:
    match = _TAG.fullmatch(tag.strip()) if isinstance(tag, str) else None
    return None if match is None else FoundSetting("version", match[1], place)


# The chart


def _of_release(item: Object) -> Iterator[FoundSetting | None]:
    """A Flux HelmRelease, an Argo CD Application, a HelmChart of k3s, as far as its chart is Karpenter's."""
    spec = item.data.get("spec")
    place = item.root.at("spec")
    if not isinstance(spec, dict):
        return
    if item.data["kind"] == "Application":
        sources = spec.get("sources")
        listed = enumerate(sources) if isinstance(sources, list) else ()
        where = [(spec.get("source"), place.at("source")), *((one, place.at("sources", n)) for n, one in listed)]
        for source, here in where:
            if isinstance(source, dict) and _is_chart(source.get("chart")):
                yield from _of_application(source, here)
        return
    if item.data["kind"] == "HelmChart":
        if _is_chart(spec.get("chart")):
            yield _version(spec.get("version"), place.at("version"))
            yield from _of_text(spec.get("valuesContent"), place.at("valuesContent"))
        return
    chart = _at(spec, "chart", "spec")
    reference = _at(spec, "chartRef", "name")
    if isinstance(chart, dict) and _is_chart(chart.get("chart")):
        yield _version(chart.get("version"), place.at("chart", "spec", "version"))
    elif not _is_chart(reference):
        return
    yield from _of_values(spec.get("values"), place.at("values"))


def _is_chart(name: Any) -> bool:
    return isinstance(name, str) and name.rsplit("/", 1)[-1] == "karpenter"


def _of_application(source: Mapping[str, Any], place: Place) -> Iterator[FoundSetting | None]:
    yield _version(source.get("targetRevision"), place.at("targetRevision"))
    helm, where = source.get("helm"), place.at("helm")
    if not isinstance(helm, dict):
        return
    parameters = helm.get("parameters")
    for number, entry in enumerate(parameters if isinstance(parameters, list) else ()):
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield from _of_path(entry["name"].split("."), entry.get("value"), where.at("parameters", number, "value"))
    yield from _of_values(helm.get("valuesObject"), where.at("valuesObject"))
    yield from _of_text(helm.get("values"), where.at("values"))


def _of_path(path: Sequence[str], value: Any, place: Place) -> Iterator[FoundSetting | None]:
    if path[0] != "settings" or len(path) < 2:
        return
    if len(path) == 3 and path[1] == "featureGates":
        yield _gate(path[2], value, place)
    elif len(path) == 2 and path[1] in _SETTINGS:
        yield _read(path[1], value, place)


def _gate(name: str, value: Any, place: Place) -> FoundSetting | None:
    on = _boolean(value)
    return None if on is None or not name else FoundSetting(f"feature_gates.{name[0].upper()}{name[1:]}", on, place)


def _of_text(text: Any, place: Place) -> Iterator[FoundSetting | None]:
    """Values that are written as one text: every setting is placed at the text as a whole."""
    if not isinstance(text, str):
        return
    from unpend.source.reading import read_text

    for document in read_text(text, "").documents:
        for setting in _of_values(document.data, Place(document)):
            yield None if setting is None else setting._replace(place=place)


def _of_values(data: Any, place: Place) -> Iterator[FoundSetting | None]:
    if not isinstance(data, dict):
        return
    settings, where = data.get("settings"), place.at("settings")
    for name, value in settings.items() if isinstance(settings, dict) else ():
        if name in _SETTINGS and value is not None:
            yield _read(name, value, where.at(name))
        elif name == "featureGates" and isinstance(value, dict):
            for gate, on in value.items():
                yield _gate(str(gate), on, where.at(name, gate))
    yield _version(_at(data, "controller", "image", "tag"), place.at("controller", "image", "tag"))
    variables = _at(data, "controller", "env")
    for number, entry in enumerate(variables if isinstance(variables, list) else ()):
        if isinstance(entry, dict) and isinstance(entry.get("name"), str) and "value" in entry:
            here = place.at("controller", "env", number, "value")
            yield from _of_variable(entry["name"], str(entry["value"]), here)


_TELLING = frozenset(
    {"clusterName", "interruptionQueue", "vmMemoryOverheadPercent", "preferencePolicy", "featureGates"}
)


def _is_values(data: Any) -> bool:
    """Whether a document is a values file of the chart or of one around it: it has two telling settings at least."""
    if not isinstance(data, dict) or "apiVersion" in data:
        return False
    part = data if "settings" in data else data.get("karpenter")
    settings = part.get("settings") if isinstance(part, dict) else None
    return isinstance(settings, dict) and len(_TELLING & settings.keys()) >= 2


# The ConfigMap of versions before 0.33


def _of_config_map(item: Object) -> Iterator[FoundSetting | None]:
    data, place = item.data.get("data"), item.root.at("data")
    if not isinstance(data, dict):
        return
    for key, name in (
        ("aws.interruptionQueueName", "interruptionQueue"),
        ("aws.vmMemoryOverheadPercent", "vmMemoryOverheadPercent"),
        ("aws.reservedENIs", "reservedENIs"),
    ):
        if key in data:
            yield _read(name, data[key], place.at(key))


def _at(data: Any, *path: str) -> Any:
    for step in path:
        if not isinstance(data, dict):
            return None
        data = data.get(step)
    return data
