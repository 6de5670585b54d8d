"""Input that means harm, or that nobody meant: a trouble at its line, in bounded time, and the rest is read."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from unpend.source import compose as compose_module
from unpend.source import reading as reading_module
from unpend.source.document import Reading, Trouble
from unpend.source.place import Span
from unpend.source.reading import read_text
from unpend.source.syntax import MAX_DEPTH

GOOD = "apiVersion: v1\nkind: Pod\nmetadata: {name: good}\n"


@pytest.fixture(autouse=True)
def _soon() -> Iterator[None]:
    start = time.monotonic()
    yield
    assert time.monotonic() - start < 20


def between(text: str | bytes) -> Reading:
    """The reading of a text with a good document before and behind it; both must survive."""
    raw = text if isinstance(text, bytes) else text.encode()
    good = GOOD.encode()
    reading = read_text(good + b"---\n" + raw + b"\n---\n" + good, "s.yaml")
    names = [item.data["metadata"]["name"] for item in reading.objects]
    assert names[0] == names[-1] == "good"
    assert len(names) >= 2
    return reading


def only(reading: Reading) -> tuple[Trouble, Span]:
    (trouble,) = reading.troubles
    assert trouble.span is not None
    assert trouble.severity == "error"
    return trouble, trouble.span


def bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize("levels", [9, 30, 200])
def test_alias_bomb(levels: int) -> None:
    trouble, span = only(between(bomb(levels)))
    assert "too many aliases" in trouble.message
    assert 5 <= span.start.line <= 13


def test_merge_bomb() -> None:
    lines = ["a0: &a0 {x: 1, z: 2}"]
    lines += [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}], k{i}: 1}}" for i in range(1, 30)]
    trouble, _ = only(between("\n".join(lines)))
    assert "too many aliases" in trouble.message


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 100_000,
        "a: " + "[" * 100_000 + "]" * 100_000,
        "{a: " * 100_000,
        "- " * 100_000 + "x",
        "-  " * 100_000 + "x",
        "? " * 100_000 + "x",
        "? - " * 50_000 + "x",
        "\n".join(" " * i + "a:" for i in range(1_500)),
        "\n".join(" " * i + "- - a:" for i in range(0, 1_500, 5)),
        "\n".join(f"{' ' * i}a:\n{' ' * i}-" for i in range(1_000)),
        '{"a": ' * 2_000 + "1" + "}" * 2_000,
    ],
    ids=["[", "[]", "{", "-", "- wide", "?", "? -", "block", "block list", "indentless", "json"],
)
def test_deep_nesting(text: str) -> None:
    trouble, span = only(between(text))
    assert "levels deep" in trouble.message
    assert span.start.line >= 4


def test_deep_json_stream() -> None:
    reading = read_text('{"a": ' * 100_000 + "1" + "}" * 100_000, "a.json")
    assert "levels deep" in only(reading)[0].message
    assert "levels deep" in only(read_text('{"a": ' * 500 + "1" + "}" * 500, "a.json"))[0].message


def test_nesting_that_hides_behind_aliases() -> None:
    half = MAX_DEPTH * 2 // 3
    text = f"a: &a {'[' * half}{']' * half}\nb: {'[' * half}*a{']' * half}"
    trouble, span = only(between(text))
    assert "when this alias is followed" in trouble.message
    assert span.start.line == 5


def test_nesting_up_to_the_limit_is_read() -> None:
    for text in ("[" * MAX_DEPTH + "]" * MAX_DEPTH, "- " * MAX_DEPTH + "x"):
        reading = between(text)
        assert reading.troubles == ()
        assert len(reading.documents) == 3
        location = reading.documents[1].locate((0,) * (MAX_DEPTH - 1))
        assert location is not None
        assert location.span.start.line == 4


@pytest.mark.parametrize(
    ("text", "column"), [("a: &a [*a]", 7), ("a: &a {b: {c: *a}}", 14), ("a: &a {<<: *a}", 11), ("&a [*a]", 4)]
)
def test_cyclic_anchors(text: str, column: int) -> None:
    trouble, span = only(between(text))
    assert "contains itself" in trouble.message
    assert span.start == (4, column)


def test_huge_documents_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_module, "MAX_DOCUMENT", 1_000_000)
    trouble, span = only(between("a: '" + "x" * 1_000_001 + "'"))
    assert "larger than" in trouble.message
    assert span.start == (4, 0)
    json = read_text('{"a": "' + "x" * 1_000_001 + '"}', "a.json")
    assert "larger than" in only(json)[0].message


@pytest.mark.slow
def test_a_scalar_of_a_hundred_megabytes() -> None:
    trouble, span = only(between("a: " + "x" * (100 * 1024 * 1024)))
    assert "larger than 64" in trouble.message
    assert span.start == (4, 0)


def test_a_large_scalar_is_read() -> None:
    reading = between("a: |\n" + "  " + "x" * 3_000_000)
    assert reading.troubles == ()
    assert reading.documents[1].data == {"a": "x" * 3_000_000 + "\n"}


def test_too_many_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compose_module, "MAX_NODES", 1_000)
    trouble, _ = only(between("a: &a 1\nb: [" + "*a," * 10 + "1," * 2_000 + "]"))
    assert "more than 1,000 values" in trouble.message


def test_many_duplicate_keys_are_capped() -> None:
    reading = between("a: 1\n" * 5_000)
    assert reading.troubles == ()
    assert len(reading.documents[1].duplicate_keys) == 100


@pytest.mark.parametrize(
    ("raw", "said", "place"),
    [
        (b"a: b\x00c", "control characters", (4, 4)),
        (b"a: 1\nb: \x07", "control characters", (5, 3)),
        (b"a: 1\nb: caf\xe9", "no UTF-8", (5, 6)),
        (b"a: \xed\xa0\x80", "no UTF-8", (4, 3)),
        (b"a: \xc0\xaf", "no UTF-8", (4, 3)),
        (b"a: \xf5\x80\x80\x80", "no UTF-8", (4, 3)),
    ],
)
def test_bytes_that_are_no_text(raw: bytes, said: str, place: tuple[int, int]) -> None:
    trouble, span = only(between(raw))
    assert said in trouble.message
    assert span.start == place


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_wide_encodings(encoding: str) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    trouble, span = only(read_text(mark + GOOD.encode(encoding), "a.yaml"))
    assert "UTF-16" in trouble.message
    assert span.start == (0, 0)


def test_wide_encoding_without_a_mark() -> None:
    trouble, _ = only(read_text(GOOD.encode("utf-16-le"), "a.yaml"))
    assert "control characters" in trouble.message


def test_a_lone_surrogate_in_a_string() -> None:
    trouble, span = only(read_text("ok: 1\n---\na: 1\nb: x\ud800\n", "a.yaml"))
    assert "surrogate" in trouble.message
    assert span == ((3, 4), (3, 5))


def test_random_bytes_never_raise() -> None:
    import random

    rng = random.Random(5)
    for _ in range(300):
        read_text(rng.randbytes(rng.randint(0, 80)), "noise.yaml")
        text = "".join(rng.choice("ab:-?[]{}&*!|>'\"%@`#,\n \t\r\ufeff\x85\u2028\ud800\x00é") for _ in range(40))
        reading = read_text(text, "noise.yaml")
        for document in reading.documents:
            assert document.locate(()) is not None
        for trouble in reading.troubles:
            assert trouble.span is not None


def test_many_small_documents_take_linear_time() -> None:
    def seconds(count: int) -> float:
        text = "---\n".join([GOOD] * count)
        start = time.perf_counter()
        assert len(read_text(text, "s.yaml").objects) == count
        return time.perf_counter() - start

    seconds(200)
    # The best of several: what else the machine does must not count.
    small, large = (min(seconds(count) for _ in range(3)) for count in (1_000, 4_000))
    assert large < small * 12


def test_text_of_only_separators_and_comments() -> None:
    assert read_text("---\n" * 50_000, "s.yaml") == Reading()
    assert read_text("# c\n---\n" * 10_000, "s.yaml") == Reading()


def test_a_separator_that_is_none() -> None:
    reading = read_text(GOOD + "--- foo\n" + GOOD, "s.yaml")
    trouble, span = only(reading)
    assert "only a comment may stand, not `foo`" in trouble.message
    assert span.start == (3, 0)
    assert len(reading.objects) == 2
