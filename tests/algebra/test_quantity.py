from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.algebra.quantity import QuantityError, milli, parse, render


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0", 0),
        ("1", 1),
        ("0.5", Fraction(1, 2)),
        (".5", Fraction(1, 2)),
        ("1.", 1),
        ("1.G", 10**9),
        ("+2k", 2000),
        ("-5m", Fraction(-5, 1000)),
        ("500m", Fraction(1, 2)),
        ("1500u", Fraction(15, 10000)),
        ("3n", Fraction(3, 10**9)),
        ("1M", 10**6),
        ("1T", 10**12),
        ("1P", 10**15),
        ("1E", 10**18),
        ("1E0", 1),
        ("1e3", 1000),
        ("1E+3", 1000),
        ("25e-2", Fraction(1, 4)),
        ("1Ki", 1024),
        ("1.5Gi", 3 * 2**29),
        ("0.5Ki", 512),
        ("1Ti", 2**40),
        ("1Pi", 2**50),
        ("1Ei", 2**60),
        (" 1Gi\n", 2**30),
        (500, 500),
        (0.1, Fraction(1, 10)),
        (1e21, 10**21),
        (1e-7, Fraction(1, 10**7)),
    ],
)
def test_what_a_quantity_is_worth(text: str | int | float, amount: Fraction | int) -> None:
    assert parse(text) == amount


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0.1n", Fraction(1, 10**9)),
        ("-0.1n", Fraction(-1, 10**9)),
        ("1e-100000000", Fraction(1, 10**9)),
        ("0." + "0" * 5000 + "1Ki", Fraction(1, 10**9)),
        ("9Ei", 2**63 - 1),
        ("Gi", 0),
        (".", 0),
    ],
)
def test_corners_that_the_api_was_seen_to_decide_so(text: str, amount: Fraction | int) -> None:
    assert parse(text) == amount


def test_no_text_costs_unbounded_memory() -> None:
    assert parse("1e999999999") == parse("1" + "0" * 60)
    assert parse("9" * 100_000) == 10**60
    assert parse("1" + "0" * 70 + "e-70") == 1


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("1K", "k (thousands) or Ki (1024)"),
        ("1KB", "k (thousands) or Ki (1024)"),
        ("1GB", "G (10^9) or Gi (2^30)"),
        ("512MB", "M (10^6) or Mi (2^20)"),
        ("1gi", "did you mean Gi?"),
        ("1Mb", "M (10^6) or Mi (2^20)"),
        ("1GiB", "did you mean Gi?"),
        ("1g", "G (10^9) or Gi (2^30)"),
        ("1 Gi", "did you mean 1Gi?"),
        ("1e", '"e" needs an exponent'),
        ("2 cores", "did you mean 2?"),
        ("100b", "did you mean 100?"),
        ("1,5", 'write the fraction with a point, "1.5"'),
        ("", "is empty"),
        ("two", "does not begin with a number"),
        ("1_000", "is none of n u m k"),
        ("0x10", "is none of"),
        ("1.1.1", "is none of"),
        ("100%", "is none of"),
        ("1e3Gi", "is none of"),
        ("1e1.5", "is none of"),
        ("١", "does not begin with a number"),
        ("1" + "x" * 1000, "…"),
        (True, "true is a boolean"),
        (float("nan"), "not a finite number"),
        (float("inf"), "not a finite number"),
        (None, "null is not a quantity"),
        ([1], "a list is not a quantity"),
        ({}, "a mapping is not a quantity"),
    ],
)
def test_a_refused_quantity_says_what_is_wrong_and_what_was_meant(text: Any, hint: str) -> None:
    with pytest.raises(QuantityError) as refused:
        parse(text)
    assert hint in str(refused.value)
    assert len(str(refused.value)) < 220


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0.0005", 1), ("500u", 1), ("100.5", 100_500), ("1m", 1), ("-0.0005", -1), ("1.0001", 1001), ("2", 2000), (0, 0)],
)
def test_resource_lists_round_up_to_thousandths(text: str | int, expected: int) -> None:
    """`A-204`."""
    assert milli(text) == expected


SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["", "+", "-"]),
    st.integers(0, 10**20),
    st.text("0123456789", max_size=8),
    st.sampled_from(sorted(SUFFIXES)),
)
def test_a_decimal_quantity_is_its_digits_times_its_suffix(sign: str, whole: int, fraction: str, suffix: str) -> None:
    text = f"{sign}{whole}.{fraction}{suffix}"
    exact = (Fraction(whole) + Fraction(int(fraction or "0"), 10 ** len(fraction))) * Fraction(10) ** SUFFIXES[suffix]
    exact = -exact if sign == "-" else exact
    got = parse(text)
    assert abs(got - exact) < Fraction(1, 10**9)
    assert abs(got) >= abs(exact)
    if (exact * 10**9).denominator == 1:
        assert got == exact


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_rounding_keeps_the_order_and_never_loses(left: int, right: int) -> None:
    a, b = f"{left}u", f"{right}u"
    assert (milli(a) <= milli(b)) or left > right
    assert 0 <= Fraction(milli(a), 1000) - parse(a) < Fraction(1, 1000)


@pytest.mark.parametrize(
    ("amount", "resource", "text"),
    [
        (250, "cpu", "250m"),
        (2000, "cpu", "2"),
        (-1500, "cpu", "-1500m"),
        (2**30 * 1000, "memory", "1Gi"),
        (1536 * 2**20 * 1000, "memory", "1536Mi"),
        (7_238_000_000_000, "memory", "6902.69Mi"),
        (100 * 10**12, "ephemeral-storage", "100G"),
        (2 * 10**15, "memory", "2T"),
        (512 * 1000, "memory", "512"),
        (100, "memory", "1"),
        (17 * 2**30 * 1000, "ephemeral-storage", "17Gi"),
        (2**21 * 1000, "hugepages-2Mi", "2Mi"),
        (2**30 * 1000, "requests.storage", "1Gi"),
        (3000, "nvidia.com/gpu", "3"),
    ],
)
def test_amounts_are_shown_in_the_unit_that_people_write(amount: int, resource: str, text: str) -> None:
    assert render(amount, resource) == text


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**12))
def test_a_shown_amount_of_cpu_is_exact(amount: int) -> None:
    assert milli(render(amount, "cpu")) == amount
