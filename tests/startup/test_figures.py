"""The table of the docs is what the profiles compute, and has every figure that the work began with."""

from __future__ import annotations

import pytest

from startup_figures import BEGIN, END, pages, rows


def test_the_page_is_up_to_date() -> None:
    for path, text in pages():
        assert path.read_text(encoding="utf-8") == text, "run `make docs`"
        assert text.count(BEGIN) == text.count(END) == 1


@pytest.mark.parametrize(
    "figure",
    [
        "10–15 s", "1–10 s", "5–30 s", "20–60 s", "10–20 s", "5–15 s", "2–3 minutes", "500 MB–2 GB",
        "3–10 s or more", "5–10 ×", "−50 %", "30–40 %", "50–200 ms", "1–2 s", "50–100 MB", "< 10 ms",
        "up to 30 ×", "up to 16 %", "30–55 ×", "7–10 ×", "27 ×", "11–78 %", "4 of 6", "3–18 %", "−88.1 %",
        "−99.17 %", "+36.15 %", "+9.26 %", "−43.11 %", "−91.9 %", "100 ms", "500 nodes", "10 minutes",
        "2 minutes",
    ],
)  # fmt: skip
def test_every_figure_is_there(figure: str) -> None:
    assert any(figure in " ".join(row) for row in rows())


def test_every_difference_is_explained() -> None:
    for row in rows():
        assert all(cell.strip() for cell in row)
