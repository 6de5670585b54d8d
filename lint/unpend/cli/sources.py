"""Every source of a run, read once, whichever flags and clusters ask for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from unpend.cli.charts import RepositoryOrigins
from unpend.cli.progress import Progress
from unpend.engine.result import Notice
from unpend.source.discovery import (
    PassedOver,
    SourceFile,
    chart_notice,
    discover,
    read_file,
    read_source,
    read_stdin_bytes,
)
from unpend.source.document import Document, Reading, Trouble
from unpend.source.kustomize import patch_files, patch_notice
from unpend.source.reading import read_text

STDIN = "<stdin>"


class Sources:
    """Finds and reads files and standard input; remembers what could not be read although it was named.

    `exclude` holds patterns relative to `exclude_base`, `base` is the folder that relative paths start at.
    `charts` are the folders of charts that are rendered: what is in them is not read as it is.
    """

    def __init__(
        self,
        *,
        base: str,
        exclude: Sequence[str] = (),
        exclude_base: str | None = None,
        force_exclude: bool = False,
        stdin_filename: str | None = None,
        progress: bool = True,
        charts: Sequence[str] = (),
    ) -> None:
        self.untrustworthy = False
        self._base = base
        self._exclude = tuple(exclude)
        self._exclude_base = exclude_base
        self._force_exclude = force_exclude
        self._stdin = stdin_filename or STDIN
        self._progress = progress
        self._readings: dict[str, Reading] = {}
        self._files: dict[str, SourceFile] = {}
        self._uris: dict[str, str] = {}
        self._charts: dict[str, list[str]] = {}
        self._patches: dict[str, set[str]] = {}
        self._notices: list[Notice] = []
        self._typed: dict[str, str] = {}
        self._charts_rendered = tuple(os.path.join(folder, "") for folder in charts)
        self.origins = RepositoryOrigins(base, charts)

    def find(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Read what the paths mean and give the uris, each once; `-` is standard input and comes first."""
        uris: list[str] = [self._standard_input()] if "-" in paths else []
        files = [path for path in paths if path != "-"]
        if files:
            found = discover(files, self._exclude, self._base, self._force_exclude, self._exclude_base)
            for trouble in found.troubles:
                self._note(trouble)
            uris.extend(self._read(found.files))
        return tuple(dict.fromkeys(uris))

    def knows(self, uri: str) -> bool:
        """Whether a source has been read."""
        return uri in self._readings

    def add(self, uri: str, text: str | Trouble) -> None:
        """A text that did not come from a file, or what is wrong with what should have become one."""
        if isinstance(text, Trouble):
            self._typed[uri] = ""
            self._readings[uri] = Reading(troubles=(text,))
        else:
            self._typed[uri] = text
            self._readings[uri] = read_text(text, uri, 0, self.origins)

    def find_pattern(self, pattern: str) -> tuple[str, ...]:
        """Read what one pattern of the config means; that nothing matches is for the caller to judge."""
        return tuple(dict.fromkeys(self._read(discover((pattern,), (), self._base).files)))

    def reading(self, uris: Iterable[str]) -> Reading:
        """The readings of several sources as one; what kustomize lays over others is read, but gives no objects."""
        names = tuple(uris)
        readings = [self._readings[uri] for uri in names]
        documents = tuple(document for reading in readings for document in reading.documents)
        patches = patch_files(documents)
        for uri in names:
            if uri in patches and self._readings[uri].objects:
                self._patches.setdefault(patches[uri], set()).add(uri)
        return Reading(
            documents,
            tuple(
                item
                for uri, reading in zip(names, readings, strict=True)
                if uri not in patches
                for item in reading.objects
            ),
            tuple(trouble for reading in readings for trouble in reading.troubles),
        )

    def raw(self, uri: str) -> str | None:
        """The text of a source as it is on disk (or came by standard input); None when it is not there."""
        from unpend.cli.fixing import read_raw

        if uri in self._typed:
            return self._typed[uri]
        file = self._files.get(uri)
        return None if file is None else read_raw(file.path)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What should be said of the sources themselves."""
        charts = [chart_notice(chart, uris) for chart, uris in self._charts.items()]
        overlays = [patch_notice(kustomization, uris) for kustomization, uris in self._patches.items()]
        return (*self._notices, *(Notice(trouble.message, trouble.uri) for trouble in (*charts, *overlays)))

    @property
    def texts(self) -> Mapping[str, str]:
        """The texts that were read, by uri."""
        return _Texts(self._readings, self._files, self._typed)

    def _standard_input(self) -> str:
        if self._stdin not in self._typed:
            raw = sys.stdin.buffer.read()
            self._typed[self._stdin] = raw.decode("utf-8", "surrogateescape")
            self._readings[self._stdin] = read_stdin_bytes(raw, self._stdin, self.origins)
            self._uris[self._key(self._stdin)] = self._stdin
        return self._stdin

    def _read(self, files: Sequence[SourceFile]) -> Iterator[str]:
        progress = Progress(len(files), self._progress)
        for number, file in enumerate(files):
            progress.at(number)
            uri = self._read_file(file)
            if uri is not None:
                yield uri
        progress.end()

    def _read_file(self, file: SourceFile) -> str | None:
        """The uri that the file is known by; None for a template that is no manifest."""
        if self._charts_rendered and os.path.abspath(file.path).startswith(self._charts_rendered):
            return None
        key = self._key(file.uri)
        known = self._uris.get(key)
        if known is not None:
            return known if known in self._readings else None
        self._uris[key] = file.uri
        result = read_source(file, self.origins)
        if isinstance(result, PassedOver):
            self._charts.setdefault(result.chart, []).append(result.uri)
            return None
        if any(trouble.kind == "unreadable" for trouble in result.troubles):
            for trouble in result.troubles:
                self._note(trouble)
            return None
        self._files[file.uri] = file
        self._readings[file.uri] = result
        return file.uri

    def _note(self, trouble: Trouble) -> None:
        """A path that cannot be read: something that was asked for is not known, so the run cannot be trusted."""
        self.untrustworthy = self.untrustworthy or trouble.kind == "unreadable"
        self._notices.append(Notice(trouble.message, trouble.uri, "info" if trouble.severity == "info" else "warning"))

    def _key(self, uri: str) -> str:
        return os.path.normpath(os.path.join(self._base, uri))


class _Texts(Mapping[str, str]):
    """The texts of the sources, put together when a report shows them: most runs show few."""

    def __init__(
        self, readings: Mapping[str, Reading], files: Mapping[str, SourceFile], typed: Mapping[str, str]
    ) -> None:
        self._readings = readings
        self._files = files
        self._typed = typed

    def __getitem__(self, uri: str) -> str:
        if uri in self._typed:
            return self._typed[uri]
        reading = self._readings[uri]
        file = self._files[uri]
        if reading.troubles and os.path.isfile(file.path):
            # What is broken is in no document; the file itself shows it.
            try:
                return read_file(file.path).decode("utf-8", "surrogateescape")
            except OSError:
                pass
        return _joined(reading.documents)

    def __iter__(self) -> Iterator[str]:
        return iter(self._readings)

    def __len__(self) -> int:
        return len(self._readings)


def _joined(documents: Iterable[Document]) -> str:
    """The documents of a source on the lines where they stand in it."""
    lines: list[str] = []
    for document in documents:
        lines.extend([""] * (document.first_line - len(lines)))
        lines[document.first_line :] = document.text.split("\n")
    return "\n".join(lines)
