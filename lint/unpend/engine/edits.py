"""From the edits of a fix to a changed text: as little of it as possible, and nothing outside of the edited document.

Most edits are made where the value stands, so that comments, order, quotes and indentation around it stay as they are;
the rest is left to the round trip of ruamel.yaml on that document. In both cases the new text is read again, and has to
mean exactly what the edits say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from copy import deepcopy
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from unpend.engine.result import Patch, TextEdit
from unpend.rule import Edit, Fix
from unpend.source.document import Document, Object
from unpend.source.lines import Lines
from unpend.source.place import Position, Step
from unpend.source.reading import read_text
from unpend.source.scalars import ScalarError, resolve

_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./+-]*\Z")
_ENDINGS = re.compile(r"\r\n|\r|\n")
_MISSING = object()
Path = tuple[Step, ...]
Change = tuple[str, Path, Any]
"""`set`, `add`, `remove` or `rename` (the value is the new key), the path, the value."""


def patch_of(fix: Fix) -> Patch | None:
    """What the fix changes in the texts; None when it changes nothing there, or not what it should.

    What was rendered has no text of its own to change.
    """
    by_document: dict[int, tuple[Document, list[Change]]] = {}
    for edit in fix.edits:
        document, path = _target(edit)
        if document is None or document.origin is not None or not document.text or document.uri.startswith("<"):
            return None
        by_document.setdefault(id(document), (document, []))[1].append((edit.action, path, edit.value))
    found: list[TextEdit] = []
    for document, changes in by_document.values():
        text = changed(document.text, document.data, _renames(changes, document.data))
        if text is None or text == document.text:
            return None
        found.extend(_differences(document, text))
    return Patch(fix.title, fix.safety, tuple(found)) if found else None


def _target(edit: Edit) -> tuple[Document | None, Path]:
    holder = edit.place.object
    if isinstance(holder, Object):
        return holder.document, holder.prefix + edit.place.path
    return (holder, edit.place.path) if isinstance(holder, Document) else (None, ())


def _renames(changes: Sequence[Change], data: Any) -> list[Change]:
    """The changes, with what is taken out and added under another key beside it as one rename."""
    out: list[Change] = []
    for change in changes:
        action, path, value = change
        if action == "add" and out:
            before, old, _ = out[-1]
            if before == "remove" and old[:-1] == path[:-1] and get(data, old) == value and get(data, path) is _MISSING:
                out[-1] = ("rename", old, path[-1])
                continue
        out.append(change)
    return out


def changed(text: str, data: Any, changes: Sequence[Change]) -> str | None:
    """The text of one document after the changes; None when no way leads there."""
    wanted = deepcopy(data)
    try:
        for change in changes:
            wanted = _applied(wanted, change)
    except (LookupError, TypeError, AttributeError):
        return None
    for way in (_in_place, _round_trip):
        found = way(text, changes)
        if found is not None and _meaning(found) == wanted:
            return found
    return None


def _meaning(text: str) -> Any:
    document = _one_document(text)
    return _MISSING if document is None or document.duplicate_keys else document.data


def _one_document(text: str) -> Document | None:
    reading = read_text(text, "")
    broken = any(trouble.kind == "yaml-syntax" for trouble in reading.troubles)
    return None if broken or len(reading.documents) != 1 else reading.documents[0]


def get(data: Any, path: Path) -> Any:
    """The value at a path; a marker when there is none."""
    for step in path:
        inside = step in data if isinstance(data, dict) else isinstance(data, list) and step in range(len(data))
        if not inside:
            return _MISSING
        data = data[step]
    return data


def _applied(data: Any, change: Change) -> Any:
    """Plain data after a change; what becomes empty by taking something out goes with it."""
    action, path, value = change
    if action == "remove":
        parent = get(data, path[:-1])
        del parent[path[-1]]
        if not parent and len(path) > 1:
            return _applied(data, ("remove", path[:-1], None))
    elif action == "rename":
        parent = get(data, path[:-1])
        parent[value] = parent.pop(path[-1])
    else:
        here = data
        for step in path[:-1]:
            if isinstance(here, dict) and here.get(step) is None:
                here[step] = {}
            here = here[step]
        here[path[-1]] = value
    return data


def _in_place(text: str, changes: Sequence[Change]) -> str | None:
    for change in changes:
        document = _one_document(text)
        if document is None:
            return None
        found = _Writer(document).write(change)
        if found is None:
            return None
        start, end, new = found
        text = text[:start] + new + text[end:]
    return text


class _Writer:
    """One change in the text of one document, as `(start, end, new text)`."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._text = document.text
        starts = [0]
        starts.extend(match.end() for match in re.finditer("\n", self._text))
        self._starts = starts
        self._is_json = self._text.lstrip().startswith("{")

    def write(self, change: Change) -> tuple[int, int, str] | None:
        action, path, value = change
        there = get(self._document.data, path) is not _MISSING
        if action == "remove":
            return self._remove(path) if there else None
        if action == "rename":
            start, end = self._range(path, "key")
            return start, end, self._scalar(value, path, key=True)
        if there:
            return self._set(path, value)
        return self._add(path, value)

    def _range(self, path: Path, part: Any) -> tuple[int, int]:
        location = self._document.locate(path, part)
        assert location is not None
        start, end = location.span
        return self._offset(start), self._offset(end)

    def _offset(self, at: Position) -> int:
        return self._starts[at.line - self._document.first_line] + at.column

    def _set(self, path: Path, value: Any) -> tuple[int, int, str] | None:
        if isinstance(value, dict | list) or isinstance(get(self._document.data, path), dict | list):
            return None
        if self._document.style(path) not in ("plain", "single", "double"):
            return None
        start, end = self._range(path, "value")
        return (start, end, self._scalar(value, path)) if end > start else None

    def _scalar(self, value: Any, path: Path, *, key: bool = False) -> str:
        if not isinstance(value, str):
            return json.dumps(value)
        style = None if key else self._document.style(path)
        if self._is_json or style == "double":
            return json.dumps(value, ensure_ascii=False)
        return f"'{value}'" if style == "single" and value.isprintable() and "'" not in value else scalar(value)

    def _add(self, path: Path, value: Any) -> tuple[int, int, str] | None:
        """Insert into the nearest mapping that exists, with everything between it and the value."""
        depth = len(path) - 1
        while depth and get(self._document.data, path[:depth]) is _MISSING:
            depth -= 1
        parent = get(self._document.data, path[:depth])
        if not isinstance(parent, dict) or not all(isinstance(step, str) for step in path[depth:]):
            return None
        for step in reversed(path[depth + 1 :]):
            value = {step: value}
        name = path[depth]
        style = self._document.style(path[:depth])
        if style == "flow":
            end = self._range(path[:depth], "value")[1] - 1
            entry = f"{self._key(name)}: {self._flow(value)}"
            behind = len(self._text[:end].rstrip())
            return behind, behind, f", {entry}" if parent else entry
        if style != "block" or not parent:
            return None
        key_start, _ = self._range((*path[:depth], next(iter(parent))), "key")
        line = self._text.rfind("\n", 0, key_start) + 1
        indent = " " * (key_start - line)
        end = self._end_of_line(max(self._range((*path[:depth], key), "entry")[1] for key in parent))
        block = "".join(f"{indent}{row}\n" for row in _block(name, value))
        if end and self._text[end - 1] != "\n":
            block = "\n" + block
        return end, end, block

    def _key(self, name: Any) -> str:
        return json.dumps(name, ensure_ascii=False) if self._is_json else scalar(str(name))

    def _flow(self, value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self._key(key)}: {self._flow(item)}" for key, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self._flow, value)) + "]"
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False) if self._is_json else scalar(value)
        return json.dumps(value)

    def _end_of_line(self, at: int) -> int:
        end = self._text.find("\n", at)
        return len(self._text) if end < 0 else end + 1

    def _remove(self, path: Path) -> tuple[int, int, str] | None:
        while len(path) > 1 and len(get(self._document.data, path[:-1])) == 1:
            path = path[:-1]
        parent = get(self._document.data, path[:-1])
        steps: list[Step] = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
        at = steps.index(path[-1])
        start, end = self._range(path, "entry")
        style = self._document.style(path[:-1])
        if style == "flow":
            if at + 1 < len(steps):
                return start, self._range((*path[:-1], steps[at + 1]), "entry")[0], ""
            return self._range((*path[:-1], steps[at - 1]), "entry")[1], end, ""
        if style != "block":
            return None
        line = self._text.rfind("\n", 0, start) + 1
        stop = self._end_of_line(end)
        rest = self._text[end:stop].strip()
        if rest and not rest.startswith("#"):
            return None
        if not self._text[line:start].strip():
            return line, stop, ""
        if at + 1 < len(steps):  # behind a dash: the next entry takes its place
            return start, self._range((*path[:-1], steps[at + 1]), "entry")[0], ""
        return None


