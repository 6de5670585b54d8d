from __future__ import annotations

from typing import Any

import pytest

from unpend.engine.exit import exit_code, unknown_workloads
from unpend.engine.result import ReportedFinding, Result, Suppressed
from unpend.placement.verdict import ReplicaCounts, WorkloadVerdict


def _finding(severity: Any, rule: str = "r", suppressed: bool = False, workload: str | None = None) -> ReportedFinding:
    return ReportedFinding(
        rule, severity, "proved", "m", "f", None, "", None,
        suppressed=Suppressed("comment") if suppressed else None, workload=workload,
    )  # fmt: skip


def _result(*findings: ReportedFinding, verdicts: Any = (), **fields: Any) -> Result:
    workloads = tuple(
        WorkloadVerdict(name, "", verdict, None, "proved", ReplicaCounts(1, 1, 0, 1)) for name, verdict in verdicts
    )
    return Result(findings=findings, workloads=workloads, **{"object_count": 1, **fields})


ERROR, WARNING, INFO = _finding("error"), _finding("warning"), _finding("info")


@pytest.mark.parametrize(
    ("result", "options", "expected"),
    [
        (_result(), {}, 0),
        (_result(WARNING, INFO), {}, 0),
        (_result(ERROR), {}, 1),
        (_result(_finding("error", suppressed=True)), {}, 0),
        (_result(WARNING), {"fail_on": "warning"}, 1),
        (_result(INFO), {"fail_on": "warning"}, 0),
        (_result(INFO), {"fail_on": "info"}, 1),
        (_result(ERROR), {"fail_on": "none"}, 0),
        (_result(WARNING, WARNING), {"max_warnings": 2}, 0),
        (_result(WARNING, WARNING), {"max_warnings": 1}, 1),
        (_result(WARNING), {"max_warnings": 0, "fail_on": "none"}, 1),
        (_result(ERROR, untrustworthy=True), {"fail_on": "none"}, 2),
        (_result(ERROR), {"untrustworthy": True}, 2),
        (_result(object_count=0), {}, 3),
        (_result(object_count=0), {"allow_empty": True}, 0),
        (_result(ERROR, object_count=0), {}, 1),
        (_result(ERROR, object_count=0), {"allow_empty": True}, 1),
        (_result(verdicts=[("a", "conditional")]), {}, 0),
        (_result(verdicts=[("a", "conditional")]), {"fail_on_unknown": True}, 1),
        (_result(verdicts=[("a", "fits"), ("b", "never")]), {"fail_on_unknown": True}, 0),
    ],
)
def test_exit_code(result: Result, options: Any, expected: int) -> None:
    assert exit_code(result, **options) == expected


def test_a_suppressed_verdict_unknown_is_accepted() -> None:
    accepted = _finding("info", "verdict-unknown", suppressed=True, workload="a")
    result = _result(accepted, verdicts=[("a", "conditional"), ("b", "conditional")])
    assert unknown_workloads(result) == ("b",)
