"""Single situations in numbers: each law of the semantics that the random clusters only meet by chance."""

from __future__ import annotations

from dataclasses import replace

from unpend.placement.replicas.search import explore, stuck
from unpend.placement.replicas.single import count_one
from unpend.placement.replicas.surge import together_with_old
from unpend.placement.replicas.together import count_all, groups, reachable
from unpend.placement.replicas.world import AffinityRow, AntiRow, Board, Budget, Kind, SpreadRow, World

STEPS = 5_000


def kind(
    nodes: int,
    limit: int,
    spreads: tuple[SpreadRow, ...] = (),
    affinity: AffinityRow | None = None,
    anti: tuple[AntiRow, ...] = (),
    requests: tuple[int, ...] = (1,),
) -> Kind:
    return Kind("k", limit, (True,) * nodes, requests, spreads, affinity, anti)


def world(*kinds: Kind, room: tuple[int, ...] = ()) -> World:
    nodes = len(kinds[0].accepts)
    free = tuple((r,) for r in room) if room else (None,) * nodes
    return World(tuple(f"n{i}" for i in range(nodes)), free, kinds)


def zones(*of: int, skew: int = 1, base: tuple[int, ...] = (), zero: bool = False) -> SpreadRow:
    return SpreadRow(of, base or (0,) * (max(of) + 1), skew, zero, 1, (0,))


def count(w: World) -> tuple[int, int, bool | None]:
    found = count_one(w, Budget(STEPS))
    return found.at_least, found.at_most, found.stuck


def test_a_full_zone_holds_the_minimum() -> None:
    assert count(world(kind(3, 9, (zones(0, 1, 2),)), room=(1, 9, 9))) == (5, 5, False)


def test_a_zone_that_takes_nothing_pins_the_level() -> None:
    closed = replace(kind(3, 9, (zones(0, 1, 2),)), accepts=(False, True, True))
    assert count(world(closed)) == (2, 2, False)


def test_too_few_domains_pin_the_minimum_at_zero() -> None:
    assert count(world(kind(2, 6, (zones(0, 1, skew=2, zero=True),)))) == (4, 4, False)


def test_anti_affinity_allows_one_in_each_domain_and_any_number_on_nodes_without_the_key() -> None:
    rows = (AntiRow((0, 0, 1), (0,)),)
    assert count(world(kind(3, 5, anti=rows))) == (2, 2, False)
    assert count(world(kind(3, 5, anti=(AntiRow((0, 0, -1), (0,)),)), room=(9, 9, 3))) == (4, 4, False)


def test_self_affinity_is_a_case_split_and_an_unlucky_first_domain_gets_stuck() -> None:
    row = AffinityRow(((0, 1),), (frozenset(),), (0,), True)
    assert count(world(kind(2, 3, affinity=row), room=(1, 3))) == (3, 3, True)
    assert count(world(kind(2, 4, affinity=row), room=(1, 3))) == (3, 3, False)


def test_affinity_to_nobody_never_starts() -> None:
    row = AffinityRow(((0, 1),), (frozenset(),), (), False)
    assert count(world(kind(2, 3, affinity=row))) == (0, 0, False)


def test_two_crossing_keys_on_a_full_grid_never_get_stuck_with_many_replicas() -> None:
    zone = zones(*(i // 3 for i in range(9)))
    capacity = zones(*(i % 3 for i in range(9)))
    w = world(kind(9, 200, (zone, capacity)))
    assert count(w) == (200, 200, False)
    budget = Budget(STEPS)
    assert stuck(w, budget) is False
    assert budget.states < 1_000


def test_crossing_keys_with_a_hole_can_get_stuck() -> None:
    # Zone 0 has both capacity types, zone 1 only the first.
    w = world(kind(3, 4, (zones(0, 0, 1), zones(0, 1, 0))))
    assert count(w) == (4, 4, True)


def test_exclusive_pods_and_host_ports() -> None:
    plain = kind(3, 5)
    assert count(world(replace(plain, exclusive=(0,)))) == (1, 1, False)
    assert count(world(replace(plain, apart=(0,)))) == (3, 3, False)


def test_a_peer_that_can_only_be_elsewhere_is_found_by_the_fixpoint() -> None:
    target = replace(kind(2, 1), accepts=(True, False))
    needs = replace(kind(2, 2, affinity=AffinityRow(((0, 1),), (frozenset(),), (0,), False)), accepts=(False, True))
    w = world(target, needs)
    assert reachable(w) == (frozenset({0}), frozenset())
    joint = count_all(w, STEPS)
    assert [c.at_most for c in joint.counts] == [1, 0]


def test_two_that_need_each_other_never_start() -> None:
    each = tuple(kind(2, 1, affinity=AffinityRow(((0, 1),), (frozenset(),), (other,), False)) for other in (1, 0))
    assert [c.at_most for c in count_all(world(*each), STEPS).counts] == [0, 0]


def test_workloads_that_fit_alone_but_not_together_contend() -> None:
    w = world(kind(2, 3), kind(2, 2), room=(2, 2))
    joint = count_all(w, STEPS)
    assert [(c.at_least, c.at_most) for c in joint.counts] == [(3, 3), (2, 2)]
    assert joint.contention == (frozenset({0, 1}),)


def test_a_bystander_is_not_part_of_a_contention() -> None:
    bystander = replace(kind(3, 1), accepts=(False, False, True))
    pair = [replace(kind(3, 2, anti=(AntiRow((0, 0, 0), (o,)),)), accepts=(True, True, False)) for o in (1, 0)]
    joint = count_all(world(pair[0], pair[1], bystander, room=(9, 9, 1)), STEPS)
    assert joint.contention == (frozenset({0, 1}),)


def test_nodes_with_enough_room_for_everything_tie_nothing_together() -> None:
    assert groups(world(kind(2, 3), kind(2, 2), room=(9, 9))) == (frozenset({0}), frozenset({1}))
    assert groups(world(kind(2, 3), kind(2, 2), room=(2, 9))) == (frozenset({0, 1}),)


def test_the_order_of_two_workloads_of_different_size() -> None:
    small = kind(2, 2)
    large = kind(2, 1, requests=(4,))
    joint = count_all(world(small, large, room=(4, 4)), STEPS)
    assert not joint.contention
    assert joint.counts[1].stuck is True


def test_a_rollout_with_its_own_revision_label_can_double_up() -> None:
    # One pod a node, counted per revision: old and new may share a node.
    def revision(me: int, limit: int) -> Kind:
        return kind(2, limit, anti=(AntiRow((0, 1), (me,)),))

    assert together_with_old(world(revision(0, 2), revision(1, 1)), Budget(STEPS)) == 3

    def blind(limit: int) -> Kind:
        return kind(2, limit, anti=(AntiRow((0, 1), (0, 1)),))

    assert together_with_old(world(blind(2), blind(1)), Budget(STEPS)) == 2


def test_a_search_that_runs_out_of_steps_says_so() -> None:
    w = world(kind(4, 6, (zones(0, 1, 2, 3, skew=3),)))
    assert not explore(w, Budget(3)).complete
    assert stuck(w, Budget(3)) is None


def test_a_board_forgets_what_is_taken_back() -> None:
    w = world(kind(3, 5, (zones(0, 1, 2),), anti=(AntiRow((0, 1, 2), (0,)),)), room=(1, 1, 1))
    board = Board(w)
    assert board.allows(0, 0)
    board.add(0, 0)
    assert not board.allows(0, 0)
    board.add(0, 0, -1)
    assert board.allows(0, 0)
    assert board.state == w.empty
