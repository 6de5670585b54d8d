from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.algebra import values as v
from unpend.algebra.syntax import is_label_value
from unpend.algebra.values import ValueSet, from_expression

# What Kubernetes does with one expression and one label, written as plainly as can be and sharing no code with unpend:
# `labels.NewRequirement` and `Requirement.Matches` of k8s.io/apimachinery. An expression that does not parse matches
# nothing; numbers are read by `strconv.ParseInt(text, 10, 64)`.

ALPHANUMERIC = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
DIGITS = "0123456789"


def kubernetes_label_value(text: str) -> bool:
    if text == "":
        return True
    if len(text) > 63 or text[0] not in ALPHANUMERIC or text[-1] not in ALPHANUMERIC:
        return False
    return all(c in ALPHANUMERIC or c in "-_." for c in text)


def go_int(text: str) -> int | None:
    sign = 1
    if text[:1] in ("+", "-"):
        sign = -1 if text[0] == "-" else 1
        text = text[1:]
    if not text:
        return None
    number = 0
    for c in text:
        if c not in DIGITS:
            return None
        number = number * 10 + DIGITS.index(c)
    number *= sign
    return number if -(2**63) <= number <= 2**63 - 1 else None


def kubernetes_matches(operator: str, values: Sequence[str], label: str | None) -> bool:
    for value in values:
        if not kubernetes_label_value(value):
            return False
    if operator == "In":
        return label is not None and label in values
    if operator == "NotIn":
        return bool(values) and (label is None or label not in values)
    if operator == "Exists":
        return not values and label is not None
    if operator == "DoesNotExist":
        return not values and label is None
    if operator in ("Gt", "Lt", "Gte", "Lte"):
        if len(values) != 1 or label is None:
            return False
        bound, number = go_int(values[0]), go_int(label)
        if bound is None or number is None:
            return False
        return {
            "Gt": number > bound,
            "Lt": number < bound,
            "Gte": number >= bound,
            "Lte": number <= bound,
        }[operator]
    return False


TOP = str(2**63 - 1)
LABELS = ["", "a", "b", "0", "1", "2", "02", "3", "007", "1_0", "8.0", "16Gi", "v2", TOP, str(2**63), "0" * 62 + "2"]
UNIVERSE: list[str | None] = [None, *LABELS]
OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte", "Equals", ""]
VALUES = [
    (),
    ("a",),
    ("2",),
    ("a", "b"),
    ("2", "02"),
    ("",),
    ("1",),
    ("3",),
    ("007",),
    ("0",),
    ("abc",),
    ("-1",),
    ("+5",),
    ("1_0",),
    ("8.0",),
    (TOP,),
    (str(2**63),),
    ("not a label",),
    ("a", "b c"),
    ("x" * 64,),
]
EXPRESSIONS = list(product(OPERATORS, VALUES))


def spellings(number: int) -> list[str]:
    return [str(number).zfill(n) for n in range(len(str(number)), 64)]


def atoms() -> list[ValueSet]:
    found = {from_expression(o, vals) for o, vals in EXPRESSIONS}
    return [
        *sorted(found, key=str),
        v.anything(),
        v.none_of(spellings(2)),
        v.none_of(spellings(2)[1:]),
        v.one_of(spellings(2)),
        v.one_of(spellings(2)[:40]),
        v.one_of([*spellings(1), *spellings(2)]),
        v.one_of([*spellings(2), "a"]),
    ]


def witnesses(*sets: ValueSet) -> Iterator[str | None]:
    """Values that tell two different sets apart, if any do: named ones, numbers around the bounds, and a fresh one."""
    yield None
    yield "fresh"
    for s in sets:
        yield from s.names
        for number in (s.low - 1, s.low, s.high, s.high + 1):
            if 0 <= number < 2**63:
                yield from spellings(number)


@pytest.mark.parametrize(("operator", "values"), EXPRESSIONS)
def test_an_expression_allows_what_kubernetes_matches(operator: str, values: tuple[str, ...]) -> None:
    """`P-507`, `P-508`."""
    allowed = from_expression(operator, values)
    for label in UNIVERSE:
        assert allowed.admits(label) == kubernetes_matches(operator, values, label), label


def test_meet_is_and_on_every_pair_of_the_universe() -> None:
    for x, y in product(atoms(), repeat=2):
        both = x.meet(y)
        assert both == y.meet(x)
        for label in UNIVERSE:
            assert both.admits(label) == (x.admits(label) and y.admits(label)), (x, y, label)


