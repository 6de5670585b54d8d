"""Which files kustomize lays over others: they hold parts of objects, and are no manifests by themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from posixpath import basename, dirname, join, normpath
from typing import Any

from unpend.source.document import Document, Trouble
from unpend.source.place import Origin

ORIGIN_ANNOTATION = "config.kubernetes.io/origin"
_NAMES = frozenset({"kustomization.yaml", "kustomization.yml", "Kustomization"})
_KINDS = frozenset({None, "Kustomization", "Component"})


def patch_files(documents: Iterable[Document]) -> dict[str, str]:
    """The files that the kustomizations among the documents name as patches, each with the kustomization's uri."""
    found: dict[str, str] = {}
    for document in documents:
        data = document.data
        if basename(document.uri) in _NAMES and isinstance(data, dict) and data.get("kind") in _KINDS:
            for path in _patches(data):
                found.setdefault(normpath(join(dirname(document.uri), path)), document.uri)
    return found


def patch_notice(kustomization: str, uris: Collection[str]) -> Trouble:
    """The one notice about the patches of a kustomization."""
    count = "1 patch is" if len(uris) == 1 else f"{len(uris)} patches are"
    folder = dirname(kustomization) or "."
    message = f"{count} not checked without what they change; check what `kustomize build {folder}` prints"
    return Trouble("notice", "info", message, kustomization)


def _patches(data: dict[str, Any]) -> Iterator[str]:
    for field in ("patches", "patchesStrategicMerge", "patchesJson6902"):
        entries = data.get(field)
        for entry in entries if isinstance(entries, list) else ():
            path = entry.get("path") if isinstance(entry, dict) else entry
            # An entry may also be the patch itself, as text of several lines.
            if isinstance(path, str) and path and "\n" not in path and "://" not in path:
                yield path


def kustomize_origin(data: Any) -> Origin | None:
    """The file that an object comes from, as `kustomize build` notes it with `buildMetadata: [originAnnotations]`.

    Of a remote base it is `REPOSITORY//PATH?ref=REF`, which is no file here. None where no file is named, as for what a
    generator makes.
    """
    metadata = data.get("metadata") if isinstance(data, dict) else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    text = annotations.get(ORIGIN_ANNOTATION) if isinstance(annotations, dict) else None
    if not isinstance(text, str):
        return None
    fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    path = fields.get("path", "").strip()
    if not path:
        return None
    repository = fields.get("repo", "").strip()
    if repository:
        ref = fields.get("ref", "").strip()
        return Origin(f"{repository}//{path}" + (f"?ref={ref}" if ref else ""))
    return Origin(path)
