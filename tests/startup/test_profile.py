from __future__ import annotations

from typing import Any

import pytest

from unpend.startup.levers import trade_offs
from unpend.startup.profile import BUILTIN, ProfileError, builtin, builtin_data, problems_of, profile_of
from unpend.startup.stages import STAGES, Interval


@pytest.mark.parametrize("name", BUILTIN)
def test_shipped_profiles_follow_the_schema(name: str) -> None:
    data = builtin_data(name)
    assert problems_of(data) == ()
    assert data["name"] == name == builtin(name).name
    for group in ("stages", "runtimes", "levers", "image"):
        for entry in data.get(group, {}).values():
            assert entry["source"]
            assert entry["date"]
            assert entry["condition"]
    families = set(builtin(name).runtimes)
    assert set(builtin(name).handlers.values()) <= families


def test_fixed_nodes_are_not_made() -> None:
    assert [name for name in BUILTIN if not builtin(name).new_nodes] == ["fixed-nodes"]


def test_a_file_says_only_what_differs() -> None:
    own = profile_of(
        {"name": "own", "extends": "eks-karpenter", "stages": {"boot": {"best": 1, "typical": 2, "worst": 3}}}
    )
    assert own.figure("boot").interval == Interval(1, 2, 3)
    assert own.figure("decision") == builtin("eks-karpenter").figure("decision")
    assert profile_of({"name": "own"}, builtin("generic")).figure("boot") == builtin("generic").figure("boot")
    assert own.figure("none").interval == Interval(0, 0, 0)


def test_a_bandwidth_of_ones_own_beats_an_inherited_pull() -> None:
    rate = {"best": 3, "typical": 2, "worst": 1}
    measured = profile_of(
        {"name": "a", "stages": {"image-pull": {"best": 1, "typical": 1, "worst": 1}}}, builtin("generic")
    )
    assert "image-pull" not in profile_of({"name": "b", "image": {"bandwidth": rate}}, measured).stages
    assert "image-pull" in profile_of({"name": "b"}, measured).stages


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({}, ""),
        ({"name": "x", "stage": {}}, ""),
        ({"name": "x", "stages": {"boots": {"best": 1, "typical": 1, "worst": 1}}}, "stages"),
        ({"name": "x", "stages": {"boot": {"best": 3, "typical": 1, "worst": 1}}}, "stages.boot"),
        ({"name": "x", "stages": {"boot": {"best": 1}}}, "stages.boot"),
        ({"name": "x", "image": {"bandwidth": {"best": 1, "typical": 2, "worst": 3}}}, "image.bandwidth"),
        ({"name": "x", "extends": "y"}, "extends"),
        ([], ""),
    ],
)
def test_what_is_wrong_with_a_profile_is_told(data: Any, path: str) -> None:
    assert path in [where for where, _ in problems_of(data)]


@pytest.mark.parametrize(
    "data",
    [
        {"stages": {"boot": {"best": 1}}},
        {"stages": {"boot": {"best": 3, "typical": 1, "worst": 1}}},
        {"image": {"bandwidth": {"best": 1, "typical": 2, "worst": 3}}},
        {"stages": [1]},
    ],
)
def test_a_broken_profile_is_refused(data: Any) -> None:
    with pytest.raises(ProfileError):
        profile_of({"name": "x", **data}, builtin("generic"))


def test_the_longest_pattern_of_a_handler_counts() -> None:
    generic = builtin("generic")
    assert generic.family("kata-fc") == "firecracker"
    assert generic.family("kata-clh") == "kata"
    assert generic.family("own") is None
    assert generic.runtime(None).interval == generic.runtimes["unknown"].interval


def test_trade_offs_have_a_source_and_a_condition() -> None:
    for facts in trade_offs().values():
        assert all(one.fact and one.source and one.condition for one in facts)


def test_every_stage_has_words() -> None:
    assert all(title and len(title) <= 22 for title in STAGES.values())
