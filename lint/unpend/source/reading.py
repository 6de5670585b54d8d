"""Text in, documents out: every document of a stream with its data, its origin, its suppressions and its troubles.

The way of a document: cut out as kubectl cuts, composed by libyaml, turned into data by Kubernetes' scalar rules
(`data.fast_data`); whatever is not plain goes through a table of parser events (`table.build`), which also says where
an error is. Spans are looked up on demand (`locator`). A document that cannot be read becomes a trouble, and the
others of the stream are read all the same.
"""

from __future__ import annotations

import re

from unpend.source.compose import NOT_UNICODE, build
from unpend.source.data import Content, NotPlainError, exact_data, fast_data
from unpend.source.document import Document, Object, Origins, Reading, Severity, Suppression, Trouble, unwrap
from unpend.source.kustomize import ORIGIN_ANNOTATION, kustomize_origin
from unpend.source.lines import Lines
from unpend.source.locator import TextLocator
from unpend.source.place import Origin, Position, Span, Step
from unpend.source.stream import (
    Piece,
    Undecodable,
    decode,
    first_surrogate,
    looks_like_json,
    normalise,
    origin_of,
    split,
)
from unpend.source.syntax import Problem
from unpend.source.table import DOUBLE, Table

MAX_DOCUMENT = 64 * 1024 * 1024
SUPPRESSION_MARK = "unpend:"

_JSON_ONLY_ESCAPE = re.compile(r"(?:[^\\]|\\[^/])*?\\/")
_START = Span(Position(0, 0), Position(0, 0))


def read_text(text: str | bytes, uri: str, index_from: int = 0, origins: Origins | None = None) -> Reading:
    """The documents, objects and troubles of one source, in its order. Never raises on whatever the text holds.

    `uri` is how the source is called in locations, `index_from` the number of its first document, `origins` finds the
    templates of a rendered text. Empty documents have no number.
    `Document.text` has line feeds for CRLF and CR, and no byte order mark. The data must not be changed:
    values that come from one anchor are one object.
    """
    reader = _Reader(uri, index_from, origins)
    if isinstance(text, bytes):
        try:
            text = decode(text)
        except Undecodable as error:
            return Reading(troubles=(Trouble("yaml-syntax", "error", str(error), uri, _START, index_from),))
    reader.read(normalise(text))
    return Reading(tuple(reader.documents), tuple(reader.objects), tuple(reader.troubles))


