"""A line on standard error that says how far reading is: on a terminal only, and only when it takes a while."""

from __future__ import annotations

import sys
from time import monotonic

_DELAY = 0.5
_STEP = 0.1


class Progress:
    """Counts texts that were read; shows nothing before half a second has passed."""

    __slots__ = ("_last", "_on", "_shown", "_total")

    def __init__(self, total: int, on: bool = True) -> None:
        self._total = total
        self._on = on and sys.stderr.isatty()
        self._last = monotonic() + _DELAY - _STEP
        self._shown = False

    def at(self, number: int) -> None:
        """Say that `number` texts were read."""
        if not self._on:
            return
        now = monotonic()
        if now - self._last >= _STEP:
            self._last = now
            self._shown = True
            sys.stderr.write(f"\rreading {number} of {self._total} ")
            sys.stderr.flush()

    def end(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
