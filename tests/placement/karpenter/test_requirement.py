from __future__ import annotations

from itertools import product

import pytest

from unpend.algebra import values as true_values
from unpend.placement.karpenter.requirement import LARGEST, Entry, Requirement, requirement
from unpend.placement.karpenter.requirements import NONE_UNDEFINED, Requirements, edit_distance, hint, min_values_met

LABELS = ["", "a", "c", "2", "3", "4", "5", "007", "1_0", "8.0", str(2**63)]
KEY = "example.com/team"
WELL_KNOWN = frozenset({"topology.kubernetes.io/zone", "kubernetes.io/arch"})

WRITTEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "In[a]": ("In", ("a",)),
    "In[a,b]": ("In", ("a", "b")),
    "In[c]": ("In", ("c",)),
    'In["5"]': ("In", ("5",)),
    "NotIn[a]": ("NotIn", ("a",)),
    "Exists": ("Exists", ()),
    "DoesNotExist": ("DoesNotExist", ()),
    "Gt 3": ("Gt", ("3",)),
    "Lt 3": ("Lt", ("3",)),
}
COLUMNS = ["In[a]", "In[c]", "NotIn[a]", "Exists", "DoesNotExist", "Gt 3", "Lt 3"]
TABLE = {
    "undefined": "no no ok no ok no no",
    "In[a]": "ok no no ok no no no",
    "In[a,b]": "ok no ok ok no no no",
    'In["5"]': "no no ok ok no ok no",
    "NotIn[a]": "no ok ok ok ok ok ok",
    "Exists": "ok ok ok ok no ok ok",
    "DoesNotExist": "no no ok no ok no no",
    "Gt 3": "no no ok ok no ok no",
}
CELLS = [
    (row, column, word) for row, words in TABLE.items() for column, word in zip(COLUMNS, words.split(), strict=True)
]


def on(key: str, written: str, min_values: int | None = None) -> Requirement:
    operator, values = WRITTEN[written]
    return requirement(key, operator, values, min_values)


def side(key: str, written: str) -> Requirements:
    return Requirements() if written == "undefined" else Requirements.of([on(key, written)])


@pytest.mark.parametrize(("row", "column", "word"), CELLS)
def test_the_table_of_what_goes_together(row: str, column: str, word: str) -> None:
    """`karpenter.md` §2.5."""
    asked = side(KEY, column)
    assert side(KEY, row).is_compatible(asked, WELL_KNOWN) == (word == "ok")
    if row != "undefined":
        zone = "topology.kubernetes.io/zone"
        assert side(zone, row).is_compatible(side(zone, column), WELL_KNOWN) == (word == "ok")


@pytest.mark.parametrize("column", COLUMNS)
def test_a_pool_need_not_define_a_well_known_key_but_a_node_must(column: str) -> None:
    asked = side("kubernetes.io/arch", column)
    assert Requirements().is_compatible(asked, WELL_KNOWN)
    assert Requirements().is_compatible(asked, NONE_UNDEFINED) == (column in ("NotIn[a]", "DoesNotExist"))


def test_one_requirement_admits_the_values_that_kubernetes_does() -> None:
    for operator, values in [*WRITTEN.values(), ("Gte", ("3",)), ("Lte", ("3",)), ("Lt", ("0",)), ("Gt", ("007",))]:
        mine = requirement(KEY, operator, values)
        truth = true_values.from_expression(operator, values)
        assert [mine.has(v) for v in LABELS] == [truth.admits(v) for v in LABELS], (operator, values)


def test_intersection_admits_what_both_admit() -> None:
    some = [on(KEY, w) for w in WRITTEN] + [requirement(KEY, "Gte", ("4",)), requirement(KEY, "NotIn", ("4", "007"))]
    for x, y, z in product(some, repeat=3):
        both = x.intersection(y)
        assert [both.has(v) for v in LABELS] == [x.has(v) and y.has(v) for v in LABELS]
        assert both == y.intersection(x)
        assert [both.intersection(z).has(v) for v in LABELS] == [
            x.intersection(y.intersection(z)).has(v) for v in LABELS
        ]


