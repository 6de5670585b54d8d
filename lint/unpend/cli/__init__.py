"""The command line: what `unpend` and `python -m unpend` run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

OK = 0
FINDINGS = 1
UNTRUSTWORTHY = 2
NOTHING = 3
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run one command and end the process with its exit code."""
    import gc

    # A run builds many objects, drops almost none and ends: collecting cycles would only cost time.
    gc.disable()
    _open_streams()
    sys.exit(run(arguments))


def _open_streams() -> None:
    """Stand-ins for standard streams that the caller closed, so that no file that is opened later takes their place."""
    import os

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  # open until the process ends


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code; nothing is raised, a defect of unpend is printed with its traceback."""
    from unpend.cli.stream import close_quietly, complain

    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = _plain_check(given)
        if code is None:
            code = _with_click(given)
    except KeyboardInterrupt:
        complain("interrupted")
        code = INTERRUPTED
    except BrokenPipeError:
        code = OK
    except Exception as error:
        code = _failed(error)
    close_quietly()
    return code


def _plain_check(given: Sequence[str]) -> int | None:
    """`unpend check` without click; None for other commands, and when click has something to say about the parameters.

    Parameters that do not go together are found before anything is read, so that click can begin anew.
    """
    if given[:1] != ["check"]:
        return None
    from unpend.cli.plain import parse

    parameters = parse(given[1:])
    if parameters is None:
        return None
    from unpend.cli.checking import check

    try:
        return check(parameters)
    except Exception as error:
        if _is_usage_error(error):
            return None
        raise


def _is_usage_error(error: Exception) -> bool:
    click = sys.modules.get("click")
    return click is not None and isinstance(error, click.UsageError)


def _with_click(given: list[str]) -> int:
    import click

    from unpend.cli.group import unpend

    try:
        code = unpend.main(args=given, prog_name="unpend", standalone_mode=False)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        error.show()
        return UNTRUSTWORTHY
    return code if isinstance(code, int) else OK


def _failed(error: Exception) -> int:
    from unpend.cli.stream import complain
    from unpend.config.errors import UnpendError

    if isinstance(error, UnpendError):
        for message in error.messages:
            complain(message)
    else:
        import traceback

        traceback.print_exception(error)
        complain("this is a defect of unpend, please report it")
    return UNTRUSTWORTHY
