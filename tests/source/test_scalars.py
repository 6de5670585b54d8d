from __future__ import annotations

import math

import pytest

from unpend.source.scalars import PlainKeys, PlainValues, ScalarError, key_text, plain, resolve, tagged


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True), ("Off", False), ("oN", "oN"), ("~", None), ("", None), ("nULL", "nULL"),
        ("0o_7", 7), ("0_1", 1), ("0x_1", 1), ("+0x1F", 31), ("-0b11", -3), ("08", 8), ("00", 0), ("0X1f", 31),
        ("1__0", 10), ("_1", "_1"), ("1.", 1), ("+.5", 0.5), ("-.5e3", -500), ("1e999", "1e999"), ("+", "+"),
        ("0x", "0x"), ("0b2", "0b2"), ("12e03", 12000), ("..5", "..5"), (".", "."), ("-", "-"), ("1e-7", 1e-7),
        ("9223372036854775807", 2**63 - 1), ("18446744073709551615", 2**64 - 1),
        ("-9223372036854775809", -float(2**63)),
        ("1:30", "1:30"), ("2020-01-01", "2020-01-01"), ("=", "="), ("<<", "<<"), ("1.10", 1.1), ("v1", "v1"),
        ("500m", "500m"), ("1Gi", "1Gi"), ("٣", "٣"), ("1٣", "1٣"),
    ],
)  # fmt: skip
def test_plain_scalars(text: str, value: object) -> None:
    found = plain(text)
    assert found == value
    assert type(found) is type(value) or (isinstance(found, int) and isinstance(value, int))


@pytest.mark.parametrize("text", [".inf", "-.INF", "+.Inf", ".NaN"])
def test_numbers_that_are_not_finite_are_refused(text: str) -> None:
    assert not math.isfinite(resolve(text))  # type: ignore[arg-type]
    with pytest.raises(ScalarError, match="not finite"):
        plain(text)


@pytest.mark.parametrize(
    ("tag", "text", "value"),
    [
        ("str", "12", "12"), ("int", "12", 12), ("float", "5", 5), ("null", "~", None), ("bool", "y", True),
        ("binary", "aGVs\n bG8=", None), ("timestamp", "2020-01-01", "2020-01-01"), ("set", "x", "x"),
    ],
)  # fmt: skip
def test_written_tags(tag: str, text: str, value: object) -> None:
    if tag == "binary":
        assert tagged("tag:yaml.org,2002:binary", "aGVs\nbG8=") == "hello"
    else:
        assert tagged("tag:yaml.org,2002:" + tag, text) == value
    assert tagged("!Ref", text) == text


@pytest.mark.parametrize(("tag", "text"), [("int", "x"), ("int", "1.5"), ("null", "x"), ("bool", "1"), ("binary", "@")])
def test_tags_that_do_not_fit_are_refused(tag: str, text: str) -> None:
    with pytest.raises(ScalarError, match="!!" + tag):
        tagged("tag:yaml.org,2002:" + tag, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"), (False, "false"), (7, "7"), ("x", "x"), (1.5, "1.5"), (1e6, "1e+06"), (1000.0, "1000"),
        (1000000.5, "1.0000005e+06"), (0.00001, "1e-05"), (0.1, "0.1"), (math.inf, ".inf"), (-math.inf, "-.inf"),
        (math.nan, ".nan"), (1e300, ".inf"), (0.0, "0"), (123456.7, "123456.7"),
    ],
)  # fmt: skip
def test_keys_become_strings(value: object, text: str) -> None:
    assert key_text(value) == text


@pytest.mark.parametrize("value", [None, 2**63])
def test_keys_that_cannot(value: object) -> None:
    with pytest.raises(ScalarError):
        key_text(value)


def test_the_memos_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unpend.source.scalars._MEMO_ENTRIES", 10)
    values, keys = PlainValues(), PlainKeys()
    for number in range(50):
        assert values[str(number)] == number
        assert keys[str(number)] == str(number)
    assert len(values) <= 10
    assert len(keys) <= 10
    assert values["x" * 100] == "x" * 100
    assert "x" * 100 not in values
