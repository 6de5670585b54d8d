"""Reports: one module per output format, a result in and a text out.

Formats are imported when they are asked for, so that a run pays only for what it prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from unpend.engine.result import Result
    from unpend.report.options import ReportOptions

FORMATS: tuple[str, ...] = ("text", "concise", "json", "lsp", "sarif", "github", "gitlab", "junit", "markdown")


class _Format(Protocol):
    def render(self, result: Result, options: ReportOptions) -> str: ...


def render(name: str, result: Result, options: ReportOptions) -> str:
    """The report in the format `name`, one of `FORMATS`; ends with a newline unless it is empty.

    Raises `KeyError` for a format that does not exist.
    """
    if name not in FORMATS:
        raise KeyError(name)
    from importlib import import_module

    module = cast("_Format", import_module(f"unpend.report.{name}"))
    return module.render(result, options)
