"""What admission found about one pod: reasons to refuse it, and facts that are not given."""

from __future__ import annotations

from unpend.model.pod import Refusal
from unpend.source.place import Place


class AdmissionFindings:
    """Filled by the admission steps, read once at the end."""

    __slots__ = ("refusals", "unknown")

    def __init__(self) -> None:
        self.refusals: list[Refusal] = []
        self.unknown: list[Refusal] = []

    def refuse(self, message: str, place: Place, semantics: str, *related: tuple[str, Place]) -> None:
        """The pod is surely refused."""
        self.refusals.append(Refusal(message, place, semantics, related))

    def unsure(self, message: str, place: Place, semantics: str, *related: tuple[str, Place]) -> None:
        """Something that is not given decides."""
        self.unknown.append(Refusal(message, place, semantics, related))
