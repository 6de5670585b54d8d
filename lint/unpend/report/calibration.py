"""What a calibration measured: a table for people, the profile as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unpend.report.jsontext import dumps
from unpend.report.options import ReportOptions
from unpend.report.summary import counted
from unpend.report.terminal import Paint, pad, wrap
from unpend.startup.calibrate import MEASURABLE, Calibration, Measured
from unpend.startup.profile import Profile
from unpend.startup.stages import Interval, shown

_NAME = 16
_NUMBER = 10
_MOST_WIDTH = 80


def render(found: Calibration, base: Profile, options: ReportOptions) -> str:
    """A line for each stage: what was measured, or that the default stays."""
    paint = Paint(options.color)
    columns = min(options.width, _MOST_WIDTH) if options.width else _MOST_WIDTH
    lines = [f"{counted(found.pods, 'pod', 'pods')} in the dump", ""]
    lines.append(paint("dim", f"  {'stage':<{_NAME}} {'p50':>{_NUMBER}} {'p95':>{_NUMBER}} {'samples':>8}"))
    for stage in MEASURABLE:
        if stage == "runtime" and found.runtimes:
            lines += [_line(family, measured) for family, measured in found.runtimes.items()]
        elif stage in found.stages:
            lines.append(_line(stage, found.stages[stage]))
        else:
            kept = base.runtime(base.default_runtime) if stage == "runtime" else base.stages.get(stage)
            lines.append(paint("dim", _default(stage, None if kept is None else kept.interval, base.name)))
    lines.append("")
    text = "p50 and p95 are samples (nearest rank). A profile made of this takes p50 for typical and p95 for worst."
    lines += wrap(text, columns)
    if found.missing:
        lines += wrap(f"Not measured, since a time stamp is missing: {', '.join(found.missing)}.", columns)
    return "\n".join(lines) + "\n"


def render_json(profile: Mapping[str, Any]) -> str:
    """The profile; its schema is `startup-profile.schema.json` of `unpend_schemas`."""
    return dumps(profile)


def _line(name: str, measured: Measured) -> str:
    cells = f"{shown(measured.p50):>{_NUMBER}} {shown(measured.p95):>{_NUMBER}} {len(measured.samples):>8}"
    return f"  {pad(name, _NAME)} {cells}"


def _default(stage: str, interval: Interval | None, base: str) -> str:
    if interval is None:
        return f"  {pad(stage, _NAME)} no data: worked out from size and bandwidth ({base})"
    return f"  {pad(stage, _NAME)} no data: {shown(interval.typical)} to {shown(interval.worst)} of {base} stays"
