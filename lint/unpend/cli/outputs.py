"""`--output FORMAT[:FILE]`: which reports go where, and what they must know to be written."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from unpend.cli.errors import Failure, usage_error
from unpend.cli.stream import report_width, wants_color, write_report
from unpend.report.options import ReportOptions

if TYPE_CHECKING:
    from unpend.cli.session import Gathered
    from unpend.engine.result import Result


class Output(NamedTuple):
    """One report: its format, and the file it goes to (None: standard output)."""

    format: str
    file: str | None = None


def _no_page(_name: str) -> str:
    return ""


Renderer = Callable[[str, "Result", ReportOptions], str]


def parse_outputs(values: Sequence[str], formats: Sequence[str]) -> tuple[Output, ...]:
    """The reports that were asked for; none when none were. Raises `click.UsageError`."""
    outputs: list[Output] = []
    for value in values:
        name, colon, file = value.partition(":")
        if name not in formats:
            import difflib

            near = difflib.get_close_matches(name, formats, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"formats are {', '.join(formats)}."
            raise usage_error(f"--output {value}: there is no format '{name}', {hint}")
        if colon and not file:
            raise usage_error(f"--output {value}: the name of a file is missing after the colon.")
        outputs.append(Output(name, None if file in ("", "-") else file))
    targets = [output.file for output in outputs]
    for target in targets:
        if targets.count(target) > 1:
            where = "standard output" if target is None else f"the file {target}"
            raise usage_error(f"only one --output can go to {where}; give the others a file, as json:report.json.")
    return tuple(outputs)


def chosen_outputs(values: Sequence[str], formats: Sequence[str]) -> tuple[Output, ...]:
    """The reports of a run: as asked for, else `text`."""
    return parse_outputs(values, formats) or (Output("text"),)


def wants_annotations(values: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether annotations follow the text: in GitHub Actions, when no format was asked for."""
    return not values and environment.get("GITHUB_ACTIONS") == "true"


def report_options(
    color: str,
    environment: Mapping[str, str],
    *,
    docs_url: str | None = None,
    show_suppressed: bool = False,
    statistics: bool = False,
    quiet: bool = False,
    category: str = "default",
    page: Callable[[str], str] = _no_page,
) -> ReportOptions:
    """What the reports of this process must know: where it runs, how its terminal is."""
    from unpend.cli.about import catalog_date

    base = os.getcwd()
    terminal = sys.stdout.isatty()
    colored = wants_color(color, environment, terminal)
    return ReportOptions(
        base=base,
        repository=_repository(base),
        color=colored,
        hyperlinks=colored and terminal,
        width=report_width(terminal, environment),
        show_suppressed=show_suppressed,
        statistics=statistics,
        quiet=quiet,
        docs_url=docs_url,
        category=category,
        catalog_date=catalog_date(),
        is_file=lambda uri: os.path.isfile(os.path.join(base, uri)),
        page=page,
    )


def refuse_inputs(outputs: Sequence[Output], gathered: Gathered, named: Collection[str]) -> None:
    """Raise `click.UsageError` for a report that would be written over a manifest or the config of the run.

    `named` are the paths on the command line. The report of an earlier run, met by searching, may be written again.
    """
    targets = [output.file for output in outputs if output.file is not None]
    if not targets:
        return

    def real(path: str) -> str:
        return os.path.realpath(os.path.join(gathered.base, path))

    read = {real(uri): uri for uri in gathered.texts}
    taken = {real(path) for path in (gathered.config.path, *named) if path}
    for target in targets:
        uri = read.get(real(target))
        if real(target) in taken or any(
            item.document.uri == uri for cluster in gathered.clusters for item in cluster.objects if uri is not None
        ):
            raise usage_error(f"the report would overwrite {target}, which this run reads; write it to another file.")


def write_outputs(outputs: Sequence[Output], result: Result, options: ReportOptions, render: Renderer) -> None:
    """Render and write every report; files get no colour. Raises `Failure` for a file that cannot be written."""
    from unpend.records import replace

    plain = replace(options, color=False, hyperlinks=False)
    for output in outputs:
        write_text(output, render(output.format, result, options if output.file is None else plain))


def write_text(output: Output, text: str) -> None:
    """Write a text to where the output goes. Raises `Failure` for a file that cannot be written."""
    try:
        if output.file is None:
            write_report(text)
            return
        with open(output.file, "wb") as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        target = "to standard output" if output.file is None else output.file
        raise Failure(f"cannot write {target}: {error.strerror or error}") from None


def without_commands(text: str) -> str:
    """A text in which GitHub Actions finds no workflow commands, whatever the checked files contain."""
    lines = text.split("\n")
    return "\n".join("| " + line if line.lstrip().startswith(("::", "##[")) else line for line in lines)


def _repository(base: str) -> str | None:
    """The root of the repository around a folder: the nearest one upwards with a `.git`."""
    folder = base
    while True:
        if os.path.exists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