def test_meet_is_associative_idempotent_and_has_neutral_and_zero() -> None:
    few = atoms()[::2]
    for x, y, z in product(few, repeat=3):
        assert x.meet(y).meet(z) == x.meet(y.meet(z))
    for x in atoms():
        assert x.meet(x) == x
        assert x.meet(v.anything()) == x == v.anything().meet(x)
        assert x.meet(v.impossible()) == v.impossible()


def test_equal_means_the_same_set() -> None:
    """Sets that differ as objects differ in some value; sets that are equal allow the same."""
    closure = {x.meet(y) for x, y in product(atoms(), repeat=2)}
    for x, y in product(closure, repeat=2):
        differ = any(x.admits(w) != y.admits(w) for w in witnesses(x, y))
        assert (x != y) == differ, (x, y)


def test_subset_overlap_and_relation_agree_with_membership() -> None:
    for x, y in product(atoms(), repeat=2):
        inside = [w for w in witnesses(x, y) if x.admits(w)]
        both = [w for w in inside if y.admits(w)]
        assert x.overlaps(y) == bool(both), (x, y)
        assert x.is_subset(y) == (len(both) == len(inside)), (x, y)
        assert x.relation(y) == ("never" if not both else "surely" if len(both) == len(inside) else "possibly")
        assert x.is_impossible == (not inside)


def test_absent_impossible_and_anything_are_three_things() -> None:
    assert len({v.absent(), v.impossible(), v.anything(), v.exists()}) == 4
    contradiction = v.one_of(["a"]).meet(v.one_of(["b"]))
    assert contradiction == v.impossible()
    assert contradiction != v.absent()
    assert v.exists().meet(v.absent()).is_impossible
    assert v.none_of(["a"]).meet(v.absent()) == v.absent()


def test_two_spellings_of_one_number_are_two_values() -> None:
    two = v.at_least(2).meet(v.at_most(2))
    assert not two.meet(v.none_of(["2"])).is_impossible
    assert two.meet(v.none_of(["2"])).admits("02")
    assert two == v.one_of(spellings(2))
    assert two.meet(v.none_of(spellings(2))).is_impossible
    assert v.greater(1).meet(v.less(4)).meet(v.none_of(spellings(3))) == two
    assert v.at_most(2).meet(v.none_of([*spellings(0), *spellings(1)])) == two


def test_numbers_stay_inside_64_bits() -> None:
    assert v.greater(2**63 - 1).is_impossible
    assert v.less(0).is_impossible
    assert v.at_least(-5) == v.at_most(2**70) == v.at_least(0)
    assert not v.at_least(0).admits(str(2**63))


@pytest.mark.parametrize(
    ("allowed", "text"),
    [
        (v.anything(), "any value or absent"),
        (v.absent(), "absent"),
        (v.impossible(), "nothing"),
        (v.one_of(["b", "a", ""]), '"", a, b'),
        (v.none_of(["spot"]), "any value but spot or absent"),
        (v.greater(3), "a number of at least 4"),
        (v.greater(3).meet(v.less(5)), "the number 4"),
        (v.greater(3).meet(v.less(9)).meet(v.none_of(["5"])), "a number from 4 to 8 but 5"),
        (v.one_of([str(i) for i in range(11, 21)]), "11, 12, 13, 14, 15, 16, 17, 18 and 2 more"),
    ],
)
def test_a_set_reads_as_a_sentence(allowed: ValueSet, text: str) -> None:
    assert str(allowed) == text


expressions = st.tuples(
    st.sampled_from(OPERATORS[:8]),
    st.lists(st.one_of(st.sampled_from(LABELS), st.integers(0, 12).map(str)), max_size=4).map(tuple),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(expressions, max_size=5), st.one_of(st.none(), st.sampled_from(LABELS), st.integers(0, 12).map(str)))
def test_all_expressions_together_allow_what_each_matches(
    several: list[tuple[str, tuple[str, ...]]], label: str | None
) -> None:
    allowed = v.anything()
    for operator, values in several:
        allowed = allowed.meet(from_expression(operator, values))
    assert allowed.admits(label) == all(kubernetes_matches(o, vals, label) for o, vals in several)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("aZ09-_./ é"), max_size=6))
def test_label_value_syntax(text: str) -> None:
    """`A-1501`."""
    assert is_label_value(text) == kubernetes_label_value(text)
