"""Errors about the user's command, config or packs (exit code 2); never about what is checked.

UnpendError
├── ConfigError      one or more messages, each with its place
└── PackError        a rule pack that does not load (unpend.engine.registry)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unpend.source.place import Place


class UnpendError(Exception):
    """Something about the command, the config or a pack is wrong; `messages` are complete sentences for the user."""

    def __init__(self, messages: Sequence[str] | str) -> None:
        self.messages: tuple[str, ...] = (messages,) if isinstance(messages, str) else tuple(messages)
        super().__init__("\n".join(self.messages))


class ConfigError(UnpendError):
    """The config (or a name on the command line that refers to it) is wrong; all errors found are in `messages`."""


_BEHIND = 1 << 30
"""A line behind those of any config: names of the command line come last."""


class ErrorList:
    """Collects the errors of one config text, so that the user sees all of them at once."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._found: list[tuple[int, int, str]] = []

    def add(self, place: Place, message: str, *, key: bool = False) -> None:
        """Add `message` about the value at `place`, or about its key."""
        location = place.location("key" if key else "value")
        path = str(place)
        text = f"{path}: {message}" if path else message
        if location is None:
            self._found.append((0, 0, f"{self.uri}: {text}"))
        else:
            line, column = location.span.start
            self._found.append((line, column, f"{self.uri}:{line + 1}:{column + 1}: {text}"))

    def add_name(self, root: Place | None, key: str, index: int, message: str) -> None:
        """Add `message` about one name of a list of the config, which may be written as a single text."""
        if root is None:
            self._found.append((_BEHIND, len(self._found), f"{key}: {message}"))
            return
        place = root.at(key)
        self.add(place.at(index) if isinstance(place.value, list) else place, message)

    def add_text(self, message: str, line: int = 0, column: int = 0) -> None:
        """Add a message about the text itself; line and column are zero-based."""
        self._found.append((line, column, f"{self.uri}:{line + 1}:{column + 1}: {message}"))

    @property
    def messages(self) -> tuple[str, ...]:
        """Everything that was collected, in the order of the text."""
        return tuple(message for _, _, message in sorted(self._found))

    def raise_if_any(self) -> None:
        """Raise `ConfigError` with everything that was collected."""
        if self._found:
            raise ConfigError(self.messages)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`, did you mean 'severity'?` for the nearest known name, else an empty string."""
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f", did you mean '{near[0]}'?" if near else ""
