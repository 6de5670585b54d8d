"""Which files to read, and reading them: the only module here that touches the disk.

`discover` turns paths as a user names them into files in a fixed order; `read_sources` reads them. Folders are searched
for `*.yaml`, `*.yml` and `*.json`. Not entered or taken when searching: `.git`, `.hg`, `.svn`, `node_modules`, what
`.gitignore` files (nested ones too, with negations) and `.helmignore` files leave out, what the `exclude` patterns
match, links to folders, a second name of the same file, and everything that is no regular file.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from unpend.records import dataclass, replace
from unpend.source.document import Document, Object, Origins, Reading, Trouble
from unpend.source.ignores import IgnoreStack, Patterns, above
from unpend.source.reading import read_text
from unpend.source.templates import is_template

SUFFIXES = (".yaml", ".yml", ".json")
MAX_FILE = 512 * 1024 * 1024

_NEVER_ENTERED = frozenset({".git", ".hg", ".svn", "node_modules"})
_MAGIC = re.compile(r"[*?[]")
_API_VERSION = re.compile(rb"""^(?:["']?|\s{1,8}")apiVersion["']?[ \t]*:""", re.MULTILINE)
_KIND = re.compile(rb"""^(?:["']?|\s{1,8}")kind["']?[ \t]*:""", re.MULTILINE)
_CHUNK = 1 << 20


class SourceFile(NamedTuple):
    """A file to read: how it is called in the output, where it is, and whether the user named it as it is."""

    uri: str
    path: str
    named: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """The files to read, in order, and what is wrong with the paths that were given."""

    files: tuple[SourceFile, ...] = ()
    troubles: tuple[Trouble, ...] = ()


class PassedOver(NamedTuple):
    """A file that is a template of a Helm chart and no manifest."""

    chart: str
    uri: str


def discover(
    paths: Sequence[str],
    exclude: Sequence[str] = (),
    cwd: str | None = None,
    force_exclude: bool = False,
    exclude_base: str | None = None,
) -> Found:
    """The files that `paths` (files, folders, patterns with `*`, `?`, `[…]`, `**`) mean, each once.

    Relative paths start at `cwd`. `exclude` holds patterns as in `.gitignore`, relative to `exclude_base` (default:
    `cwd`); files that were named are spared unless `force_exclude` is set. A path that does not exist, and a pattern
    that matches nothing, is a trouble of kind `unreadable`. `-` is not handled here: see `read_stdin_bytes`.
    """
    here = os.path.abspath(cwd or os.getcwd())
    patterns = Patterns(os.path.abspath(os.path.join(here, exclude_base or "")), tuple(exclude))
    search = _Search(here, patterns, force_exclude)
    for path in paths:
        search.add(path)
    return Found(tuple(search.files.values()), tuple(search.troubles))


class _Search:
    """The files found so far, by what they really are."""

    def __init__(self, here: str, exclude: Patterns, force_exclude: bool) -> None:
        self.here = here
        self.exclude = exclude
        self.force_exclude = force_exclude
        self.files: dict[tuple[int, int], SourceFile] = {}
        self.troubles: list[Trouble] = []

    def add(self, path: str) -> None:
        full = os.path.join(self.here, path)
        try:
            mode = os.stat(full).st_mode
        except (OSError, ValueError) as error:
            if _MAGIC.search(path):
                self.add_pattern(path)
            else:
                self.cannot_read(as_uri(path), error)
            return
        if stat.S_ISDIR(mode):
            self.add_folder(path, full)
        elif not (self.force_exclude and self.excludes(full)):
            self.keep(SourceFile(as_uri(path), full, named=True))

    def excludes(self, path: str) -> bool:
        """Whether a file that was not reached by walking is excluded, by itself or with a folder around it."""
        return self.exclude.match(os.path.normpath(path), folder=False)

    def add_pattern(self, pattern: str) -> None:
        import glob

        matches = sorted(set(_expand(os.path.join(glob.escape(self.here), pattern))))
        any_suffix = "." in os.path.basename(pattern)
        for full in matches:
            shown = full if os.path.isabs(pattern) else os.path.relpath(full, self.here)
            if os.path.isdir(full):
                if not pattern.endswith("**"):
                    self.add_folder(shown, full)
            elif os.path.isfile(full) and (any_suffix or full.endswith(SUFFIXES)) and not self.excludes(full):
                self.keep(SourceFile(as_uri(shown), full))
        if not matches:
            uri = as_uri(pattern)
            self.troubles.append(Trouble("unreadable", "error", f"no file matches the pattern {pattern}", uri))

    def add_folder(self, shown: str, full: str) -> None:
        prefix = as_uri(shown)
        prefix = "" if prefix == "." else prefix.rstrip("/") + "/"
        for relative, path in _walk(full, self.exclude, self.cannot_enter(prefix)):
            self.keep(SourceFile(prefix + relative, path))

    def keep(self, file: SourceFile) -> None:
        try:
            found = os.stat(file.path)
        except OSError as error:
            self.cannot_read(file.uri, error)
            return
        identity = (found.st_dev, found.st_ino)
        before = self.files.get(identity)
        if before is None:
            self.files[identity] = file
        elif file.named and not before.named:
            self.files[identity] = before._replace(named=True)

    def cannot_read(self, uri: str, error: OSError | ValueError) -> None:
        self.troubles.append(Trouble("unreadable", "error", _reason(error), uri))

    def cannot_enter(self, prefix: str) -> Callable[[str, OSError], None]:
        def note(relative: str, error: OSError) -> None:
            uri = (prefix + relative).rstrip("/") or "."
            self.troubles.append(Trouble("notice", "warning", f"this folder was not searched: {_reason(error)}", uri))

        return note


def _walk(root: str, exclude: Patterns, cannot_enter: Callable[[str, OSError], None]) -> Iterator[tuple[str, str]]:
    """The files below a folder in the order of their paths, as `(relative, path)`. Links to folders are not entered."""
    pending: list[tuple[str, str, IgnoreStack]] = [("", root, above(root))]
    while pending:
        relative, folder, ignores = pending.pop()
        if relative.endswith("/") or not relative:
            try:
                with os.scandir(folder) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name, reverse=True)
            except OSError as error:
                cannot_enter(relative, error)
                continue
            here = ignores.enter(folder, [entry.name for entry in entries])
            for entry in entries:
                kept = _keep(entry, here, exclude)
                if kept is not None:
                    pending.append((relative + entry.name + kept, entry.path, here))
        else:
            yield relative, folder


