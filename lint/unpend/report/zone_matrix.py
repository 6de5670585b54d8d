"""The matrix workload × zone: what becomes of each workload without each zone that it can use."""

from __future__ import annotations

from collections.abc import Sequence

from unpend.placement.zone_shift import Cell, Outcome, ZoneRow
from unpend.report.options import ReportOptions
from unpend.report.terminal import Paint, pad, printable, width, wrap

_LEGEND = (
    "ok: all replicas find a place; 2/3: two of three do; none: none does; ?: it depends; shift: the same while the "
    "zone is shifted away and still counts as a domain; soft: ok only since the spread is ScheduleAnyway; volume: "
    "data stays behind"
)


def zone_matrix(rows: Sequence[ZoneRow], options: ReportOptions) -> list[str]:
    """The lines of the matrix, workloads that notice nothing counted at its end."""
    paint = Paint(options.color)
    noticing = [row for row in rows if any(cell.changes for cell in row.cells)]
    lines = [paint("bold", "Without a zone")]
    if noticing:
        lines += _table(noticing, options.width, paint)
        lines += wrap(_LEGEND, options.width, "  ", "  ")
    unmoved = len(rows) - len(noticing)
    if unmoved:
        noun = "workload keeps" if unmoved == 1 else "workloads keep"
        lines.append(f"  {unmoved} {noun} all replicas without any one zone.")
    return lines


def _table(rows: Sequence[ZoneRow], columns: int, paint: Paint) -> list[str]:
    zones = sorted({cell.zone for row in rows for cell in row.cells})
    header = ["workload", *(printable(zone) for zone in zones)]
    table = [[_name(row), *_cells(row, zones)] for row in rows]
    widths = [max(width(line[i]) for line in (header, *table)) for i in range(len(header))]
    if sum(widths) + 2 * len(widths) > columns:
        # A narrow terminal: one line per workload and zone.
        lines = []
        for row in rows:
            lines.append(f"  {_name(row)}")
            lines += [f"    {printable(cell.zone)}: {_text(cell)}" for cell in row.cells if cell.changes]
        return lines

    def line(cells: Sequence[str]) -> str:
        return "  " + "  ".join(pad(text, size) for text, size in zip(cells, widths, strict=True)).rstrip()

    return [paint("dim", line(header)), *(line(cells) for cells in table)]


def _name(row: ZoneRow) -> str:
    return printable(f"{row.workload} ({row.cluster})" if row.cluster else row.workload)


def _cells(row: ZoneRow, zones: Sequence[str]) -> list[str]:
    found = {cell.zone: _text(cell) for cell in row.cells}
    return [found.get(zone, "") for zone in zones]


def _text(cell: Cell) -> str:
    loss, shift = (_outcome(one, cell.needed) for one in (cell.loss, cell.shift))
    parts = [loss] if loss == shift else [loss, f"shift {shift}"]
    if cell.soft:
        parts.append("soft")
    if cell.volumes:
        parts.append("volume")
    return ", ".join(parts)


def _outcome(outcome: Outcome, needed: int) -> str:
    if outcome.at_most <= 0:
        return "none"
    if outcome.at_most < needed:
        return f"{outcome.at_most}/{needed}"
    return "ok" if outcome.verdict == "fits" else "?"