def scalar(value: str) -> str:
    """A text as YAML: plain where that means the same, else in double quotes."""
    try:
        if _PLAIN.match(value) and resolve(value) == value:
            return value
    except ScalarError:
        pass
    return json.dumps(value, ensure_ascii=False)


def _block(name: Any, value: Any) -> list[str]:
    """Lines of a block mapping entry."""
    if isinstance(value, dict) and value:
        return [f"{scalar(str(name))}:", *(f"  {row}" for key, item in value.items() for row in _block(key, item))]
    if isinstance(value, str):
        return [f"{scalar(str(name))}: {scalar(value)}"]
    return [f"{scalar(str(name))}: {json.dumps(value)}"]


def _round_trip(text: str, changes: Sequence[Change]) -> str | None:
    """The whole document through ruamel.yaml, which keeps comments and order."""
    from io import StringIO

    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.util import load_yaml_guess_indent

    if text.lstrip().startswith("{"):
        return None
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096
    try:
        _, indent, offset = load_yaml_guess_indent(text)
        if indent and offset is not None:
            yaml.indent(mapping=2, sequence=indent, offset=offset)
        data = yaml.load(text)
        for change in changes:
            data = _applied(data, (*change[:2], _quoted(change[2])))
        out = StringIO()
        yaml.dump(data, out)
    except (YAMLError, LookupError, TypeError, AttributeError, ValueError, AssertionError):
        return None
    return out.getvalue()


