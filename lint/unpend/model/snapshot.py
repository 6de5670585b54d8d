"""A snapshot of the capacity of a cluster (`Snapshot` of `unpend.dev/v1`): which objects are in it, and its settings.

`unpend pools --export` writes one: a head with provenance and settings, then the objects themselves. Its settings fill
what nobody stated; what makes nodes is complete in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from unpend.model.inventory import Inventory
from unpend.records import replace
from unpend.settings import (
    CLUSTER_AUTOSCALER_KEYS,
    KARPENTER_KEYS,
    ClusterAutoscalerSettings,
    KarpenterSettings,
    Openness,
    Settings,
)
from unpend.source.document import Object

API_VERSION = "unpend.dev/v1"
KIND = "Snapshot"

_KINDS = frozenset(
    {
        ("", "LimitRange"),
        ("", "Namespace"),
        ("", "Node"),
        ("", "PersistentVolume"),
        ("apps", "DaemonSet"),
        ("karpenter.sh", "NodeOverlay"),
        ("karpenter.sh", "NodePool"),
        ("node.k8s.io", "RuntimeClass"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "CSINode"),
        ("storage.k8s.io", "StorageClass"),
    }
)
_WORLD = ("daemonsets", "classes")
_DROPPED = ("managedFields", "resourceVersion", "uid", "generation", "selfLink", "creationTimestamp")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_OF_CONTAINERS = (
    "name",
    "image",
    "args",
    "command",
    "resources",
    "ports",
    "restartPolicy",
    "volumeMounts",
    "securityContext",
)
_OF_PODS = ("containers", "initContainers")
_TEXT = (str, int, float, bool)


def is_snapshot(item: Object) -> bool:
    """Whether an object is the head of a snapshot."""
    return item.kind == KIND and item.api_version == API_VERSION


def capacity_of(objects: Sequence[Object], inventory: Inventory) -> Iterator[tuple[Object, dict[str, Any]]]:
    """The objects that make nodes or decide about them, each as it goes into a snapshot, in reading order.

    Left out is what nobody needs to judge a pod: managed fields, environment variables. A pod that runs on a Node
    is there with what it takes of it and no more.
    """
    groups = {id(group.object) for group in inventory.node_groups}
    bound = {id(pod.place.object) for pod in inventory.bound_pods}
    autoscaler = "cluster-autoscaler"
    seen: set[int] = set()
    for item in objects:
        if id(item) in seen or is_snapshot(item):
            continue
        seen.add(id(item))
        key = (item.group, item.kind)
        if item.form is not None:
            continue
        if key in _KINDS or id(item) in groups or item.kind.endswith("NodeClass") or _is_part(key):
            yield item, _plain(item.data)
        elif id(item) in bound and _is_running(item):
            yield item, _pod(item.data)
        elif key == ("apps", "Deployment") and autoscaler in str(item.data.get("metadata")):
            yield item, _plain(item.data)


def left_out(inventory: Inventory) -> tuple[str, ...]:
    """Node groups that cannot be put into a snapshot: they come from plans and templates that hold much more."""
    return tuple(group.id for group in inventory.node_groups if group.object.form is not None)


def _is_running(item: Object) -> bool:
    """Whether a pod comes from an API server; one that is only written down with a nodeName is a workload."""
    metadata = item.data.get("metadata")
    return isinstance(metadata, dict) and bool(metadata.get("uid"))


def _is_part(key: tuple[str, str]) -> bool:
    from unpend.model.reading import READERS

    return READERS.get(key, "").startswith("node_groups.")


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    out = {key: value for key, value in data.items() if key != "metadata"}
    metadata = data.get("metadata")
    if isinstance(metadata, dict):
        kept = {key: value for key, value in metadata.items() if key not in _DROPPED}
        annotations = kept.get("annotations")
        if isinstance(annotations, dict) and _LAST_APPLIED in annotations:
            kept["annotations"] = {key: value for key, value in annotations.items() if key != _LAST_APPLIED}
        out = {"apiVersion": out.pop("apiVersion", None), "kind": out.pop("kind", None), "metadata": kept, **out}
    if data.get("kind") in ("DaemonSet", "Deployment"):
        _strip_template(out)
    return out


def _strip_template(out: dict[str, Any]) -> None:
    spec = out.get("spec")
    template = spec.get("template") if isinstance(spec, dict) else None
    pod = template.get("spec") if isinstance(template, dict) else None
    if isinstance(spec, dict) and isinstance(template, dict) and isinstance(pod, dict):
        out["spec"] = {**spec, "template": {**template, "spec": _containers_only(pod)}}
        out.pop("status", None)


def _containers_only(pod: Mapping[str, Any]) -> dict[str, Any]:
    out = dict(pod)
    for name in _OF_PODS:
        containers = pod.get(name)
        if isinstance(containers, list):
            out[name] = [
                {key: one[key] for key in _OF_CONTAINERS if key in one} if isinstance(one, dict) else one
                for one in containers
            ]
    return out


def _pod(data: Mapping[str, Any]) -> dict[str, Any]:
    out = _plain(data)
    spec = out.get("spec")
    if isinstance(spec, dict):
        out["spec"] = _containers_only(spec)
        for name in _OF_PODS:
            for one in out["spec"].get(name) or ():
                if isinstance(one, dict):
                    one.pop("args", None)
                    one.pop("command", None)
    status = out.pop("status", None)
    if isinstance(status, dict):
        kept = {key: status[key] for key in ("phase", "containerStatuses") if key in status}
        statuses = kept.get("containerStatuses")
        if isinstance(statuses, list):
            kept["containerStatuses"] = [
                {key: one[key] for key in ("name", "resources", "allocatedResources") if key in one}
                for one in statuses
                if isinstance(one, dict)
            ]
        out["status"] = kept
    metadata = data.get("metadata")
    if isinstance(metadata, dict) and "uid" in metadata:
        # It is what tells a pod that an API server took from one that is only written down.
        out["metadata"] = {**out["metadata"], "uid": metadata["uid"]}
    return out


# Settings


def settings_to_dict(settings: Settings) -> dict[str, Any]:
    """What a cluster entry of a config would say of these settings, as far as it decides about placement."""
    karpenter, autoscaler = settings.karpenter, settings.cluster_autoscaler
    data: dict[str, Any] = {
        "region": settings.region,
        "zones": list(settings.zones),
        "zoneIds": dict(settings.zone_ids),
        "nodeClasses": {name: _lists(entry) for name, entry in settings.node_classes.items()},
        "kubernetes": ".".join(map(str, settings.kubernetes)),
        "karpenter": {key: _lists(getattr(karpenter, field)) for key, field in KARPENTER_KEYS.items()},
        "clusterAutoscaler": {k: _lists(getattr(autoscaler, field)) for k, field in CLUSTER_AUTOSCALER_KEYS.items()},
        "nodeGroups": {"autoscaler": settings.node_group_autoscaler} if settings.node_group_autoscaler else {},
        "catalog": [_lists(one) for one in settings.catalogs],
        "injectedTolerations": [dict(one) for one in settings.injected_tolerations],
        "knownLabels": list(settings.known_labels),
        "world": {kind: "closed" for kind in _WORLD if getattr(settings.world, kind) == "closed"},
    }
    if karpenter.options:
        data["karpenter"]["options"] = _lists(karpenter.options)
    data["karpenter"] = {key: value for key, value in data["karpenter"].items() if value is not None and value != {}}
    return {key: value for key, value in data.items() if value not in (None, [], {})}


def _lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _lists(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_lists(item) for item in value]
    return value


def with_snapshot(settings: Settings, objects: Iterable[Object]) -> Settings:
    """The settings with those of the first snapshot for what nobody stated; pools and Nodes are complete."""
    for item in objects:
        if is_snapshot(item):
            spec = item.data.get("spec")
            data = spec.get("settings") if isinstance(spec, dict) else None
            return _filled(settings, data if isinstance(data, dict) else {})
    return settings


def _filled(settings: Settings, data: Mapping[str, Any]) -> Settings:
    changes: dict[str, Any] = {}
    texts = {"region": "region", "zones": "zones", "zoneIds": "zone_ids", "nodeClasses": "node_classes"}
    texts |= {"injectedTolerations": "injected_tolerations", "knownLabels": "known_labels"}
    for key, field in texts.items():
        value = data.get(key)
        if not getattr(settings, field) and isinstance(value, str | list | dict) and value:
            changes[field] = tuple(value) if isinstance(value, list) else value
    version = data.get("kubernetes")
    if "kubernetes" not in settings.given and isinstance(version, str) and version.count(".") == 1:
        major, minor = version.split(".")
        if major.isdecimal() and minor.isdecimal():
            changes["kubernetes"] = (int(major), int(minor))
    catalogs = data.get("catalog")
    if settings.catalogs == ("aws",) and isinstance(catalogs, list) and catalogs:
        changes["catalogs"] = tuple(catalogs)
    groups = data.get("nodeGroups")
    if settings.node_group_autoscaler is None and isinstance(groups, dict):
        changes["node_group_autoscaler"] = groups.get("autoscaler")
    changes["karpenter"] = _karpenter(settings.karpenter, data.get("karpenter"))
    changes["cluster_autoscaler"] = _cluster_autoscaler(settings.cluster_autoscaler, data.get("clusterAutoscaler"))
    changes["world"] = replace(settings.world, **_world(settings, data.get("world")))
    return replace(settings, **changes)


def _world(settings: Settings, data: Any) -> dict[str, Openness]:
    closed: dict[str, Openness] = {"pools": "closed", "nodes": "closed"}
    for kind in _WORLD:
        if isinstance(data, dict) and data.get(kind) == "closed":
            closed[kind] = "closed"
    return {kind: value for kind, value in closed.items() if f"world.{kind}" not in settings.given}


def _karpenter(known: KarpenterSettings, data: Any) -> KarpenterSettings:
    if not isinstance(data, dict):
        return known
    defaults = KarpenterSettings()
    changes: dict[str, Any] = {}
    for key, field in KARPENTER_KEYS.items():
        value = data.get(key)
        stated = field in known.given or getattr(known, field) != getattr(defaults, field)
        if value is None or (stated and not isinstance(value, dict)):
            continue
        if isinstance(value, dict):
            changes[field] = {**value, **getattr(known, field)}
        elif isinstance(value, _TEXT):
            changes[field] = value
    options = data.get("options")
    if isinstance(options, dict):
        changes["options"] = {**options, **known.options}
    # What the snapshot says of the controller is as good as stated: it comes from the controller itself.
    return replace(known, **changes, given=known.given | changes.keys())


def _cluster_autoscaler(known: ClusterAutoscalerSettings, data: Any) -> ClusterAutoscalerSettings:
    if not isinstance(data, dict) or known != ClusterAutoscalerSettings():
        return known
    fields = {field: data[key] for key, field in CLUSTER_AUTOSCALER_KEYS.items() if isinstance(data.get(key), _TEXT)}
    # A text would be taken for a list of letters.
    taints = data.get("startupTaints")
    fields["startup_taints"] = tuple(str(one) for one in taints) if isinstance(taints, list) else ()
    return replace(known, **fields)
