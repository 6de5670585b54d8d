"""The index answers what a walk over the types answers."""

from functools import lru_cache

from hypothesis import given, settings
from hypothesis import strategies as st

from unpend.algebra.values import ValueSet, absent, anything, at_least, at_most, exists, impossible, none_of, one_of
from unpend.catalog.allocatable import allocatable
from unpend.catalog.aws import LABELS, AwsCatalog, aws_catalog
from unpend.catalog.catalog import Zone
from unpend.catalog.index import Resources, Shapes, bits
from unpend.catalog.profile import NodeProfile
from unpend.model.node_labels import CAPACITY_TYPE, OS, ZONE

KEYS = (*LABELS, OS, ZONE, CAPACITY_TYPE, "team")


@lru_cache(maxsize=1)
def small() -> Shapes:
    """Every twentieth type of the real catalogue."""
    data = aws_catalog()._data
    picked = range(0, len(data["names"]), 20)
    names = [data["names"][n] for n in picked]
    cut = dict(data) | {"names": names, "columns": {k: [c[n] for n in picked] for k, c in data["columns"].items()}}
    mask = {
        zone: f"{sum(1 << new for new, old in enumerate(picked) if int(text, 16) >> old & 1):x}"
        for zone, text in data["offerings"]["us-east-1"].items()
    }
    cut |= {"offerings": {"us-east-1": mask}}
    cut |= {
        "prices": {"date": "", "regions": {"us-east-1": [data["prices"]["regions"]["us-east-1"][n] for n in picked]}}
    }
    zones = [Zone("us-east-1a", "use1-az1"), Zone("us-east-1e", "use1-az3")]
    return AwsCatalog(cut).shapes(region="us-east-1", zones=zones)


def some_values(key: str) -> list[str]:
    return [*sorted(small().values(key))[:6], "nothing"]


@st.composite
def questions(draw: st.DrawFn) -> tuple[str, ValueSet]:
    key = draw(st.sampled_from(KEYS))
    names = draw(st.lists(st.sampled_from(some_values(key)), max_size=3))
    number = draw(st.sampled_from([0, 2, 5, 96, 8192]))
    fixed = [absent(), anything(), exists(), impossible(), at_least(number), at_most(number)]
    return key, draw(st.sampled_from([*fixed, one_of(names), none_of(names)]))


@given(questions())
@settings(max_examples=150, deadline=None)
def test_labels(question: tuple[str, ValueSet]) -> None:
    key, allowed = question
    shapes = small()
    may = must = 0
    for number in range(len(shapes.names)):
        values: tuple[str | None, ...] = shapes.type(number).labels.get(key) or (None,)
        may |= any(map(allowed.admits, values)) << number
        must |= all(map(allowed.admits, values)) << number
    assert shapes.may(key, allowed) == may
    assert shapes.must(key, allowed) == must
    assert shapes.absent(key) == sum(1 << n for n in range(len(shapes.names)) if not shapes.type(n).labels.get(key))


AMOUNTS = st.integers(-5, 5)
COLUMNS = st.lists(st.tuples(AMOUNTS, AMOUNTS).map(sorted), min_size=6, max_size=6)


@given(
    st.dictionaries(st.sampled_from(["cpu", "memory", "gpu"]), COLUMNS),
    st.dictionaries(st.sampled_from(["cpu", "memory", "gpu", "other"]), st.integers(0, 5)),
    st.lists(st.tuples(st.integers(0, 63), st.dictionaries(st.sampled_from(["cpu", "new"]), st.integers(0, 3)))),
)
@settings(max_examples=150, deadline=None)
def test_resources(
    table: dict[str, list[list[int]]], requests: dict[str, int], taken: list[tuple[int, dict[str, int]]]
) -> None:
    index = Resources({name: ([c[0] for c in rows], [c[1] for c in rows]) for name, rows in table.items()}, 6)
    before = index.takes(requests)
    left = index.without(taken)
    sure = possible = 0
    for number in range(6):
        lows = {name: rows[number][0] for name, rows in table.items()}
        highs = {name: rows[number][1] for name, rows in table.items()}
        for mask, amounts in taken:
            for name, amount in amounts.items():
                if mask >> number & 1:
                    lows[name] = lows.get(name, 0) - amount
                    highs[name] = highs.get(name, 0) - amount

        def fits(have: dict[str, int]) -> bool:
            return all(v >= 0 for v in have.values()) and all(have.get(n, 0) >= v for n, v in requests.items())

        sure |= fits(lows) << number
        possible |= fits(highs) << number
    answer = left.takes(requests)
    assert (answer.sure, answer.possible) == (sure if answer.possible else 0, possible)
    assert answer.possible & ~before.possible == 0


def test_columns_are_the_amounts_of_the_types() -> None:
    catalog = aws_catalog()
    for profile in (NodeProfile(), NodeProfile(ami_family="Bottlerocket", raid0=True, max_pods=50)):
        resources = catalog.resources(profile)
        for number in range(0, len(catalog.names), 7):
            amounts = allocatable(catalog.hardware(number), profile)
            for name in resources.names:
                assert resources.amount(name, number) == amounts.get(name, (0, 0))


def test_largest() -> None:
    index = Resources({"cpu": ([1, 5, 3], [1, 6, 9])}, 3)
    assert index.largest("cpu", 0b101) == (3, 9)
    assert index.largest("cpu", 0) == (0, 0)
    assert index.largest("gpu", 0b111) == (0, 0)
    assert list(bits(index.fits("cpu", 4).possible)) == [1, 2]
    assert index.fits("gpu", 0).sure == 0b111
    assert index.fits("gpu", 1).possible == 0


def test_answers_are_kept() -> None:
    shapes = aws_catalog().shapes(region="us-east-1", zones=[Zone("us-east-1a")])
    assert aws_catalog().shapes(region="us-east-1", zones=(Zone("us-east-1a"),)) is shapes
    assert shapes.type(3) is shapes.type(3)
