"""`unpend calibrate`: the stages of a start, measured from a dump of a cluster."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from unpend.cli.errors import Failure, usage_error
from unpend.cli.outputs import chosen_outputs, report_options, write_text
from unpend.cli.parameters import color_option, output_option
from unpend.cli.stream import complain
from unpend.startup.profile import BUILTIN

if TYPE_CHECKING:
    from unpend.startup.calibrate import Calibration

_FORMATS = ("text", "json")


@click.command("calibrate")
@click.argument("file", metavar="FILE")
@click.option("--extends", type=click.Choice(BUILTIN), help="The profile that holds for what was not measured.")
@click.option("--name", default="measured", help="The name of the profile. Default: measured.")
@click.option("--today", metavar="DATE", help="The day that the profile is dated with (YYYY-MM-DD). Default: today.")
@output_option("text (a table) or json (the profile)", "text")
@color_option
def command(file: str, extends: str | None, name: str, today: str | None, outputs: tuple[str, ...], color: str) -> int:
    """Measure the stages of a start from a dump of a cluster, and write them as a profile.

    FILE is what `kubectl get pods,nodes,events,nodeclaims -A -o json` writes, or - for standard input. Events live for
    an hour: take the dump soon after pods have started. With --output json:FILE the profile is written, to be named in
    the config as `startup: {profile: FILE}`. A stage without data keeps the figure of the profile that is extended.

    Exit codes: 0, 2 the file cannot be read, 3 no pod, node or NodeClaim tells anything.
    """
    from unpend.records import replace
    from unpend.report.calibration import render, render_json
    from unpend.startup.calibrate import calibrate
    from unpend.startup.profile import builtin

    targets = chosen_outputs(outputs, _FORMATS)
    day = _day(today)
    base = builtin(extends or "generic")
    found = calibrate(_objects(file), base)
    options = report_options(color, os.environ)
    for target in targets:
        shown = options if target.file is None else replace(options, color=False, hyperlinks=False)
        if target.format == "json":
            write_text(target, render_json(found.profile(name, extends, day.isoformat())))
        else:
            write_text(target, render(found, base, shown))
    if all(target.format == "json" for target in targets):
        _tell(found)
    return 0 if found.stages or found.runtimes else 3


def _tell(found: Calibration) -> None:
    if found.missing:
        complain(f"not measured, the default stays: {', '.join(found.missing)}")


def _day(text: str | None) -> date:
    if text is None:
        return date.today()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise usage_error(f"'{text}' is no day; write it as 2026-12-31.", "--today") from None


def _objects(file: str) -> Iterable[Mapping[str, Any]]:
    """The objects of a dump as plain data. Raises `Failure` for one that cannot be read."""
    import json
    import sys

    from unpend.source.discovery import read_file

    if file == "-":
        raw = sys.stdin.buffer.read()
    else:
        try:
            raw = read_file(file)
        except OSError as error:
            raise Failure(f"{file} cannot be read: {error.strerror or error}") from None
    try:
        data: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return _from_yaml(raw, file)
    return list(_items(data))


def _items(data: Any) -> Iterator[Mapping[str, Any]]:
    listed = data.get("items") if isinstance(data, Mapping) else data
    for item in listed if isinstance(listed, list) else [data]:
        if isinstance(item, Mapping):
            yield item


def _from_yaml(raw: bytes, file: str) -> Iterable[Mapping[str, Any]]:
    from unpend.source.reading import read_text

    reading = read_text(raw, file)
    wrong = next((t for t in reading.troubles if t.severity == "error"), None)
    if wrong is not None:
        raise Failure(f"{file} cannot be read: {wrong.message}")
    return [item for document in reading.documents for item in _items(document.data)]
