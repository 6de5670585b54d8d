"""`unpend baseline`: the findings of an old repository in a file, so that only new ones count."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

from unpend.cli.errors import Failure
from unpend.cli.outputs import Output, write_text
from unpend.cli.parameters import helm_options, input_options, reading_options
from unpend.cli.plain import PROFILES
from unpend.cli.stream import complain
from unpend.engine.baseline import BaselineError, Entry, known, parse, written

FILE = ".unpend-baseline.yaml"
Command = TypeVar("Command", bound=Callable[..., Any])


@click.group("baseline")
def command() -> None:
    """Start with a repository that has findings: write them down, and let only new ones count.

    `unpend check --baseline FILE`, or `baseline: FILE` in the config, uses the file. An entry is found again by rule,
    object, path and value, wherever its lines move.
    """


def _options(decorated: Command) -> Command:
    decorated = input_options(reading_options(helm_options(decorated)))
    for name in ("--ignore", "--select"):
        decorated = click.option(name, metavar="RULE", multiple=True, help="As in unpend check.")(decorated)
    decorated = click.option("--profile", type=click.Choice(PROFILES), help="As in unpend check.")(decorated)
    decorated = click.option("--today", metavar="DATE", help="As in unpend check.")(decorated)
    return click.option(
        "--file", "file", metavar="FILE", help=f"The baseline. Default: that of the config, else {FILE}."
    )(decorated)


@command.command("write")
@_options
def write(**given: Any) -> int:
    """Write all findings to the file; entries that stay keep their comments, what is gone is taken out."""
    current, path, _ = _findings(given)
    before = _read(path) if os.path.exists(path) else None
    write_text(Output("text", path), _written(path, current, before))
    complain(f"wrote {path}: {_count(len(current))}")
    return 0


@command.command("show")
@_options
def show(**given: Any) -> int:
    """List the entries of the file; those that nothing matches any more are marked."""
    current, path, _ = _findings(given)
    found = {entry.fingerprint for entry in current}
    entries = _entries(path, _read(path))
    lines = [_line(entry, entry.fingerprint in found) for entry in entries]
    gone = sum(entry.fingerprint not in found for entry in entries)
    lines.append(f"{_count(len(entries))}, {gone} of them gone.")
    write_text(Output("text"), "".join(f"{line}\n" for line in lines))
    return 0


@command.command("prune")
@_options
def prune(**given: Any) -> int:
    """Take out of the file what is gone; nothing is added."""
    current, path, _ = _findings(given)
    before = _read(path)
    found = {entry.fingerprint for entry in current}
    entries = _entries(path, before)
    kept = tuple(entry for entry in entries if entry.fingerprint in found)
    if len(kept) < len(entries):
        write_text(Output("text", path), _written(path, kept, before))
    complain(f"{path}: {_count(len(entries) - len(kept))} taken out, {len(kept)} left")
    return 0


def read_baseline(path: str) -> tuple[Entry, ...]:
    """The entries of a file. Raises `Failure`."""
    return _entries(path, _read(path))


def _findings(given: dict[str, Any]) -> tuple[tuple[Entry, ...], str, bool]:
    """What the run finds, and the file. Raises `Failure` for a run that is not trustworthy."""
    from unpend.cli.session import Request, gather

    gathered = gather(Request.of(given))
    result = gathered.run(given["select"], given["ignore"], given["profile"])
    gathered.tell(result)
    if result.untrustworthy:
        raise Failure("the run is not trustworthy, so the baseline is left as it is")
    return known(result.findings), given["file"] or gathered.config.baseline or FILE, result.object_count > 0


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise Failure(f"cannot read the baseline {path}: {reason}") from None


def _entries(path: str, text: str) -> tuple[Entry, ...]:
    try:
        return parse(text, path)
    except BaselineError as error:
        raise Failure(str(error)) from None


def _written(path: str, entries: tuple[Entry, ...], before: str | None) -> str:
    try:
        return written(entries, before)
    except BaselineError as error:
        raise Failure(f"{path} is left as it is: {error}") from None


def _line(entry: Entry, found: bool) -> str:
    reason = f" -- {entry.reason}" if entry.reason else ""
    mark = "" if found else "gone: "
    return f"{mark}{entry.file or '-'}: {entry.rule} {entry.object} {entry.path}".rstrip() + reason


def _count(number: int) -> str:
    return "1 finding" if number == 1 else f"{number} findings"
