"""Indexes over shapes: partly unknown labels and amounts give a sure and a possible answer."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.algebra.values import ValueSet, absent, anything, at_least, exists, none_of, one_of
from unpend.placement.space import AmountIndex, LabelIndex, Masks

VALUES = ("a", "b", "7", "12")
SETS = [anything(), absent(), exists(), at_least(8), *(f(v) for f in (one_of, none_of) for v in (["a"], ["a", "7"]))]


def test_a_label_that_may_have_several_values() -> None:
    index = LabelIndex([{"zone": one_of(["a", "b"])}, {"zone": "a"}, {}])
    assert index.ask("zone", one_of(["a"])) == Masks(0b010, 0b011)
    assert index.ask("zone", one_of(["a", "b", "c"])) == Masks(0b011, 0b011)
    assert index.ask("zone", none_of(["a"])) == Masks(0b100, 0b101)
    assert index.ask("zone", absent()) == Masks(0b100, 0b100)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.sampled_from(VALUES), st.sampled_from(SETS)), min_size=1, max_size=6),
    st.sampled_from(SETS),
)
def test_the_index_agrees_with_asking_each_shape(known: list[str | ValueSet | None], wanted: ValueSet) -> None:
    index = LabelIndex([{} if value is None else {"key": value} for value in known])
    found = index.ask("key", wanted)
    for number, value in enumerate(known):
        relation = (value if isinstance(value, ValueSet) else absent() if value is None else one_of([value])).relation(
            wanted
        )
        assert bool(found.possible >> number & 1) is (relation != "never")
        assert bool(found.sure >> number & 1) is (relation == "surely")


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-3, 9), max_size=8), st.integers(1, 9), st.integers(0, 255))
def test_amounts(amounts: list[int], wanted: int, mask: int) -> None:
    index = AmountIndex((amount, 1 << number) for number, amount in enumerate(amounts))
    found = index.at_least(wanted)
    assert found == sum(1 << number for number, amount in enumerate(amounts) if amount >= wanted)
    inside = [(amount, -number) for number, amount in enumerate(amounts) if mask >> number & 1 and amount > 0]
    assert index.richest(mask) == (-max(inside)[1] if inside else None)