def test_overlap_is_never_too_strict() -> None:
    """What Karpenter refuses, no value satisfies; the reverse does not hold (`R-3`)."""
    some = [on(KEY, w) for w in WRITTEN]
    for x, y in product(some, repeat=2):
        if any(x.has(v) and y.has(v) for v in LABELS):
            assert x.overlaps(y)
    between = requirement(KEY, "Gt", ("3",)).intersection(requirement(KEY, "Lt", ("5",)))
    assert between.overlaps(requirement(KEY, "NotIn", ("4",)))


def test_a_contradiction_is_does_not_exist() -> None:
    both = on(KEY, "In[a]", 2).intersection(on(KEY, "In[c]"))
    assert both.operator == "DoesNotExist"
    assert both.min_values == 2
    assert Requirements.of([both]).is_compatible(side(KEY, "DoesNotExist"), NONE_UNDEFINED)


def test_above_the_largest_integer_is_does_not_exist_without_min_values() -> None:
    assert requirement(KEY, "Gt", (str(LARGEST),), 2) == requirement(KEY, "DoesNotExist")


def test_writing_back_loses_excluded_values_beside_a_bound() -> None:
    """`R-4`."""
    both = requirement("cpu", "Gt", ("3",)).intersection(requirement("cpu", "NotIn", ("96",)))
    assert not both.has("96")
    assert both.entries() == (Entry("cpu", "Gte", ("4",)),)


def test_older_keys_are_read_as_the_stable_one() -> None:
    """`karpenter.md` §2.3."""
    both = Requirements.of_labels({"beta.kubernetes.io/arch": "amd64", "kubernetes.io/arch": "arm64"})
    assert [r.operator for r in both] == ["DoesNotExist"]
    assert "kubernetes.io/arch" in both


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (requirement("k", "In", ("a", "b")), true_values.one_of(["a", "b"])),
        (requirement("k", "DoesNotExist"), true_values.absent()),
        (requirement("k", "NotIn", ("a",)), true_values.at_least(0)),
        (requirement("k", "Gt", ("3",)), true_values.at_least(4)),
        (requirement("k", "Gt", (str(LARGEST),)), true_values.absent()),
    ],
)
def test_what_label_a_new_node_gets(written: Requirement, expected: true_values.ValueSet) -> None:
    """`karpenter.md` §2.7."""
    assert written.launched() == expected


def test_a_refusal_names_the_key_and_both_sides() -> None:
    pool = Requirements.of_labels({"team": "a"})
    clash = pool.incompatibility(Requirements.of_labels({"team": "b"}), WELL_KNOWN)
    assert str(clash) == "key team, In [b] not in In [a]"
    clash = pool.incompatibility(Requirements.of_labels({"zone": "b"}), WELL_KNOWN)
    assert str(clash) == 'label "zone" does not have known values (typo of "topology.kubernetes.io/zone"?)'
    clash = pool.incompatibility(Requirements.of_labels({"unrelated": "b"}), WELL_KNOWN)
    assert str(clash) == 'label "unrelated" does not have known values'


def test_hints() -> None:
    aws = ["topology.k8s.aws/zone-id", "topology.kubernetes.io/zone"]
    assert hint("zone", aws) == "topology.kubernetes.io/zone"
    assert hint("example.com/tam", [], ["example.com/team"]) == "example.com/team"
    assert hint("x", []) is None
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("", "abc") == 3


def test_min_values_count_what_types_carry() -> None:
    wanted = Requirements.of([requirement("karpenter.sh/capacity-type", "In", ("spot",), 2)])
    met = min_values_met(wanted, [{"karpenter.sh/capacity-type": ("spot", "on-demand")}])
    assert met.is_met
    assert met.needed == 1
    custom = Requirements.of([requirement("team", "Exists", (), 1)])
    assert min_values_met(custom, [{}, {}]).short == {"team": 0}
