"""Errors of the command line itself. click is imported when there is something to complain about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unpend.config.errors import UnpendError

if TYPE_CHECKING:
    import click


class Failure(UnpendError):  # noqa: N818 - it is no error of unpend
    """Something outside of the checked files is wrong, so that the run is not trustworthy."""


def usage_error(message: str, option: str | None = None) -> click.UsageError:
    """To be raised for parameters that are wrong, or that do not go together; `option` is the one that is wrong."""
    import click

    return click.UsageError(message) if option is None else click.BadParameter(message, param_hint=option)