def _quoted(value: Any) -> Any:
    """The value with quotes around the texts that Kubernetes' tools would read as something else."""
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    if isinstance(value, dict):
        return {_quoted(key): _quoted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_quoted(item) for item in value]
    return DoubleQuotedScalarString(value) if isinstance(value, str) and scalar(value) != value else value


def _differences(document: Document, text: str) -> list[TextEdit]:
    """The edits that make the text of a document to another one: in whole lines, or inside of one line."""
    old, new = document.text.splitlines(True), text.splitlines(True)
    found = []
    for tag, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        before, after = "".join(old[first:last]), "".join(new[begin:end])
        start = sum(map(len, old[:first]))
        if last - first == end - begin == 1:
            head = _common(before, after)
            tail = _common(before[head:][::-1], after[head:][::-1])
            start += head
            before, after = before[head : len(before) - tail], after[head : len(after) - tail]
        span = Lines(document.text, document.first_line).span(start, start + len(before))
        found.append(TextEdit(document.uri, span, after))
    return found


def _common(one: str, other: str) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def apply(text: str, edits: Sequence[TextEdit]) -> str | None:
    """A source after edits that do not overlap (None when they do); every byte outside of them stays as it is.

    `text` is the source as it is on the disk; new lines end as the first line does.
    """
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    body = text[len(mark) :]
    starts = [0, *(match.end() for match in _ENDINGS.finditer(body))]
    first = _ENDINGS.search(body)
    ending = first.group() if first else "\n"

    def offset(at: Position) -> int:
        return starts[at.line] + at.column if at.line < len(starts) else len(body)

    ranges = sorted((offset(edit.span.start), offset(edit.span.end), edit.text) for edit in set(edits))
    for (_, stop, _), (start, _, _) in pairwise(ranges):
        if start < stop:
            return None
    out, at = [], 0
    for start, stop, new in ranges:
        out += [body[at:start], new.replace("\n", ending)]
        at = stop
    return mark + "".join((*out, body[at:]))
