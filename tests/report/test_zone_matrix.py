"""The matrix workload × zone as text."""

from __future__ import annotations

from dataclasses import replace

from unpend.placement.zone_shift import Cell, Outcome, ZoneRow
from unpend.report.options import ReportOptions
from unpend.report.zone_matrix import zone_matrix

FITS = Outcome("fits", None, 3)
TWO = Outcome("partial", "topology", 2)
NONE = Outcome("never", "labels", 0)
OPEN = Outcome("conditional", "unknown-fact", 3)
ROWS = (
    ZoneRow("Deployment/web", "", 3, (Cell("a", 3, FITS, TWO), Cell("b", 3, OPEN, OPEN, soft=True))),
    ZoneRow("StatefulSet/db", "prod", 3, (Cell("a", 3, NONE, NONE, volumes=("claim data",)),)),
    ZoneRow("Deployment/free", "", 3, (Cell("a", 3, FITS, FITS), Cell("b", 3, FITS, FITS))),
)


def test_a_table_of_those_that_notice() -> None:
    lines = zone_matrix(ROWS, replace(ReportOptions(), width=100))
    assert lines[0] == "Without a zone"
    assert lines[1].split() == ["workload", "a", "b"]
    assert lines[2].split() == ["Deployment/web", "ok,", "shift", "2/3", "?,", "soft"]
    assert lines[3].split() == ["StatefulSet/db", "(prod)", "none,", "volume"]
    assert lines[-1] == "  1 workload keeps all replicas without any one zone."


def test_one_line_a_zone_where_the_table_is_too_wide() -> None:
    lines = zone_matrix(ROWS, replace(ReportOptions(), width=30))
    assert lines[1:4] == ["  Deployment/web", "    a: ok, shift 2/3", "    b: ?, soft"]


def test_only_those_that_notice_nothing() -> None:
    assert zone_matrix(ROWS[2:], ReportOptions()) == [
        "Without a zone",
        "  1 workload keeps all replicas without any one zone.",
    ]
