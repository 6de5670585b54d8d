"""How large images are: from OCI layouts, manifests, lists of a runtime or a node, all handed in as data.

Sizes are compressed bytes, as a registry sends them. What is not known stays an interval of the profile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from unpend.algebra.quantity import QuantityError, milli
from unpend.startup.stages import Interval

Sizes = Mapping[str, Interval]
ReadBlob = Callable[[str], Any]
"""Gives the data of a blob of a layout by its digest, None when it is not there."""

_NAME_KEYS = ("io.containerd.image.name", "org.opencontainers.image.ref.name", "org.opencontainers.image.base.name")
_ATTESTATION = "vnd.docker.reference.type"


def normal(reference: str) -> str:
    """An image reference as runtimes keep it: with registry and tag; `docker.io/library/` in front of bare names."""
    name, at, digest = reference.partition("@")
    head, slash, rest = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif not ("." in head or ":" in head or head == "localhost"):
        name = f"docker.io/{name}"
    elif head == "index.docker.io":
        name = f"docker.io/{rest}"
    last = name.rpartition("/")[2]
    if ":" not in last and not at:
        name += ":latest"
    return f"{name}{at}{digest}"


def size_of(reference: str, sizes: Sizes) -> Interval | None:
    """The size of an image: of its reference, else of the longest pattern that matches; None when not known.

    An entry without a tag is one of all tags.
    """
    if not reference:
        return None
    wanted = normal(reference)
    found = sizes.get(reference) or sizes.get(wanted)
    if found is not None:
        return found
    untagged = _untagged(wanted)
    best: tuple[int, str] | None = None
    for known in sizes:
        if "*" in known:
            matches = fnmatchcase(reference, known) or fnmatchcase(wanted, known)
        else:
            matches = normal(known) == wanted or (_untagged(known) == known and _untagged(normal(known)) == untagged)
        if matches and (best is None or (len(known), known) > best):
            best = (len(known), known)
    return None if best is None else sizes[best[1]]


def _untagged(reference: str) -> str:
    name = reference.partition("@")[0]
    head, slash, last = name.rpartition("/")
    return head + slash + last.partition(":")[0]


def sizes_in(data: Any, name: str = "", read_blob: ReadBlob | None = None) -> dict[str, Interval]:
    """All sizes in a parsed file; `name` is what an image without a name of its own is called.

    It may be an OCI or Docker manifest, an index or a whole layout (then `read_blob` reads its blobs), the answer of
    `docker manifest inspect -v`, `crictl images -o json` or `kubectl get nodes -o json`, or a mapping from reference to
    bytes under `images`. Raises ValueError for data that is none of these.
    """
    found: dict[str, Interval] = {}
    known = False
    for one in data if isinstance(data, list) else [data]:
        if not isinstance(one, Mapping):
            continue
        for reader in (_verbose, _manifest, _index, _listed, _nodes):
            entries = reader(one, name, read_blob)
            if entries is None:
                continue
            known = True
            for reference, size in entries:
                found[reference] = found[reference].longest(size) if reference in found else size
            break
    if not known:
        raise ValueError("is no OCI layout or manifest, no list of images, and no mapping `images`")
    return found


_Entries = Iterable[tuple[str, Interval]]


def _exactly(size: float) -> Interval:
    return Interval(size, size, size)


def _verbose(data: Mapping[str, Any], name: str, read_blob: ReadBlob | None) -> _Entries | None:
    """`docker manifest inspect -v`: a reference beside the manifest."""
    manifest = data.get("OCIManifest") or data.get("SchemaV2Manifest")
    if not isinstance(manifest, Mapping):
        return None
    reference = str(data.get("Ref") or name)
    size = _manifest_size(manifest)
    return [] if size is None else [(reference.partition("@")[0] or name, _exactly(size))]


def _manifest(data: Mapping[str, Any], name: str, read_blob: ReadBlob | None) -> _Entries | None:
    if not isinstance(data.get("layers"), list):
        return None
    size = _manifest_size(data)
    reference = _named(data) or name
    return [] if size is None or not reference else [(reference, _exactly(size))]


def _manifest_size(data: Mapping[str, Any]) -> int | None:
    layers = data.get("layers")
    if not isinstance(layers, list):
        return None
    config = data.get("config")
    parts = [*layers, config] if isinstance(config, Mapping) else layers
    sizes = [part.get("size") for part in parts if isinstance(part, Mapping)]
    return sum(size for size in sizes if isinstance(size, int) and not isinstance(size, bool) and size >= 0)


def _index(data: Mapping[str, Any], name: str, read_blob: ReadBlob | None) -> _Entries | None:
    """An index: images of several platforms are one image whose size depends on the node."""
    if not isinstance(data.get("manifests"), list):
        return None
    found: dict[str, list[int]] = {}
    for reference, size in _indexed(data, _named(data) or name, read_blob, 3):
        found.setdefault(reference, []).append(size)
    return [(ref, Interval(min(s), sorted(s)[len(s) // 2], max(s))) for ref, s in found.items() if ref]


def _indexed(data: Mapping[str, Any], name: str, read_blob: ReadBlob | None, depth: int) -> Iterator[tuple[str, int]]:
    for entry in data["manifests"]:
        if not isinstance(entry, Mapping) or read_blob is None or not depth:
            continue
        annotations = entry.get("annotations")
        if isinstance(annotations, Mapping) and _ATTESTATION in annotations:
            continue
        blob = read_blob(str(entry.get("digest") or ""))
        if not isinstance(blob, Mapping):
            continue
        reference = _named(entry) or name
        if isinstance(blob.get("manifests"), list):
            yield from _indexed(blob, reference, read_blob, depth - 1)
            continue
        size = _manifest_size(blob)
        if size is not None:
            yield reference, size


def _named(data: Mapping[str, Any]) -> str:
    annotations = data.get("annotations")
    if not isinstance(annotations, Mapping):
        return ""
    found = (annotations.get(key) for key in _NAME_KEYS)
    return next((value for value in found if isinstance(value, str) and value), "")


def _listed(data: Mapping[str, Any], name: str, read_blob: ReadBlob | None) -> _Entries | None:
    """`{"images": …}`: a mapping from reference to bytes, or the list of a container runtime."""
    images = data.get("images")
    if isinstance(images, Mapping):
        return [(str(ref), _exactly(size)) for ref, value in images.items() if (size := _bytes(value)) is not None]
    if isinstance(images, list):
        return list(_entries(images, ("repoTags", "names"), ("size", "sizeBytes")))
    return None


def _nodes(data: Mapping[str, Any], name: str, read_blob: ReadBlob | None) -> _Entries | None:
    """What nodes say of the images that they have."""
    items = data.get("items") if isinstance(data.get("items"), list) else [data] if data.get("kind") == "Node" else None
    return None if items is None else list(node_images(items))


def node_images(nodes: Iterable[Any]) -> Iterator[tuple[str, Interval]]:
    """The images in `status.images` of Node objects, as plain data."""
    for node in nodes:
        status = node.get("status") if isinstance(node, Mapping) and node.get("kind", "Node") == "Node" else None
        images = status.get("images") if isinstance(status, Mapping) else None
        if isinstance(images, list):
            yield from _entries(images, ("names",), ("sizeBytes",))


def _entries(images: list[Any], names: tuple[str, ...], sizes: tuple[str, ...]) -> Iterator[tuple[str, Interval]]:
    for image in images:
        if not isinstance(image, Mapping):
            continue
        size = next((s for key in sizes if (s := _bytes(image.get(key))) is not None), None)
        listed: list[Any] = next((image[key] for key in names if isinstance(image.get(key), list)), [])
        if size is not None:
            for reference in listed:
                yield str(reference), _exactly(size)


def _bytes(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return max(0, milli(value) / 1000)
    except QuantityError:
        return None
