"""Helm charts and kustomizations of the repository: which file a rendered text was made from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from unpend.source.discovery import as_uri, discover, read_file
from unpend.source.document import Document
from unpend.source.place import Origin

if TYPE_CHECKING:
    from unpend.source.origins import Alignment, Template

CHART = "Chart.yaml"
_KUSTOMIZATIONS = frozenset({"kustomization.yaml", "kustomization.yml"})


class Chart:
    """A folder with a `Chart.yaml`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._data: dict[str, Any] | None = None

    @property
    def data(self) -> dict[str, Any]:
        """What its `Chart.yaml` says; nothing when it cannot be read."""
        if self._data is None:
            self._data = _yaml(os.path.join(self.folder, CHART))
        return self._data

    @property
    def name(self) -> str:
        """Its name, else that of its folder."""
        name = self.data.get("name")
        return name if isinstance(name, str) and name else os.path.basename(self.folder)

    def dependency(self, called: str) -> tuple[str, str | None]:
        """Name and local folder (if any) of the dependency that this chart calls so, perhaps by an alias."""
        listed = self.data.get("dependencies")
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, dict) and called in (entry.get("alias"), entry.get("name")):
                repository = entry.get("repository")
                local = None
                if isinstance(repository, str) and repository.startswith("file://"):
                    local = os.path.normpath(os.path.join(self.folder, repository[len("file://") :]))
                return str(entry.get("name") or called), local
        return called, None


class RepositoryOrigins:
    """Finds templates in the charts that were named, else in those of the repository.

    `base` is the folder that uris are relative to, `charts` are the folders of charts that were named.
    """

    def __init__(self, base: str, charts: Sequence[str] = ()) -> None:
        self._base = base
        self._named = [Chart(folder) for folder in charts]
        self._searched: tuple[list[Chart], list[str]] | None = None
        self._paths: dict[str, str | None] = {}
        self._templates: dict[str, Template] = {}
        self._alignments: dict[int, tuple[Document, Alignment]] = {}

    def find(self, document: Document, line: int) -> Origin | None:
        """See `Origins.find`."""
        origin = document.origin
        if origin is None:
            return None
        uri = self.uri_of(origin.uri)
        path = self._paths[origin.uri]
        if path is None or uri is None:
            return origin
        found = self._alignment(document, path).find(line - document.first_line)
        if found is None:
            return Origin(uri)
        return Origin(uri, found.line, found.exact)

    def uri_of(self, source: str) -> str | None:
        """The uri of the file that Helm or kustomize calls `source`; None when it is not known."""
        if source not in self._paths:
            self._paths[source] = self._resolve(source)
        path = self._paths[source]
        return None if path is None else as_uri(os.path.relpath(path, self._base))

    def _alignment(self, document: Document, path: str) -> Alignment:
        known = self._alignments.get(id(document))
        if known is None:
            from unpend.source.origins import Alignment, Template

            if path not in self._templates:
                self._templates[path] = Template(_text(path))
            known = self._alignments[id(document)] = (document, Alignment(document.text, self._templates[path]))
        return known[1]

    def _resolve(self, source: str) -> str | None:
        """The file that is meant, None when there is none or more than one."""
        for charts in (self._named, None):
            found = set(self._candidates(source, charts))
            if len(found) == 1:
                return found.pop()
            if found:
                return None
        return None

    def _candidates(self, source: str, charts: Sequence[Chart] | None) -> Iterator[str]:
        parts = [part for part in source.split("/") if part]
        if "://" in source or not parts:
            return
        if charts is None:
            charts, kustomizations = self._search()
            files = (os.path.normpath(os.path.join(folder, source)) for folder in kustomizations)
            yield from filter(os.path.isfile, files)
        if ".." not in parts:
            for chart in charts:
                if chart.name == parts[0]:
                    path = self._inside(chart, parts[1:])
                    if path is not None:
                        yield path

    def _inside(self, chart: Chart, parts: Sequence[str]) -> str | None:
        """The file of a chart; `charts/child/…` may stand in a chart elsewhere, or under another name."""
        path = os.path.join(chart.folder, *parts)
        if os.path.isfile(path):
            return path
        if len(parts) < 3 or parts[0] != "charts":
            return None
        name, local = chart.dependency(parts[1])
        folders = [os.path.join(chart.folder, "charts", name), *([local] if local else [])]
        for child in [Chart(folder) for folder in folders if os.path.isfile(os.path.join(folder, CHART))]:
            found = self._inside(child, parts[2:])
            if found is not None:
                return found
        return None

    def _search(self) -> tuple[list[Chart], list[str]]:
        if self._searched is None:
            git = _git_folder(self._base)
            root = self._base if git is None else os.path.dirname(git)
            charts: list[Chart] = []
            kustomizations: list[str] = []
            for file in discover((root,), (), root).files:
                folder, name = os.path.split(file.path)
                if name == CHART:
                    charts.append(Chart(folder))
                elif name in _KUSTOMIZATIONS:
                    kustomizations.append(folder)
            self._searched = (charts, kustomizations)
        return self._searched


def chart_folder(path: str, base: str) -> str | None:
    """The folder of the chart that a path names (the folder, or its `Chart.yaml`); None when it names no chart."""
    full = os.path.join(base, path)
    if os.path.basename(full) == CHART and os.path.isfile(full):
        full = os.path.dirname(full)
    return os.path.normpath(full) if os.path.isfile(os.path.join(full, CHART)) else None


def _git_folder(base: str) -> str | None:
    folder = base
    while True:
        path = os.path.join(folder, ".git")
        if os.path.exists(path):
            return path
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _text(path: str) -> str:
    try:
        return read_file(path).decode("utf-8", "replace")
    except OSError:
        return ""


def _yaml(path: str) -> dict[str, Any]:
    from unpend.source.reading import read_text

    for document in read_text(_text(path), path).documents:
        if isinstance(document.data, dict):
            return document.data
    return {}