class _Reader:
    """What one source has given so far."""

    def __init__(self, uri: str, index_from: int, origins: Origins | None) -> None:
        self.uri = uri
        self.origins = origins
        self.index = index_from
        self.documents: list[Document] = []
        self.objects: list[Object] = []
        self.troubles: list[Trouble] = []

    def read(self, text: str) -> None:
        line = 0
        if looks_like_json(text) and len(text) <= MAX_DOCUMENT and first_surrogate(text) is None:
            text, line = self.read_json(text)
        if text:
            for piece in split(text, line):
                self.read_piece(piece)

    def read_json(self, text: str) -> tuple[str, int]:
        """Read the JSON values at the front; returns what is left, and the line on which that begins.

        As in kubectl, YAML may follow one JSON value but not two.
        """
        from unpend.source import json_stream

        values, stop = json_stream.read_values(text)
        if not values:
            return text, 0
        lines = Lines(text)
        for value in values:
            line, column = lines.position(value.start)
            own = text if len(values) == 1 and stop == len(text) else " " * column + text[value.start : value.end]
            if own is text:
                line = 0
            locator = TextLocator(own, line, json_stream.json_table)
            table = json_stream.json_table(own) if value.has_duplicates else None
            repeated = _spans(table, exact_data(table), line) if table else ()
            self.add(Piece(own, line), Content(value.data), locator, repeated)
        if stop == len(text):
            return "", 0
        at = lines.position(stop)
        if len(values) > 1:
            span = Span(at, Position(at.line, at.column + 1))
            self.trouble("not valid JSON: the stream holds more than one JSON value, and this is none", span)
            return "", 0
        return " " * at.column + text[stop:], at.line

    def read_piece(self, piece: Piece) -> None:
        if piece.misplaced:
            above = max(piece.first_line - 1, 0)
            span = Span(Position(above, 0), Position(above, 3 + len(piece.misplaced)))
            shown = piece.misplaced if len(piece.misplaced) <= 40 else piece.misplaced[:40] + "…"
            self.trouble(
                f"not valid YAML for Kubernetes: behind the separator --- only a comment may stand, not `{shown}`", span
            )
        if not piece.text.strip():
            return
        if len(piece.text) > MAX_DOCUMENT:
            start = Position(piece.first_line, 0)
            limit = f"{MAX_DOCUMENT // (1024 * 1024)} million characters"
            self.trouble(f"this document is larger than {limit} and is not read", Span(start, start))
            return
        try:
            self.read_document(piece)
        except Problem as problem:
            end = problem.end
            if end == problem.index and piece.text[end : end + 1] not in ("", "\n"):
                end += 1
            span = Lines(piece.text, piece.first_line).span(problem.index, end)
            self.trouble(problem.message, span)

    def read_document(self, piece: Piece) -> None:
        text = piece.text
        surrogate = first_surrogate(text)
        if surrogate is not None:
            raise Problem(NOT_UNICODE, surrogate, surrogate + 1)
        repeated: tuple[tuple[tuple[Step, ...], Span], ...] = ()
        table = None
        try:
            found = fast_data(text)
            if found is None:
                self.add_nothing(piece)
                return
            content, more = Content(found[0]), found[1]
        except NotPlainError:
            table = build(text)
            if table is None:
                self.add_nothing(piece)
                return
            content, more = exact_data(table), table.rest is not None
            _refuse_json_escapes(table)
            repeated = _spans(table, content, piece.first_line)
        if content.data is None:
            self.add_nothing(piece)
        else:
            self.add(piece, content, TextLocator(text, piece.first_line, plain=table is None), repeated)
        if more:
            self.note_rest(piece, table)

    def add_nothing(self, piece: Piece) -> None:
        """A document without content: only its comments can be wrong."""
        self.suppressions(piece)

    def suppressions(self, piece: Piece) -> tuple[Suppression, ...]:
        """The suppressions of a document; malformed ones become troubles."""
        if SUPPRESSION_MARK not in piece.text:
            return ()
        from unpend.source.suppressions import scan

        found, troubles = scan(piece.text, piece.first_line, self.uri, self.index)
        self.troubles.extend(troubles)
        return found

    def add(
        self,
        piece: Piece,
        content: Content,
        locator: TextLocator,
        repeated: tuple[tuple[tuple[Step, ...], Span], ...],
    ) -> None:
        suppressions = self.suppressions(piece) if locator.make is build else ()  # JSON has no comments
        origin: Origin | None = origin_of(piece)
        if origin is None and ORIGIN_ANNOTATION in piece.text:
            origin = kustomize_origin(content.data)
        document = Document(
            self.uri,
            self.index,
            content.data,
            locator,
            origin,
            suppressions,
            repeated,
            piece.text,
            piece.first_line,
            self.origins,
        )
        self.index += 1
        self.documents.append(document)
        self.objects.extend(unwrap(document))

    def trouble(self, message: str, span: Span, severity: Severity = "error") -> None:
        """A document that cannot be read: it has a number all the same."""
        self.troubles.append(Trouble("yaml-syntax", severity, message, self.uri, span, self.index))
        self.index += 1

    def note_rest(self, piece: Piece, table: Table | None) -> None:
        """kubectl stops at the end of the first document between two separators, silently."""
        if table is None:
            try:
                table = build(piece.text)
            except Problem:
                return
        if table is None or table.rest is None:
            return
        at = Lines(piece.text, piece.first_line).position(table.rest)
        message = "the document ends before this text, and Kubernetes tools ignore it; a separator --- is missing"
        self.troubles.append(Trouble("notice", "warning", message, self.uri, Span(at, at), max(self.index - 1, 0)))


def _spans(table: Table, content: Content, first_line: int) -> tuple[tuple[tuple[Step, ...], Span], ...]:
    if not content.duplicates:
        return ()
    lines = Lines(table.text, first_line)
    return tuple((path, lines.span(table.start[key], table.end[key])) for path, key in content.duplicates)


def _refuse_json_escapes(table: Table) -> None:
    r"""The escape `\/` is legal in JSON and in libyaml, and no escape for go-yaml v2, which reads everything here."""
    if "\\/" not in table.text:
        return
    for row, style in enumerate(table.style):
        if style == DOUBLE:
            found = _JSON_ONLY_ESCAPE.match(table.text, table.start[row], table.end[row])
            if found is not None:
                raise Problem(
                    "not valid YAML for Kubernetes: it has no escape \\/, write /", found.end() - 2, found.end()
                )


def read_all(sources: list[tuple[str, str | bytes]]) -> Reading:
    """Several sources, each as `(uri, text)`, as one reading; the documents of each source count from 0."""
    readings = [read_text(text, uri) for uri, text in sources]
    return Reading(
        tuple(document for reading in readings for document in reading.documents),
        tuple(item for reading in readings for item in reading.objects),
        tuple(trouble for reading in readings for trouble in reading.troubles),
    )
