"""What a config value may be: one description from which reading, error messages and the JSON Schema come.

`read` maps plain data to a value of ours and collects errors with their places; it never raises.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from unpend.config.errors import ErrorList, did_you_mean
from unpend.records import dataclass, field
from unpend.source.place import Place

Json = dict[str, Any]


class Shape(Protocol):
    """One kind of config value."""

    def read(self, data: Any, place: Place, errors: ErrorList) -> Any:
        """The value, or None after adding an error."""

    def schema(self) -> Json:
        """The JSON Schema (draft 2020-12) of the value."""


def describe(data: Any) -> str:
    """What the user wrote, in words: `a list`, `the number 3`."""
    if data is None:
        return "nothing"
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, int | float):
        return f"the number {data}"
    if isinstance(data, str):
        return f"the text {data!r}" if len(data) <= 40 else "a text"
    return "a list" if isinstance(data, list) else "a mapping"


@dataclass(frozen=True, slots=True)
class Text:
    """A string: one of `choices`, or matching `pattern` (then `example` says what it looks like)."""

    choices: tuple[str, ...] = ()
    pattern: str = ""
    example: str = ""
    doc: str = ""

    def read(self, data: Any, place: Place, errors: ErrorList) -> str | None:
        """See `Shape.read`."""
        if isinstance(data, int | float) and not isinstance(data, bool) and self.pattern:
            errors.add(place, f"expected a text such as '{self.example}'; write it in quotes")
            return None
        if not isinstance(data, str):
            errors.add(place, f"expected {self._expected()}, found {describe(data)}")
            return None
        if self.choices and data not in self.choices:
            hint = did_you_mean(data, self.choices) or f", expected {self._expected()}"
            errors.add(place, f"unknown value '{data}'{hint}")
            return None
        if self.pattern and not re.search(self.pattern, data):
            errors.add(place, f"'{data}' is not of the form '{self.example}'")
            return None
        return data

    def _expected(self) -> str:
        if len(self.choices) > 1:
            return f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"
        return self.choices[0] if self.choices else "a text"

    def schema(self) -> Json:
        """See `Shape.schema`."""
        out: Json = {"type": "string"}
        if self.choices:
            out["enum"] = list(self.choices)
        if self.pattern:
            out["pattern"] = self.pattern
            out["examples"] = [self.example]
        return _documented(out, self.doc)


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""

    doc: str = ""

    def read(self, data: Any, place: Place, errors: ErrorList) -> bool | None:
        """See `Shape.read`."""
        if isinstance(data, bool):
            return data
        errors.add(place, f"expected true or false, found {describe(data)}")
        return None

    def schema(self) -> Json:
        """See `Shape.schema`."""
        return _documented({"type": "boolean"}, self.doc)


@dataclass(frozen=True, slots=True)
class Number:
    """A number within bounds; `whole` refuses fractions."""

    whole: bool = True
    minimum: float | None = None
    maximum: float | None = None
    doc: str = ""

    def read(self, data: Any, place: Place, errors: ErrorList) -> int | float | None:
        """See `Shape.read`."""
        if not isinstance(data, int | float) or isinstance(data, bool) or (self.whole and not isinstance(data, int)):
            errors.add(place, f"expected a {'whole ' if self.whole else ''}number, found {describe(data)}")
            return None
        if self.minimum is not None and not data >= self.minimum:
            errors.add(place, f"must be at least {self.minimum:g}, found {data}")
            return None
        if self.maximum is not None and not data <= self.maximum:
            errors.add(place, f"must be at most {self.maximum:g}, found {data}")
            return None
        return data

    def schema(self) -> Json:
        """See `Shape.schema`."""
        out: Json = {"type": "integer" if self.whole else "number"}
        if self.minimum is not None:
            out["minimum"] = self.minimum
        if self.maximum is not None:
            out["maximum"] = self.maximum
        return _documented(out, self.doc)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of one kind of value, read to a tuple; `single` also takes one text instead of a list of one."""

    item: Shape
    single: bool = False
    doc: str = ""

    def read(self, data: Any, place: Place, errors: ErrorList) -> tuple[Any, ...] | None:
        """See `Shape.read`."""
        if self.single and isinstance(data, str):
            value = self.item.read(data, place, errors)
            return None if value is None else (value,)
        if not isinstance(data, list):
            errors.add(place, f"expected a list, found {describe(data)}")
            return None
        values = [self.item.read(item, place.at(i), errors) for i, item in enumerate(data)]
        return tuple(value for value in values if value is not None)

    def schema(self) -> Json:
        """See `Shape.schema`."""
        out: Json = {"type": "array", "items": self.item.schema()}
        if self.single:
            out = {"anyOf": [self.item.schema(), out]}
        return _documented(out, self.doc)


