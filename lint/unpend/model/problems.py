"""Collects what is wrong with the values of one object while the rest of it is still read."""

from __future__ import annotations

from typing import Any, Literal

from unpend.model.inventory import Problem
from unpend.source.place import Part, Place


class Problems:
    """The problems of one object; a muted one swallows everything (templates of kinds whose rules are not known)."""

    __slots__ = ("found", "muted")

    def __init__(self, muted: bool = False) -> None:
        self.found: list[Problem] = []
        self.muted = muted

    def refuse(self, place: Place, message: str, semantics: str, part: Part = "value") -> None:
        """The API server (or the controller's own request to it) refuses the object or its pods because of this."""
        if not self.muted:
            self.found.append(Problem(message, place, "error", True, semantics, part))

    def note(
        self,
        place: Place,
        message: str,
        semantics: str,
        severity: Literal["error", "warning", "info"] = "error",
        part: Part = "value",
    ) -> None:
        """Something is wrong, but a client may get it past the API server."""
        if not self.muted:
            self.found.append(Problem(message, place, severity, False, semantics, part))

    def wrong_type(self, place: Place, wanted: str, value: Any) -> None:
        """The value has another type than the field (A-743): the API server cannot decode the object."""
        if self.muted:
            return
        hint = ""
        if wanted == "text" and isinstance(value, (bool, int, float)):
            hint = f'; write it in quotes: "{spell(value)}"'
        elif wanted != "text" and isinstance(value, str) and value.strip():
            hint = "; write it without quotes" if _looks_like(wanted, value) else ""
        where = _name(place)
        self.refuse(place, f"{where} must be {_article(wanted)}, but is {describe(value)}{hint}", "A-743")


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
