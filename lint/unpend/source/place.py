"""Where a value stands: spans in a text, and places inside an object.

A model value carries a `Place`: the object it was read from and the steps that lead to it. The span is looked up only
when somebody asks for it, so that ten thousand manifests without findings cost no position table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from unpend.records import field

Step = str | int
Part = Literal["value", "key", "entry"]

_SIMPLE_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")


class Position(NamedTuple):
    """A point in a text: zero-based line, zero-based column in Unicode code points."""

    line: int
    column: int


class Span(NamedTuple):
    """A half-open range in a text; `end` is exclusive."""

    start: Position
    end: Position


class Origin(NamedTuple):
    """The file a rendered text came from, such as a Helm template; `line` is zero-based, None when not known."""

    uri: str
    line: int | None = None
    exact: bool = False


class Location(NamedTuple):
    """A span in a named text. `document` counts the YAML documents of that text from 0."""

    uri: str
    document: int
    span: Span
    origin: Origin | None = None


class Holder(Protocol):
    """What a place belongs to: an object (or a whole document) that can look up spans."""

    @property
    def data(self) -> Any:
        """The plain data: dict, list, str, int, float, bool or None."""

    def locate(self, path: tuple[Step, ...], part: Part = "value") -> Location | None:
        """The location of the value, of its key, or of key and value together; None when there is no text."""


class Place:
    """A value inside an object: `object` plus the steps from its root, as `place.at("spec", "containers", 0)`.

    Two places are equal when they name the same path of the same object.
    """

    __slots__ = ("_parent", "_step", "object")

    def __init__(self, holder: Holder, parent: Place | None = None, step: Step | None = None) -> None:
        self.object = holder
        self._parent = parent
        self._step = step

    def at(self, *steps: Step) -> Place:
        """The place of a value inside this one; it need not exist (then its nearest existing parent is located)."""
        place = self
        for step in steps:
            place = Place(self.object, place, step)
        return place

    @property
    def parent(self) -> Place | None:
        """The value around this one, None at the root."""
        return self._parent

    @property
    def step(self) -> Step | None:
        """The last step of the path, None at the root."""
        return self._step

    @property
    def path(self) -> tuple[Step, ...]:
        """The steps from the root of the object."""
        return tuple(reversed(list(self._steps_up())))

    def _steps_up(self) -> Iterator[Step]:
        place: Place | None = self
        while place is not None and place._step is not None:
            yield place._step
            place = place._parent

    def location(self, part: Part = "value") -> Location | None:
        """Where this value (or its key, or the whole entry) stands in its text; None when there is no text."""
        return self.object.locate(self.path, part)

    @property
    def value(self) -> Any:
        """The plain data at this place, None when nothing is there."""
        data = self.object.data
        for step in self.path:
            if isinstance(data, Mapping) and isinstance(step, str):
                data = data.get(step)
            elif isinstance(data, list) and isinstance(step, int) and step < len(data):
                data = data[step]
            else:
                return None
        return data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and other.object is self.object and other.path == self.path

    def __hash__(self) -> int:
        return hash((id(self.object), self.path))

    def __str__(self) -> str:
        return render_path(self.path)

    def __repr__(self) -> str:
        return f"Place({render_path(self.path)!r})"


def render_path(path: tuple[Step, ...]) -> str:
    """`spec.containers[0].image`; keys with other characters as `metadata.annotations['karpenter.sh/x']`."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _SIMPLE_KEY.match(step):
            parts.append(f".{step}" if parts else step)
        else:
            escaped = step.replace("\\", "\\\\").replace("'", "\\'")
            parts.append(f"['{escaped}']")
    return "".join(parts)


def place_field() -> Any:
    """A field of a record for its place: nothing is equal or different because of it, and readers always give one."""
    # The default only lets it follow other defaults.
    return field(default=None, compare=False, repr=False)
