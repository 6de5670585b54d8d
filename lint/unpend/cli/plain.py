"""The parameters of a plain `unpend check` without click, so that checking one file starts twice as fast.

Plain is what needs no help, no error message and none of the finer points of a command line; everything else is left
to click. A test compares the tables and the results with those of the command in `unpend.cli.check`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

FAIL_ON = ("error", "warning", "info", "none")
PROFILES = ("default", "strict", "cost", "reliability")
COLORS = ("auto", "always", "never")

FLAGS = {
    "--complete": "complete",
    "--isolated": "isolated",
    "--force-exclude": "force_exclude",
    "--fail-on-unknown": "fail_on_unknown",
    "--allow-empty": "allow_empty",
    "--report-only-paths": "report_only_paths",
    "--statistics": "statistics",
    "--show-suppressed": "show_suppressed",
    "--helm": "helm",
    "--fix": "fix",
    "--unsafe-fixes": "unsafe_fixes",
    "--diff": "diff",
    "--quiet": "quiet",
    "-q": "quiet",
}
ONCE: dict[str, tuple[str, tuple[str, ...]]] = {
    "--cluster": ("cluster", ()),
    "--namespace": ("namespace", ()),
    "--stdin-filename": ("stdin_filename", ()),
    "--config": ("config_file", ()),
    "--baseline": ("baseline", ()),
    "--today": ("today", ()),
    "--profile": ("profile", PROFILES),
    "--fail-on": ("fail_on", FAIL_ON),
    "--color": ("color", COLORS),
}
"""The name of the parameter, and the values that it may have (empty: any)."""

REPEATABLE = {
    "--pools": "pools",
    "--zone-shift": "zone_shift",
    "--select": "select",
    "--ignore": "ignore",
    "--output": "outputs",
    "-o": "outputs",
    "--values": "values",
    "-f": "values",
    "--set": "settings",
    "--values-set": "values_sets",
}


def parse(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The parameters that the arguments behind `check` mean; None for arguments that click should look at."""
    given: dict[str, Any] = dict.fromkeys(FLAGS.values(), False)
    given |= {name: None for name, _ in ONCE.values()}
    given |= {"color": COLORS[0], "max_warnings": None}
    many: dict[str, list[str]] = {name: [] for name in ("paths", *REPEATABLE.values())}
    waiting = iter(arguments)
    for argument in waiting:
        if argument == "-" or argument[:1] not in ("-", ""):
            many["paths"].append(argument)
            continue
        if argument in FLAGS:
            given[FLAGS[argument]] = True
            continue
        option, equals, value = argument.partition("=")
        if not equals:
            value = next(waiting, "")
        if not value or value.startswith("-") or (equals and not option.startswith("--")):
            return None
        if option in REPEATABLE:
            many[REPEATABLE[option]].append(value)
        elif option in ONCE:
            name, choices = ONCE[option]
            if choices and value not in choices:
                return None
            given[name] = value
        else:
            return None
    return given | {name: tuple(values) for name, values in many.items()}
