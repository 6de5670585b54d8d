"""Situations from public issue threads and documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora.real_situations import LEFT_OUT, OUT_OF_SCOPE, cases, judge_case


@pytest.mark.parametrize("folder", cases(), ids=lambda folder: folder.name)
def test_situation(folder: Path) -> None:
    judged = judge_case(folder)
    if folder.name in OUT_OF_SCOPE:
        assert judged.grade != "wrong alarm", judged.detail
    else:
        assert judged.grade == "right", judged.detail


def test_what_is_out_of_scope_is_there() -> None:
    assert OUT_OF_SCOPE.keys() <= {folder.name for folder in cases()}
    assert not LEFT_OUT
