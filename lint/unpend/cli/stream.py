"""Writing: the report to standard output or a file, everything else to standard error; a closed pipe is no error."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping


def write_report(text: str) -> None:
    """Write to standard output as UTF-8, whatever the locale says. A reader that went away ends the writing quietly.

    Raises OSError for any other reason that nothing can be written, as a full disk.
    """
    with contextlib.suppress(BrokenPipeError):
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None:
            sys.stdout.write(text)
        else:
            sys.stdout.flush()
            stream.write(text.encode("utf-8", "backslashreplace"))
            stream.flush()
        return
    _discard_stdout()


def complain(text: str) -> None:
    """Write one line to standard error."""
    from unpend.report.terminal import printable

    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"unpend: {printable(text)}\n")


def close_quietly() -> None:
    """Flush both streams; what a closed pipe has lost is not reported."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _discard_stdout()
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()


def _discard_stdout() -> None:
    # The interpreter flushes once more at its end and would complain; it finds the null device instead.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())


def wants_color(when: str, environment: Mapping[str, str], is_terminal: bool) -> bool:
    """Whether to colour: `--color` first, then NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, the terminal and its TERM."""
    if when != "auto":
        return when == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0") or environment.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return is_terminal and environment.get("TERM") != "dumb"


def report_width(is_terminal: bool, environment: Mapping[str, str]) -> int:
    """How wide a report may be: as the terminal or COLUMNS says, between 80 and 120; 100 elsewhere."""
    columns = 100
    if environment.get("COLUMNS", "").isdigit():
        columns = int(environment["COLUMNS"])
    elif is_terminal:
        with contextlib.suppress(OSError, ValueError):
            columns = os.get_terminal_size(sys.stdout.fileno()).columns
    return max(80, min(120, columns))
