"""Collects what is wrong with the values of one object while the rest of it is still read."""

from __future__ import annotations

import re
from math import isinf
from typing import Any, Literal

from unpend.model.inventory import Problem
from unpend.model.pod import Refusal
from unpend.source.place import Part, Place

_PLACEHOLDER = re.compile(r"\$\{|\{\{|\$\(|\$[A-Za-z_]")

_PLACEMENT = re.compile(r"scheduler:A-(?:734|741|743|150[12]|151.|152.|153.)\Z")
"""What decides where a pod may run: the rules of which a breach matters in a kind whose own rules are not known."""


class Problems:
    """The problems of one object.

    A muted one swallows everything: what is already in a cluster is not judged again. A `lenient` one is for kinds with
    unknown rules: nothing is called wrong there, but a placement value that no pod could have is a fact that is
    not given (`unsure`), since whoever makes the pods may replace it. So is a placeholder such as `${ZONE}` anywhere.
    """

    __slots__ = ("found", "lenient", "muted", "unsure")

    def __init__(self, muted: bool = False, lenient: bool = False) -> None:
        self.found: list[Problem] = []
        self.unsure: list[Refusal] = []
        self.muted = muted
        self.lenient = lenient

    def refuse(self, place: Place, message: str, semantics: str, part: Part = "value") -> None:
        """The API server (or the controller's own request to it) refuses the object or its pods because of this."""
        if self.muted:
            return
        placeholder = _placeholder(place)
        if placeholder is not None:
            said = f'"{spell(placeholder)}" is a placeholder that is not filled in here'
            self.unsure.append(Refusal(said, place, semantics))
            if not self.lenient:
                self.found.append(Problem(said, place, "info", False, semantics, part))
        elif not self.lenient:
            self.found.append(Problem(message, place, "error", True, semantics, part))
        elif _PLACEMENT.match(semantics):
            self.unsure.append(Refusal(f"{message}; what makes the pods may change it", place, semantics))

    def note(
        self,
        place: Place,
        message: str,
        semantics: str,
        severity: Literal["error", "warning", "info"] = "error",
        part: Part = "value",
    ) -> None:
        """Something is wrong, but a client may get it past the API server."""
        if not (self.muted or self.lenient):
            self.found.append(Problem(message, place, severity, False, semantics, part))

    def wrong_type(self, place: Place, wanted: str, value: Any) -> None:
        """The value has another type than the field (A-743): the API server cannot decode the object."""
        if self.muted:
            return
        hint = ""
        written = _bare_word(place) if isinstance(value, bool) else ""
        if wanted == "text" and written:
            message = f"{_name(place)} must be text, but a bare {written} counts as {spell(value)} in YAML"
            self.refuse(place, f'{message}; write it in quotes: "{written}"', "scheduler:A-743")
            return
        if wanted == "text" and isinstance(value, (bool, int, float)):
            hint = f'; write it in quotes: "{spell(value)}"'
        elif wanted != "text" and isinstance(value, str) and value.strip():
            if _BEYOND.match(value) and isinf(float(value)):
                hint = ": it is beyond the numbers that YAML has"
            elif _looks_like(wanted, value):
                hint = "; write it without quotes"
        where = _name(place)
        self.refuse(place, f"{where} must be {_article(wanted)}, but is {describe(value)}{hint}", "scheduler:A-743")


_BEYOND = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)[eE]\+?\d+\Z")
"""A number in form that YAML reads as text, since it is larger than any that it knows."""


def _bare_word(place: Place) -> str:
    """How a true/false value is spelt where that is not `true` or `false`, such as `on`; empty without a text."""
    location = place.location()
    document = getattr(place.object, "document", None)
    if location is None or document is None:
        return ""
    start, end = location.span
    lines = document.text.split("\n")
    number = start.line - document.first_line
    if start.line != end.line or not 0 <= number < len(lines):
        return ""
    written: str = lines[number][start.column : end.column]
    return written if written.lower() in ("y", "n", "yes", "no", "on", "off") else ""


def is_placeholder(text: str) -> bool:
    """Whether a text has a part that something else fills in later, such as `${ZONE}`."""
    return _PLACEHOLDER.search(text) is not None


def _placeholder(place: Place) -> str | None:
    for written in (place.value, place.step):
        if isinstance(written, str) and _PLACEHOLDER.search(written):
            return written
    return None


def _name(place: Place) -> str:
    steps = [step for step in place.path if isinstance(step, str)]
    return f"`{steps[-1]}`" if steps else "the object"


def _article(wanted: str) -> str:
    return wanted if wanted == "text" else f"a {wanted}"


def _looks_like(wanted: str, value: str) -> bool:
    if wanted == "whole number":
        return value.lstrip("+-").isdigit()
    return wanted == "true/false value" and value in {"true", "false"}


def spell(value: Any) -> str:
    """A scalar as YAML spells it, cut to a readable length."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else text[:57] + "…"


def describe(value: Any) -> str:
    """A value for a message: its kind, and the value itself where it is short."""
    if isinstance(value, bool):
        return f"the true/false value {spell(value)}"
    if isinstance(value, (int, float)):
        return f"the number {spell(value)}"
    if isinstance(value, str):
        return f'the text "{spell(value)}"'
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else "a value of another type"


_RESOURCES = frozenset({"cpu", "memory", "pods"})


def sentence(message: str) -> str:
    """A message as a sentence; a name at its beginning, such as that of a resource, stays as it is written."""
    first = message.partition(" ")[0]
    if first.isalpha() and first.islower() and first not in _RESOURCES:
        message = message[0].upper() + message[1:]
    return message if message.endswith(("?", ".")) or not message else f"{message}."
