"""Claims, volumes and storage classes."""

from __future__ import annotations

from typing import Any

from unpend.model.builder import Builder
from unpend.model.fields import boolean, entries, integer, mapping, text, texts, under
from unpend.model.inventory import PersistentVolume, PersistentVolumeClaim, StorageClass
from unpend.model.metadata import identity, labels
from unpend.model.pod import Amount, NodeSelectorTerm
from unpend.model.problems import Problems
from unpend.model.quantities import resources
from unpend.model.selectors import label_selector, node_selector_term, unknown_word
from unpend.source.document import Object
from unpend.source.place import Place

_EMPTY: dict[str, Any] = {}
_BINDING = frozenset({"Immediate", "WaitForFirstConsumer"})
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"


def read_claim(obj: Object, builder: Builder) -> None:
    """A PersistentVolumeClaim."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    builder.add("claims", _claim(obj.data, obj.root, problems, who.namespace))
    builder.problems.found.extend(problems.found)


def claim_template(data: dict[str, Any], place: Place, problems: Problems, namespace: str) -> PersistentVolumeClaim:
    """A claim template of a StatefulSet, or that of a generic ephemeral volume; its name is that of the template."""
    return _claim(data, place, problems, namespace)


def _claim(data: dict[str, Any], place: Place, problems: Problems, namespace: str) -> PersistentVolumeClaim:
    metadata = mapping(data, "metadata", place, problems) or _EMPTY
    where = under(place, "metadata")
    annotations = labels(metadata, "annotations", where, problems, checked=False)
    spec = mapping(data, "spec", place, problems) or _EMPTY
    here = under(place, "spec")
    wanted = mapping(spec, "resources", here, problems) or _EMPTY
    requests = resources(wanted, "requests", under(here, "resources"), problems)
    status = mapping(data, "status", place, problems) or _EMPTY
    storage_class: str | None = None
    if spec.get("storageClassName") is not None:
        storage_class = text(spec, "storageClassName", here, problems)
    elif _OLD_CLASS in annotations:
        storage_class = annotations[_OLD_CLASS].value
    return PersistentVolumeClaim(
        namespace,
        text(metadata, "name", where, problems),
        storage_class,
        text(spec, "volumeName", here, problems),
        texts(spec, "accessModes", here, problems),
        requests.get("storage"),
        label_selector(spec, "selector", here, problems),
        text(spec, "volumeMode", here, problems) or "Filesystem",
        text(status, "phase", under(place, "status"), problems),
        metadata.get("deletionTimestamp") is not None,
        annotations,
        place,
        _controller(metadata),
    )


def _controller(metadata: dict[str, Any]) -> str:
    """The owner that is the controller; fields of the wrong type are nobody's fault here."""
    owners = metadata.get("ownerReferences")
    for owner in owners if isinstance(owners, list) else ():
        if isinstance(owner, dict) and owner.get("controller"):
            return f"{owner.get('kind')}/{owner.get('name')}"
    return ""