def _keep(entry: os.DirEntry[str], ignores: IgnoreStack, exclude: Patterns) -> str | None:
    """What to append to the name of an entry that is taken (`/` for a folder); None when it is left out."""
    try:
        if entry.is_dir(follow_symlinks=False):
            if entry.name in _NEVER_ENTERED or ignores.match(entry.path, folder=True):
                return None
            return None if exclude.match(entry.path, folder=True) else "/"
        if not entry.name.endswith(SUFFIXES) or not entry.is_file():
            return None
    except OSError:
        return None
    if ignores.match(entry.path, folder=False) or exclude.match(entry.path, folder=False):
        return None
    return ""


def _expand(pattern: str) -> Iterator[str]:
    """What an absolute pattern matches, some of it perhaps twice. `**` enters no links to folders and nothing hidden.

    (`glob` follows links there: two links that lead upwards already make it go round without end.)
    """
    import glob

    head, _, tail = (pattern + os.sep).partition(f"{os.sep}**{os.sep}")
    tail = tail.rstrip(os.sep)
    if head.endswith(os.sep):
        yield from glob.iglob(pattern)
        return
    for top in glob.iglob(head or os.sep):
        for folder, inner, names in os.walk(top):
            inner[:] = [name for name in inner if not name.startswith(".") and name not in _NEVER_ENTERED]
            if tail:
                yield from _expand(os.path.join(glob.escape(folder), tail))
            else:
                yield folder
                yield from (os.path.join(folder, name) for name in names if not name.startswith("."))


def as_uri(path: str) -> str:
    """A path as the user named it, with `/` between its parts and without `./` and doubled slashes."""
    return os.path.normpath(path).replace(os.sep, "/")


def _reason(error: OSError | ValueError) -> str:
    text = error.strerror if isinstance(error, OSError) else str(error)
    return f"cannot be read: {text or error}"


def find_upwards(start: str, names: Sequence[str], stop_at: str | None = None) -> str | None:
    """The first file of these names in `start` or above it; not above a folder that contains `stop_at`."""
    folder = os.path.abspath(start)
    while True:
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                return path
        parent = os.path.dirname(folder)
        if parent == folder or (stop_at is not None and os.path.exists(os.path.join(folder, stop_at))):
            return None
        folder = parent


