"""What `unpend check` does with its parameters. Without click, which takes longer to import than a file to check."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from unpend.cli.outputs import (
    chosen_outputs,
    refuse_inputs,
    report_options,
    wants_annotations,
    without_commands,
    write_outputs,
)
from unpend.report import FORMATS, render

if TYPE_CHECKING:
    from unpend.cli.session import Gathered
    from unpend.engine.result import Result
    from unpend.report.options import ReportOptions

_LONG = 50
_WITH_FIXES = frozenset({"json", "lsp", "sarif"})


def check(given: Mapping[str, Any]) -> int:
    """Check, write the reports and give the exit code; `given` are the parameters of the command by their names.

    Raises `click.UsageError` for parameters that do not go together, before anything is read.
    """
    from unpend.cli.session import Request, gather
    from unpend.engine.exit import exit_code

    outputs = chosen_outputs(given["outputs"], FORMATS)
    fixing = given["fix"] or given["unsafe_fixes"] or given["diff"]
    if fixing:
        from unpend.cli.fixing import refuse_what_cannot_be_changed

        refuse_what_cannot_be_changed(given)
    request = Request.of(given)
    gathered = gather(request)
    refuse_inputs(outputs, gathered, (*given["paths"], *given["pools"]))
    known = _baseline(given["baseline"] or gathered.config.baseline)
    asked = (given["select"], given["ignore"], given["profile"])
    result = gathered.run(*asked, baseline=known)
    if fixing:
        from unpend.cli.fixing import fixed, show_diff

        rules = gathered.options(*asked, baseline=known)
        if given["diff"]:
            if not given["quiet"]:
                gathered.tell(result)
            return show_diff(gathered, result, rules, given["unsafe_fixes"])

        def again() -> tuple[Gathered, Result]:
            anew = gather(request)
            return anew, anew.run(*asked, baseline=known)

        gathered, result = fixed(gathered, result, rules, given["unsafe_fixes"], again)
    if any(output.format in _WITH_FIXES for output in outputs):
        from unpend.cli.fixing import with_fixes

        result = with_fixes(gathered, result, gathered.options(*asked, baseline=known))
    if not given["quiet"]:
        gathered.tell(result)
    options = report_options(
        given["color"],
        os.environ,
        docs_url=gathered.config.docs_url,
        show_suppressed=given["show_suppressed"],
        statistics=given["statistics"],
        quiet=given["quiet"],
        category=gathered.category,
        page=gathered.page,
    )
    annotated = wants_annotations(given["outputs"], os.environ)
    write_outputs(outputs, result, options, _with_annotations if annotated else render)
    return exit_code(
        result,
        fail_on=given["fail_on"] or gathered.config.fail_on,
        max_warnings=given["max_warnings"],
        fail_on_unknown=given["fail_on_unknown"],
        allow_empty=given["allow_empty"],
        untrustworthy=gathered.untrustworthy,
    )


def _baseline(path: str | None) -> frozenset[str]:
    """The fingerprints of the findings that do not count. Raises `Failure`."""
    if path is None:
        return frozenset()
    from unpend.cli.baseline import read_baseline

    return frozenset(entry.fingerprint for entry in read_baseline(path))


def _with_annotations(name: str, result: Result, options: ReportOptions) -> str:
    """The text for the log (folded when it is long), and the annotations beneath it."""
    text = without_commands(render(name, result, options))
    if text.count("\n") > _LONG:
        text = f"::group::unpend\n{text}::endgroup::\n"
    return text + render("github", result, options)