def read_volume(obj: Object, builder: Builder) -> None:
    """A PersistentVolume."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec = mapping(obj.data, "spec", obj.root, problems) or _EMPTY
    here = under(obj.root, "spec")
    claim = mapping(spec, "claimRef", here, problems) or _EMPTY
    claim_place = under(here, "claimRef")
    capacity: Amount | None = resources(spec, "capacity", here, problems).get("storage")
    kind, source = _source(spec)
    required = _node_terms(spec, here, problems)
    if kind == "local" and required is None:
        problems.refuse(under(here, "nodeAffinity"), "a local volume needs nodeAffinity", "scheduler:A-1562")
    builder.add(
        "volumes",
        PersistentVolume(
            who.name,
            text(spec, "storageClassName", here, problems),
            texts(spec, "accessModes", here, problems),
            capacity,
            required,
            text(claim, "namespace", claim_place, problems),
            text(claim, "name", claim_place, problems),
            labels(who.data, "labels", who.place, problems),
            text(spec, "volumeMode", here, problems) or "Filesystem",
            kind,
            source,
            text(mapping(obj.data, "status", obj.root, problems) or _EMPTY, "phase", obj.root, problems),
            obj.root,
            who.data.get("deletionTimestamp") is not None,
        ),
    )
    builder.problems.found.extend(problems.found)


_NOT_A_SOURCE = frozenset({"capacity", "claimRef", "nodeAffinity"})


def _source(spec: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    for key, value in spec.items():
        if isinstance(value, dict) and key not in _NOT_A_SOURCE:
            return key, value
    return "", _EMPTY


def _node_terms(spec: dict[str, Any], place: Place, problems: Problems) -> tuple[NodeSelectorTerm, ...] | None:
    affinity = mapping(spec, "nodeAffinity", place, problems)
    if not affinity:
        return None
    here = under(place, "nodeAffinity")
    required = mapping(affinity, "required", here, problems)
    if required is None:
        return None
    where = under(here, "required")
    terms = tuple(
        node_selector_term(entry, item, problems, required=False)
        for entry, item in entries(required, "nodeSelectorTerms", where, problems)
    )
    if not terms:
        problems.refuse(under(where, "nodeSelectorTerms"), "at least one term is needed", "scheduler:A-1562")
    return terms


def read_storage_class(obj: Object, builder: Builder) -> None:
    """A StorageClass; allowed topologies are node selector terms whose expressions are all `In`."""
    problems = Problems()
    who = identity(obj, builder.settings, problems)
    data, root = obj.data, obj.root
    annotations = labels(who.data, "annotations", who.place, problems, checked=False)
    mode = text(data, "volumeBindingMode", root, problems) or "Immediate"
    if mode not in _BINDING:
        problems.refuse(
            under(root, "volumeBindingMode"), unknown_word(mode, "volumeBindingMode", _BINDING), "scheduler:A-1561"
        )
    default = annotations.get("storageclass.kubernetes.io/is-default-class") or annotations.get(
        "storageclass.beta.kubernetes.io/is-default-class"
    )
    builder.add(
        "storage_classes",
        StorageClass(
            who.name,
            text(data, "provisioner", root, problems),
            mode,
            _topologies(data, root, problems),
            default is not None and default.value == "true",
            boolean(data, "allowVolumeExpansion", root, problems),
            mapping(data, "parameters", root, problems) or _EMPTY,
            root,
        ),
    )
    builder.problems.found.extend(problems.found)


def _topologies(data: dict[str, Any], place: Place, problems: Problems) -> tuple[NodeSelectorTerm, ...]:
    from unpend.model.pod import Expression

    terms = []
    for term, here in entries(data, "allowedTopologies", place, problems):
        found = []
        for entry, item in entries(term, "matchLabelExpressions", here, problems):
            key = text(entry, "key", item, problems)
            values = texts(entry, "values", item, problems)
            if not key or not values:
                problems.refuse(item, "an allowed topology needs a key and at least one value", "scheduler:A-1561")
            elif len(set(values)) != len(values):
                problems.refuse(under(item, "values"), "a value is there twice", "scheduler:A-1561")
            found.append(Expression(key, "In", values, item))
        terms.append(NodeSelectorTerm(tuple(found), (), here))
    return tuple(terms)


def read_csi_node(obj: Object, builder: Builder) -> None:
    """A CSINode: how many volumes of each driver its node takes."""
    from unpend.model.inventory import CSINode

    problems = Problems()
    who = identity(obj, builder.settings, problems)
    spec = mapping(obj.data, "spec", obj.root, problems) or _EMPTY
    limits: dict[str, int | None] = {}
    for entry, here in entries(spec, "drivers", under(obj.root, "spec"), problems):
        allocatable = mapping(entry, "allocatable", here, problems) or _EMPTY
        limits[text(entry, "name", here, problems)] = integer(
            allocatable, "count", under(here, "allocatable"), problems
        )
    builder.add("csi_nodes", CSINode(who.name, limits, obj.root))
    builder.problems.found.extend(problems.found)