@dataclass(frozen=True, slots=True)
class MapOf:
    """A mapping with free keys and one kind of value."""

    value: Shape
    doc: str = ""

    def read(self, data: Any, place: Place, errors: ErrorList) -> dict[str, Any] | None:
        """See `Shape.read`."""
        if not isinstance(data, Mapping):
            errors.add(place, f"expected a mapping, found {describe(data)}")
            return None
        out: dict[str, Any] = {}
        for key, item in data.items():
            # `prod:` with nothing below it is an entry without keys.
            given = {} if item is None and isinstance(self.value, Record) else item
            value = self.value.read(given, place.at(key), errors)
            if value is not None:
                out[key] = value
        return out

    def schema(self) -> Json:
        """See `Shape.schema`."""
        inner = self.value.schema()
        inner = _nullable(inner) if isinstance(self.value, Record) else inner
        return _documented({"type": "object", "additionalProperties": inner}, self.doc)


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping with known keys; an unknown one is an error. Read to a dict of the keys that are there.

    A key whose value is null counts as not written, as in `clusters:` with nothing below it.
    """

    fields: Mapping[str, Shape]
    required: tuple[str, ...] = ()
    doc: str = ""
    title: str = field(default="", kw_only=True)

    def read(self, data: Any, place: Place, errors: ErrorList) -> dict[str, Any] | None:
        """See `Shape.read`."""
        if not isinstance(data, Mapping):
            errors.add(place, f"expected a mapping, found {describe(data)}")
            return None
        out: dict[str, Any] = {}
        for key, item in data.items():
            shape = self.fields.get(key)
            if shape is None:
                hint = did_you_mean(key, self.fields) or f"; known are {', '.join(self.fields)}"
                errors.add(place.at(key), f"unknown key{hint}", key=True)
            elif item is not None:
                value = shape.read(item, place.at(key), errors)
                if value is not None:
                    out[key] = value
        for key in self.required:
            if data.get(key) is None:
                errors.add(place, f"'{key}' is missing")
        return out

    def schema(self) -> Json:
        """See `Shape.schema`."""
        properties = {}
        for key, shape in self.fields.items():
            schema = shape.schema()
            properties[key] = schema if key in self.required else _nullable(schema)
        out: Json = {"type": "object", "additionalProperties": False, "properties": properties}
        if self.required:
            out["required"] = list(self.required)
        if self.title:
            out = {"title": self.title, **out}
        return _documented(out, self.doc)


@dataclass(frozen=True, slots=True)
class Anything:
    """A value that somebody else checks, such as the options of a rule."""

    json_schema: Mapping[str, Any] = field(default_factory=dict)

    def read(self, data: Any, place: Place, errors: ErrorList) -> Any:
        """See `Shape.read`."""
        return data

    def schema(self) -> Json:
        """See `Shape.schema`."""
        return dict(self.json_schema)


def _documented(schema: Json, doc: str) -> Json:
    return {**schema, "description": doc} if doc else schema


def _nullable(schema: Json) -> Json:
    """The same, and null, which the reader takes for a key that is not written."""
    if "enum" in schema:
        return {**schema, "type": ["string", "null"], "enum": [*schema["enum"], None]}
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    return schema
