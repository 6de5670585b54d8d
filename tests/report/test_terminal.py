from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.report.excerpt import excerpt
from unpend.report.positions import Lines, utf16_length
from unpend.report.terminal import Paint, expand_tabs, pad, printable, width, wrap
from unpend.report.uris import file_uri, percent_encode, repository_path
from unpend.source.place import Position, Span

PLAIN = Paint(False)


def show(text: str, start: tuple[int, int], end: tuple[int, int], columns: int = 100) -> list[str]:
    span = Span(Position(*start), Position(*end))
    return excerpt(Lines(text), span, gutter=2, columns=columns, style="error", paint=PLAIN)


@given(st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_code_units_are_those_of_utf16(text: str) -> None:
    assert utf16_length(text) == len(text.encode("utf-16-le", "surrogatepass")) // 2


@given(st.lists(st.text(alphabet="ab \t é🚀字\u0301", max_size=12), min_size=1, max_size=5), st.data())
@settings(max_examples=200, deadline=None)
def test_utf16_positions_lead_back_to_the_same_place(lines: list[str], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, len(lines) - 1))
    column = data.draw(st.integers(0, len(lines[number])))
    # An empty text stands for a text that is not known; columns are taken as they are.
    position = Lines("\n".join(lines)).utf16(Position(number, column))
    assert position["line"] == number
    units = lines[number].encode("utf-16-le")[: 2 * position["character"]]
    assert units.decode("utf-16-le") == lines[number][:column]


def test_only_the_breaks_of_editors_end_a_line() -> None:
    lines = Lines("a\r\nb\rc\u2028d\x85e\nf")
    assert [lines.line(i) for i in range(len(lines))] == ["a", "b", "c\u2028d\x85e", "f"]


def test_a_position_behind_the_end_is_moved_to_it() -> None:
    lines = Lines("ab\ncd")
    assert lines.utf16(Position(0, 9)) == {"line": 0, "character": 2}
    assert lines.utf16(Position(7, 0)) == {"line": 1, "character": 2}


def test_a_byte_order_mark_takes_no_column() -> None:
    assert Lines("\ufeffab").line(0) == "ab"


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("  image: nginx", "nginx"),
        ("字字: 値🚀x", "値🚀"),
        ("\tkey:\tvalue", "value"),
        ("e\u0301: x\u0301y", "x\u0301y"),
    ],
)
def test_carets_stand_under_the_place(line: str, part: str) -> None:
    start = line.index(part)
    source, carets = show(line, (0, start), (0, start + len(part)))
    before = carets.index("^")
    assert carets.count("^") == width(part)
    shown_before = source[: source.index(part[0], source.index("|"))]
    assert width(shown_before) == before


def test_a_span_over_lines_is_underlined_on_its_first_one() -> None:
    assert show("a:\n  b: 1  \n  c: 2", (1, 2), (2, 6)) == [" 2 |   b: 1", "   |   ^^^^"]


@pytest.mark.parametrize("start", [0, 50, 300, 590])
def test_long_lines_are_cut_around_the_place(start: int) -> None:
    line = "".join(chr(97 + i % 26) for i in range(600))
    source, carets = show(line, (0, start), (0, start + 5), columns=80)
    assert width(source) <= 80
    assert source[carets.index("^") : carets.index("^") + 5] == line[start : start + 5]
    assert carets.count("^") == 5


def test_a_hundred_megabytes_on_one_line_cost_nothing() -> None:
    source, carets = show("x" * 100_000_000, (0, 50_000_000), (0, 100_000_000), columns=80)
    assert len(source) <= 80
    assert "^" in carets


def test_controls_are_shown_and_not_obeyed() -> None:
    assert printable("a\x1b[31mb\u202ec\r\n\udcff") == "a\\x1b[31mb\\u202ec\\r\\n\\xff"
    source, _ = show("a: \x1b]0;title\x07", (0, 3), (0, 10))
    assert "\x1b" not in source
    assert "\x07" not in source


@given(st.text(alphabet="ab 字\u0301", max_size=60), st.integers(10, 40))
@settings(max_examples=100, deadline=None)
def test_wrapping_keeps_every_word(text: str, columns: int) -> None:
    lines = wrap(text, columns, "> ", "  ")
    assert " ".join(line[2:] for line in lines).split() == text.split()
    for line in lines:
        assert width(line) <= columns or len(line[2:].split()) <= 1


def test_tabs_end_at_multiples_of_four() -> None:
    assert expand_tabs("a\tb\t字\tc") == "a   b   字  c"
    assert pad("字", 4) == "字  "


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("apps/a b.yaml", "file:///repo/apps/a%20b.yaml"),
        ("/x/ü#?%.yaml", "file:///x/%C3%BC%23%3F%25.yaml"),
        ("../up.yaml", "file:///up.yaml"),
        ("a\udcff.yaml", "file:///repo/a%FF.yaml"),
        ("C:\\k8s\\a.yaml", "file:///c%3A/k8s/a.yaml"),
        ("<stdin>", "untitled:stdin"),
        ("file:///w/a.yaml", "file:///w/a.yaml"),
        ("a:b.yaml", "file:///repo/a%3Ab.yaml"),
    ],
)
def test_file_uris_are_absolute_and_encoded(name: str, uri: str) -> None:
    assert file_uri(name, "/repo") == uri


def test_paths_are_relative_to_the_repository() -> None:
    assert repository_path("a.yaml", "/repo/sub", "/repo") == "sub/a.yaml"
    assert repository_path("../a.yaml", "/repo/sub", "/repo") == "a.yaml"
    assert repository_path("/repo/b.yaml", "/repo/sub", "/repo") == "b.yaml"
    assert repository_path("/etc/b.yaml", "/repo/sub", "/repo") is None
    assert repository_path("a.yaml", "/repo", None) == "a.yaml"
    assert percent_encode("a:b\n.yaml") == "a%3Ab%0A.yaml"