def read_file(path: str, limit: int = MAX_FILE) -> bytes:
    """The bytes of a file. Raises OSError, also for folders, block devices, sockets and files above `limit` bytes.

    A pipe is read to its end. One that gives nothing is an error: nobody writes to it yet (it is not waited for), or
    whatever was meant to write has failed.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        found = os.fstat(handle)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(21, "it is a folder", path)
        if not stat.S_ISREG(found.st_mode):
            if not (stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode)):
                raise OSError(22, "it is no file", path)
            os.set_blocking(handle, True)
        elif found.st_size > limit:
            raise _too_large(path, limit)
        raw = _read_all(handle, path, limit)
        if not raw and stat.S_ISFIFO(found.st_mode):
            raise OSError(22, "nothing came through this pipe", path)
        return raw
    finally:
        os.close(handle)


def _read_all(handle: int, path: str, limit: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        chunk = os.read(handle, _CHUNK)
        if not chunk:
            return chunks[0] if len(chunks) == 1 else b"".join(chunks)
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise _too_large(path, limit)


def _too_large(path: str, limit: int) -> OSError:
    return OSError(27, f"it is larger than {limit // (1024 * 1024)} MiB", path)


def read_source(file: SourceFile, origins: Origins | None = None) -> Reading | PassedOver:
    """One file. Never raises on what is in it or on its absence.

    A template of a Helm chart (a file below `templates/` beside a `Chart.yaml` that does not parse, or has `{{` outside
    of quoted and block scalars) is passed over. What is wrong with the text of a file that was met by searching is a
    notice, unless the file has top-level `apiVersion` and `kind`. `origins` finds the templates of rendered texts.
    """
    try:
        raw = read_file(file.path)
    except OSError as error:
        kind, severity = ("unreadable", "error") if file.named else ("notice", "warning")
        return Reading(troubles=(Trouble(kind, severity, _reason(error), file.uri),))  # type: ignore[arg-type]
    reading = read_text(raw, file.uri, 0, origins)
    broken = any(trouble.kind == "yaml-syntax" for trouble in reading.troubles)
    if broken or b"{{" in raw:
        chart = chart_of(file.path)
        if chart is not None and (broken or any(is_template(document.text) for document in reading.documents)):
            return PassedOver(_chart_uri(file, chart), file.uri)
    if broken and not file.named and not _claims_to_be_a_manifest(raw):
        return replace(reading, troubles=tuple(_as_notice(trouble) for trouble in reading.troubles))
    return reading


def read_sources(files: Iterable[SourceFile], advance: Callable[[], None] | None = None) -> Reading:
    """All files, in order, as one reading; one notice for each chart whose templates were passed over.

    `advance` is called after every file.
    """
    documents: list[Document] = []
    objects: list[Object] = []
    troubles: list[Trouble] = []
    charts: dict[str, list[str]] = {}
    for file in files:
        result = read_source(file)
        if isinstance(result, PassedOver):
            charts.setdefault(result.chart, []).append(result.uri)
        else:
            documents.extend(result.documents)
            objects.extend(result.objects)
            troubles.extend(result.troubles)
        if advance is not None:
            advance()
    troubles.extend(chart_notice(chart, uris) for chart, uris in charts.items())
    return Reading(tuple(documents), tuple(objects), tuple(troubles))


def chart_notice(chart: str, uris: Sequence[str]) -> Trouble:
    """The one notice about the templates of a chart that were passed over."""
    count = "1 template is" if len(uris) == 1 else f"{len(uris)} templates are"
    message = f"{count} not rendered and not checked; check what `helm template {chart}` prints"
    return Trouble("notice", "info", message, chart)


def chart_of(path: str) -> str | None:
    """The folder of the Helm chart that a file is a template of; None when it is none."""
    folder = os.path.dirname(os.path.abspath(path))
    while True:
        parent, name = os.path.split(folder)
        if not name:
            return None
        if name == "templates" and os.path.isfile(os.path.join(parent, "Chart.yaml")):
            return parent
        folder = parent


def _chart_uri(file: SourceFile, chart: str) -> str:
    """The folder of a chart as the user would call it: the front of the file's own name where possible."""
    inside = os.path.relpath(os.path.abspath(file.path), chart).replace(os.sep, "/")
    if file.uri.endswith("/" + inside):
        return file.uri[: -len(inside) - 1] or "/"
    return "." if file.uri == inside else chart.replace(os.sep, "/")


def _claims_to_be_a_manifest(raw: bytes) -> bool:
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raw = raw.decode("utf-16", "ignore").encode("utf-8", "ignore")
    return _API_VERSION.search(raw) is not None and _KIND.search(raw) is not None


def _as_notice(trouble: Trouble) -> Trouble:
    if trouble.kind != "yaml-syntax":
        return trouble
    return replace(trouble, kind="notice", severity="warning", message=f"not checked, {trouble.message}")


def read_stdin_bytes(raw: bytes, uri: str = "<stdin>", origins: Origins | None = None) -> Reading:
    """What came by standard input: judged like a file that was named."""
    return read_text(raw, uri, 0, origins)
