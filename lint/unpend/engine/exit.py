"""The exit code of a run, as a pure function of its result."""

from __future__ import annotations

from unpend.config.model import FailOn
from unpend.engine.result import Result

_LEVELS = {"info": 0, "warning": 1, "error": 2}


def exit_code(
    result: Result,
    *,
    fail_on: FailOn = "error",
    max_warnings: int | None = None,
    fail_on_unknown: bool = False,
    allow_empty: bool = False,
    untrustworthy: bool = False,
) -> int:
    """2 the run cannot be trusted · 3 no object was met · 1 findings count as failure · 0 none of these.

    `fail_on` none switches off failing by severity only: `max_warnings` and `fail_on_unknown` were asked for on their
    own. `untrustworthy` adds what the caller knows, such as a named path that cannot be read. A broken file is met even
    if no object could be read from it: then its finding decides, not 3.
    """
    if untrustworthy or result.untrustworthy:
        return 2
    active = result.active
    if fail_on != "none" and any(_LEVELS[f.severity] >= _LEVELS[fail_on] for f in active):
        return 1
    if max_warnings is not None and sum(f.severity == "warning" for f in active) > max_warnings:
        return 1
    if fail_on_unknown and unknown_workloads(result):
        return 1
    if result.object_count == 0 and not active:
        return 0 if allow_empty else 3
    return 0


def unknown_workloads(result: Result) -> tuple[str, ...]:
    """Workloads whose verdict depends on a fact that is not given, except where `verdict-unknown` is suppressed."""
    accepted = {f.workload for f in result.findings if f.rule == "verdict-unknown" and f.suppressed is not None}
    unknown = (v.workload for v in result.workloads if v.verdict == "conditional" and v.workload not in accepted)
    return tuple(dict.fromkeys(unknown))
